internal import OperationCore
internal import OperationFoundation
internal import OperationMutation

/// The entries of a ``MutationJournal`` at one time, in the order in which they were accepted.
///
/// Two collections share the entries that are equal in both, and an entry is made when it is read. So a change costs
/// observers the same whether there are many entries or few.
public struct JournalEntries: RandomAccessCollection, Sendable {
  private var calls = ChunkedMap<JournalState.Position, ShownCall>()
  /// The first call of each blocked scope.
  var blocked: [String: BlockingCall] = [:]
  /// Until when other processes have leases, unless they renew them.
  var leases: [JournalLeaseKey: Date] = [:]

  init() {}

  public var startIndex: Int { 0 }
  public var endIndex: Int { self.calls.count }

  /// The entry at an index.
  ///
  /// - Complexity: O(*n* / 64); iterating takes constant time for each entry.
  public subscript(index: Int) -> JournalEntry { self.entry(self.calls.element(at: index)) }

  /// Iterates over the entries.
  public func makeIterator() -> AnyIterator<JournalEntry> {
    var iterator = self.calls.makeIterator()
    return AnyIterator { iterator.next().map(self.entry) }
  }

  private func entry(_ element: ChunkedMap<JournalState.Position, ShownCall>.Element) -> JournalEntry {
    JournalEntry(
      element.value,
      blockedBy: self.blocked.call(before: element),
      leaseEndsAt: self.leases.end(for: element.value)
    )
  }

  /// Notes until when another process has a lease. Returns whether that looks different.
  mutating func noteLease(of leaseKey: JournalLeaseKey, until end: Date) -> Bool {
    // Whoever asks again and again gets nearly the same end.
    if let known = self.leases[leaseKey], abs(known.timeIntervalSince(end)) < 0.25 { return false }
    self.leases[leaseKey] = end
    return true
  }

  /// Shows a call, or removes it. Returns whether the entries have changed.
  mutating func set(_ call: ShownCall?, at position: JournalState.Position) -> Bool {
    guard let call else { return self.calls.removeValue(for: position) != nil }
    self.calls.insert(call, for: position)
    return true
  }
}

/// The first call of a scope, which the others of the scope wait for.
struct BlockingCall: Hashable, Sendable {
  let position: JournalState.Position
  let id: JournalEntry.ID
}

extension [String: BlockingCall] {
  /// The call that another one waits for; nil if it waits for none.
  func call(before element: ChunkedMap<JournalState.Position, ShownCall>.Element) -> BlockingCall? {
    guard !self.isEmpty, let scope = element.value.record?.scope, let first = self[scope], first.position != element.key
    else { return nil }
    return first
  }
}

extension [JournalLeaseKey: Date] {
  /// Until when the lease of another process keeps a call waiting, unless it renews it; nil if none does.
  func end(for call: ShownCall) -> Date? {
    guard !self.isEmpty, !call.isRunning, let record = call.record, !record.isDeadLetter else { return nil }
    return self[.ofWait(isElsewhere: call.isElsewhere, scope: record.scope, owner: record.owner)]
  }
}

/// The part of a call that its entry shows. It is a class, so that collections of entries are copied fast.
final class ShownCall: Sendable {
  let id: String
  let record: JournalRecord?
  let isRunning: Bool
  /// Whether another process, which lives, makes it.
  let isElsewhere: Bool
  let lastFailure: String?
  /// What a schedule waits for; nil for a call.
  let wait: JournalSchedule.Wait?

  init(_ item: JournalState.Item) {
    self.id = item.id
    self.record = item.record
    self.isRunning = item.activity.isRunning
    self.isElsewhere = item.isElsewhere
    self.lastFailure = item.lastFailure
    self.wait = nil
  }

  /// The next call of a schedule.
  init(_ schedule: ScheduleTable.Schedule) {
    let record = schedule.record
    self.id = record.id
    self.record = JournalRecord(
      id: record.id,
      name: record.call,
      scope: record.scope,
      acceptedAt: record.scheduledAt,
      attempts: 0,
      isDeadLetter: false,
      arguments: record.arguments,
      argumentBytes: record.argumentBytes,
      version: record.version,
      schedule: record.name,
      dueAt: record.time(of: record.next)
    )
    self.isRunning = false
    self.isElsewhere = false
    self.lastFailure = nil
    self.wait = schedule.wait
  }
}

extension ShownCall {
  func status(isBlocked: Bool) -> JournalEntry.Status {
    if self.wait != nil { return .scheduled }
    return switch self.record {
    case nil: .unreadable
    case let record? where record.isDeadLetter:
      switch record.status {
      case .expired: .expired
      case .conflicted: .conflicted
      case nil: .deadLetter
      }
    case .some where self.isRunning: .running
    case .some: isBlocked ? .blocked : .waiting
    }
  }

  /// Whether the entries of both calls look the same.
  func looksLike(_ other: ShownCall?) -> Bool {
    guard let other, self.status(isBlocked: false) == other.status(isBlocked: false) else { return false }
    return self.record?.attempts == other.record?.attempts && self.record?.dueAt == other.record?.dueAt
      && self.lastFailure == other.lastFailure && self.isElsewhere == other.isElsewhere
      && self.id == other.id && self.record?.storedArguments == other.record?.storedArguments
      && self.record?.current == other.record?.current && self.record?.currentBytes == other.record?.currentBytes
  }
}

extension JournalEntry {
  init(_ call: ShownCall, blockedBy blocking: BlockingCall?, leaseEndsAt: Date?) {
    let record = call.record
    let status = call.status(isBlocked: blocking != nil)
    self.init(
      id: call.id,
      name: record?.name ?? "",
      scope: record?.scope.map { StorageKey.readablePath($0) },
      shownScope: record?.scope.map { StorageKey.readablePath($0, withoutSecrets: true) },
      acceptedAt: record.map { Date(timeIntervalSinceReferenceDate: $0.acceptedAt) },
      attempts: record?.attempts ?? 0,
      status: status,
      arguments: record.map(\.storedArguments.bytes) ?? [],
      lastFailure: call.lastFailure,
      blockedBy: status == .blocked ? blocking?.id : nil,
      leaseEndsAt: leaseEndsAt,
      schedule: record?.schedule,
      dueAt: record?.dueAt.map { Date(timeIntervalSinceReferenceDate: $0) }
    )
  }
}
