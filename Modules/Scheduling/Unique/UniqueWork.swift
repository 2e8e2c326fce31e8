internal import OperationCore

/// Runs of the same identifier, of which one runs at a time. The scheduling lock guards them.
struct UniqueWork: Sendable {
  let lane: CategoryLane
  let policy: UniqueWorkPolicy
  let name: String

  /// The runs of all identifiers in use.
  private struct Queues {
    /// The runs by the slots of their lanes.
    var bySlot: [Int: TicketQueue<UniqueMember>] = [:]
    var lastTicket: UInt64 = 0
  }

  // Unsafe because the compiler does not see that the scheduling lock guards it.
  private nonisolated(unsafe) static var queues = Queues()

  /// The error of a run that is skipped because of an earlier one.
  var skipped: OperationSkipped { OperationSkipped(reason: "the unique work \(self.name), which is under way") }

  /// The number of identifiers in use.
  static var count: Int { SchedulingLock.withLock { self.queues.bySlot.count } }
}

/// A run of unique work, from when it is scheduled or begins until it ends.
final class UniqueMember: Sendable {
  struct State {
    var isWaiting = false
    var isCancelled = false
    /// The wait of a run outside of a scheduler, which ends with its turn or its cancellation.
    var waiter = Waiter<Void>.arriving
    /// The work of a run outside of a scheduler.
    var task: (any CancellableTask)?
  }

  let lane: CategoryLane
  let ticket: UInt64
  /// The name of the work.
  let name: String
  /// The operation, if it is a scheduled one.
  let node: ScheduledNode?
  /// The run, if the operation is not a scheduled one.
  let scope: RunScope?
  // Unsafe because the compiler does not see that the scheduling lock guards it.
  nonisolated(unsafe) var state = State()

  fileprivate init(_ work: UniqueWork, ticket: UInt64, node: ScheduledNode?, scope: RunScope?) {
    self.lane = work.lane
    self.name = work.name
    self.ticket = ticket
    self.node = node
    self.scope = scope
  }
}

/// A task of any type.
protocol CancellableTask: Sendable {
  func cancel()
}

extension Task: CancellableTask {}

// MARK: - Joining and leaving

extension UniqueWork {
  /// Adds a scheduled operation, or marks it as skipped.
  static func join(_ node: ScheduledNode, _ work: UniqueWork) {
    let skipped = work.skipped
    SchedulingLock.perform { actions in
      guard let member = self.join(work, node: node, &actions) else {
        node.state.earlyOutcome = .cancelled(skipped)
        return
      }
      node.state.unique = member
      if member.state.isWaiting { node.state.unmetCount += 1 }
    }
  }

  /// Adds a run. Returns nil if it is skipped. Called under the lock.
  static func join(
    _ work: UniqueWork,
    node: ScheduledNode? = nil,
    scope: RunScope? = nil,
    _ actions: inout SchedulingActions
  ) -> UniqueMember? {
    let slot = work.lane.slot
    if work.policy == .keep, self.queues.bySlot[slot]?.isEmpty == false { return nil }
    let replaced = work.policy == .replace ? self.queues.bySlot[slot]?.all ?? [] : []
    self.queues.lastTicket += 1
    let member = UniqueMember(work, ticket: self.queues.lastTicket, node: node, scope: scope)
    self.queues.bySlot[slot, default: TicketQueue()].append(member, ticket: member.ticket)
    for other in replaced { self.cancel(other, &actions) }
    member.state.isWaiting = self.queues.bySlot[slot]?.firstTicket != member.ticket
    if !member.state.isWaiting { member.state.waiter = .decided(()) }
    return member
  }

  /// Removes a run that has ended, and lets the next one begin. Called under the lock.
  static func leave(_ member: UniqueMember, _ actions: inout SchedulingActions) {
    let slot = member.lane.slot
    guard self.queues.bySlot[slot]?.remove(member.ticket) != nil else { return }
    guard let next = self.queues.bySlot[slot]?.first else {
      self.queues.bySlot[slot] = nil
      return
    }
    guard next.state.isWaiting else { return }
    next.state.isWaiting = false
    if let node = next.node { node.core.meet(node, &actions) }
    if let resumption = next.state.waiter.decide(()) { actions.resume(resumption) }
  }

  private static func cancel(_ member: UniqueMember, _ actions: inout SchedulingActions) {
    if let node = member.node { return node.cancel(&actions) }
    guard !member.state.isCancelled else { return }
    member.state.isCancelled = true
    if let task = member.state.task { actions.taskCancellations.append(task) }
    if let resumption = member.state.waiter.decide(()) { actions.resume(resumption) }
  }
}

extension UniqueMember {
  /// The run that comes before this one. Called under the lock.
  var previous: UniqueMember? { UniqueWork.previous(self) }

  /// Whether a run comes after this one. Called under the lock.
  var isAwaited: Bool { UniqueWork.last(self.lane.slot).map { $0 !== self } ?? false }
}

extension UniqueWork {
  /// Whether a run of the identifier with a slot waits. Called under the lock.
  static func isAwaited(_ slot: Int) -> Bool { self.last(slot)?.state.isWaiting ?? false }

  fileprivate static func last(_ slot: Int) -> UniqueMember? { self.queues.bySlot[slot]?.last(before: .max) }

  fileprivate static func previous(_ member: UniqueMember) -> UniqueMember? {
    self.queues.bySlot[member.lane.slot]?.last(before: member.ticket)
  }
}
