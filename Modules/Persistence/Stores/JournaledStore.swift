internal import OperationCore
internal import OperationFoundation
internal import OperationMutation

/// A store that shows the calls of a journal in its state.
protocol JournalShowing: AnyObject, Sendable {
  /// The names whose calls the store shows.
  var names: Set<String> { get }

  /// Shows the calls of a journal, if the store still belongs to it.
  func show(_ calls: ShownCalls, of journal: MutationJournal)
}

/// The calls of some names, at one time.
struct ShownCalls: Sendable {
  /// The calls of each name that the journal has.
  var pending: [ChunkedMap<JournalState.Position, ShownCall>] = []
  /// The first calls of the scopes that are blocked.
  var blocked: [String: BlockingCall] = [:]
  /// Until when other processes have leases, unless they renew them.
  var leases: [JournalLeaseKey: Date] = [:]
  /// The calls that have ended since the last time.
  var ended: [EndedCall] = []
  /// Whether the store begins with these.
  var isAnew = false
}

/// A call that has ended, and is not stored any more.
struct EndedCall: Sendable {
  let position: JournalState.Position
  let call: ShownCall
  let ending: JournalEnding
}

/// How a call has ended.
enum JournalEnding: Sendable {
  /// With a value; nil if it is not known.
  case succeeded((any Sendable)?)
  case failed(any Error)
}

/// Shows the calls of a journal in the state of one store of a mutation.
final class JournaledStore<Mutation: MutationRequest>: JournalShowing where Mutation.Arguments: Codable {
  private typealias Call = Mutation.State.JournaledCall

  let names: Set<String>
  private let stored: StoredArguments<Mutation.Arguments>
  private let controls: OperationControls<Mutation.State>
  private let source = Locked(Source())

  private struct Source: Sendable {
    weak var journal: MutationJournal?
  }

  init(
    names: Set<String>,
    stored: StoredArguments<Mutation.Arguments>,
    controls: OperationControls<Mutation.State>
  ) {
    self.names = names
    self.stored = stored
    self.controls = controls
  }

  /// Shows the calls of a journal from now on, and no longer the calls of an earlier journal.
  func attach(to journal: MutationJournal) {
    let earlier = self.source.withLock { source in
      defer { source.journal = journal }
      return source.journal
    }
    if let earlier, earlier !== journal { earlier.remove(self) }
    journal.add(self)
  }

  /// Shows nothing any more: the store was released.
  func detach() {
    let journal = self.source.withLock { source in
      defer { source.journal = nil }
      return source.journal
    }
    journal?.remove(self)
  }

  func show(_ calls: ShownCalls, of journal: MutationJournal) {
    guard self.source.withLock({ $0.journal === journal }) else { return }
    let stored = self.stored
    let pending: @Sendable () -> [Call] = {
      let shown = calls.pending.flatMap { map in
        map.compactMap { element in
          Self.call(
            element.value,
            at: element.key,
            blockedBy: calls.blocked.call(before: element),
            leaseEndsAt: calls.leases.end(for: element.value),
            stored
          )
        }
      }
      return calls.pending.count > 1 ? shown.sorted { $0.order < $1.order } : shown
    }
    let ended = calls.ended.compactMap { Self.call($0, stored) }
    let (isAnew, limit) = (calls.isAnew, self.controls.context.mutationHistoryLength)
    self.controls.editState { state in
      state.showJournaledCalls(pending, ended: ended, isAnew: isAnew, limit: limit)
    }
  }

  private static func call(
    _ call: ShownCall,
    at position: JournalState.Position,
    blockedBy blocking: BlockingCall?,
    leaseEndsAt: Date?,
    _ stored: StoredArguments<Mutation.Arguments>
  ) -> Call? {
    guard let status = call.status(isBlocked: blocking != nil).ofCall else { return nil }
    let blocking = status == .blocked ? blocking?.id : nil
    return self.call(call, at: position, status, blockedBy: blocking, leaseEndsAt: leaseEndsAt, result: nil, stored)
  }

  private static func call(_ ended: EndedCall, _ stored: StoredArguments<Mutation.Arguments>) -> Call? {
    switch ended.ending {
    case .succeeded(let value):
      let result = (value as? Mutation.MutateValue).map { Result<_, Mutation.MutateFailure>.success($0) }
      return self.call(ended.call, at: ended.position, .succeeded, result: result, stored)
    case .failed(let error):
      let result = (error as? Mutation.MutateFailure).map { Result<Mutation.MutateValue, _>.failure($0) }
      return self.call(ended.call, at: ended.position, .failed, failure: ShownText.whole(error), result: result, stored)
    }
  }

  private static func call(
    _ call: ShownCall,
    at position: JournalState.Position,
    _ status: JournaledCallStatus,
    blockedBy blocking: String? = nil,
    leaseEndsAt: Date? = nil,
    failure: String? = nil,
    result: Result<Mutation.MutateValue, Mutation.MutateFailure>?,
    _ stored: StoredArguments<Mutation.Arguments>
  ) -> Call? {
    guard let record = call.record else { return nil }
    return Call(
      id: call.id,
      status: status,
      acceptedAt: Date(timeIntervalSinceReferenceDate: record.acceptedAt),
      attempts: record.attempts,
      lastFailure: failure ?? call.lastFailure,
      blockedBy: blocking,
      leaseEndsAt: leaseEndsAt,
      result: result,
      order: position
    ) { try? stored.decode(record) }
  }
}

extension JournalEntry.Status {
  /// The status for a store of the mutation; nil for an entry that cannot be read.
  fileprivate var ofCall: JournaledCallStatus? {
    switch self {
    case .waiting: .waiting
    case .blocked: .blocked
    case .running: .running
    case .deadLetter: .deadLetter
    case .expired: .expired
    case .conflicted: .conflicted
    case .scheduled: .scheduled
    case .unreadable: nil
    }
  }
}
