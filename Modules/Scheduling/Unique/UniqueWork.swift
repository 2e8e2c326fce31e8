internal import OperationCore

/// Runs of the same identifier, of which one runs at a time. The scheduling lock guards them.
struct UniqueWork: Sendable {
  let lane: CategoryLane
  let policy: UniqueWorkPolicy
  let name: String

  // Unsafe because the compiler does not see that the scheduling lock guards it.
  private nonisolated(unsafe) static var queues: [Int: TicketQueue<UniqueMember>] = [:]
  // Unsafe because the compiler does not see that the scheduling lock guards it.
  private nonisolated(unsafe) static var lastTicket: UInt64 = 0

  /// The error of a run that an earlier one keeps from running.
  var skipped: OperationSkipped { OperationSkipped(reason: "the unique work \(self.name), which is under way") }

  /// The number of identifiers in use.
  static var count: Int { SchedulingLock.withLock { self.queues.count } }
}

/// A run of unique work, from when it is scheduled or begins until it ends.
final class UniqueMember: Sendable {
  let lane: CategoryLane
  let ticket: UInt64
  /// The operation, if it is a scheduled one.
  let node: ScheduledNode?
  // Unsafe because the compiler does not see that the scheduling lock guards it.
  nonisolated(unsafe) var isWaiting = false
  // Unsafe because the compiler does not see that the scheduling lock guards it.
  nonisolated(unsafe) var isCancelled = false
  /// The wait of a run that no scheduler knows.
  // Unsafe because the compiler does not see that the scheduling lock guards it.
  nonisolated(unsafe) var continuation: UnsafeContinuation<Void, Never>?
  /// The work of a run that no scheduler knows.
  // Unsafe because the compiler does not see that the scheduling lock guards it.
  nonisolated(unsafe) var task: (any CancellableTask)?

  fileprivate init(lane: CategoryLane, ticket: UInt64, node: ScheduledNode?) {
    self.lane = lane
    self.ticket = ticket
    self.node = node
  }
}

/// A task of any type.
protocol CancellableTask: Sendable {
  func cancel()
}

extension Task: CancellableTask {}

// MARK: - Joining and leaving

extension UniqueWork {
  /// Adds a scheduled operation, or notes that it is skipped.
  static func join(_ node: ScheduledNode, _ work: UniqueWork) {
    let skipped = work.skipped
    SchedulingLock.perform { actions in
      guard let member = self.join(work, node, &actions) else {
        node.state.earlyOutcome = .cancelled(skipped)
        return
      }
      node.state.unique = member
      if member.isWaiting { node.state.unmetCount += 1 }
    }
  }

  /// Adds a run. Returns nil if it is skipped. Called under the lock.
  static func join(_ work: UniqueWork, _ node: ScheduledNode?, _ actions: inout SchedulingActions) -> UniqueMember? {
    let slot = work.lane.slot
    let others = self.queues[slot]?.all ?? []
    if work.policy == .keep, !others.isEmpty { return nil }
    self.lastTicket += 1
    let member = UniqueMember(lane: work.lane, ticket: self.lastTicket, node: node)
    self.queues[slot, default: TicketQueue()].append(member, ticket: member.ticket)
    if work.policy == .replace {
      for other in others { self.cancel(other, &actions) }
    }
    member.isWaiting = self.queues[slot]?.firstTicket != member.ticket
    return member
  }

  /// Removes a run that has ended, and lets the next one begin. Called under the lock.
  static func leave(_ member: UniqueMember, _ actions: inout SchedulingActions) {
    let slot = member.lane.slot
    guard self.queues[slot]?.remove(member.ticket) != nil else { return }
    guard let next = self.queues[slot]?.first else {
      self.queues[slot] = nil
      return
    }
    guard next.isWaiting else { return }
    next.isWaiting = false
    if let node = next.node { node.core.meet(node, &actions) }
    if let continuation = next.continuation.take() { actions.resume(continuation) }
  }

  private static func cancel(_ member: UniqueMember, _ actions: inout SchedulingActions) {
    if let node = member.node { return node.cancel(&actions) }
    guard !member.isCancelled else { return }
    member.isCancelled = true
    if let task = member.task { actions.taskCancellations.append(task) }
    if let continuation = member.continuation.take() { actions.resume(continuation) }
  }
}

extension UniqueMember {
  /// The scheduled operation that comes before this one. Called under the lock.
  var previousNode: ScheduledNode? { UniqueWork.previous(self)?.node }
}

extension UniqueWork {
  fileprivate static func previous(_ member: UniqueMember) -> UniqueMember? {
    self.queues[member.lane.slot]?.last(before: member.ticket)
  }
}
