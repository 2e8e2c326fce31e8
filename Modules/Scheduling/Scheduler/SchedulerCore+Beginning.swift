internal import OperationCore

// All functions in this file are called under the scheduling lock.

extension SchedulerCore {
  /// Adds an operation to a scheduler that is not closed, and makes it ready if it waits for nothing.
  ///
  /// - Returns: The operations of the circle, if vital operations that hold it back wait for it; nil otherwise.
  func insert(
    _ node: ScheduledNode,
    inside parent: ScheduledNode?,
    _ actions: inout SchedulingActions
  ) -> [ScheduledNode]? {
    let ticket = self.machine.nextTicket()
    node.state.memberTicket = ticket
    // An operation that the run of another one schedules is not held back by that one, nor by vital operations that
    // came after that one: they would wait for each other. A parent that is being scheduled itself has no rank yet.
    let hasRankedParent = parent?.core === self && parent?.state.phase != .new
    node.state.rank = hasRankedParent ? parent?.state.rank ?? ticket : ticket
    self.machine.members.append(node, ticket: ticket)
    self.machine.totalCount += 1
    if let first = self.machine.vitals.firstTicket, first < node.state.rank {
      node.state.isHeld = true
      node.state.unmetCount += 1
      if node.state.rank == ticket {
        self.machine.held.append(node, ticket: ticket)
      } else {
        self.machine.heldProducts.append(node)
      }
    }
    if node.isVital { self.addVital(node, ticket: ticket) }
    node.state.phase = .waiting
    self.noteProgress(&actions)
    if self.machine.isCancelled || self.machine.isAbandoned { node.cancel(&actions) }
    if let circle = self.circle(through: node) { return circle }
    if let outcome = node.state.earlyOutcome {
      self.end(node, outcome, &actions)
    } else {
      self.readyIfPossible(node, &actions)
    }
    return nil
  }

  /// The operations that wait for each other because vital operations hold `node` back; nil if there are none.
  private func circle(through node: ScheduledNode) -> [ScheduledNode]? {
    guard node.state.isHeld, node.mayBeAwaited else { return nil }
    for vital in self.machine.vitals.elements(before: node.state.rank) {
      if let path = WaitPath.nodes(from: vital, to: [node]) { return [node] + path }
    }
    return nil
  }

  /// Makes `node`, which may belong to another scheduler, hold back operations that are scheduled here later.
  func addVital(_ node: ScheduledNode, ticket: UInt64) {
    self.machine.vitals.append(node, ticket: ticket)
    node.state.vitalPlaces.append((self, ticket))
  }

  /// Counts one of the things that the operation waits for as done.
  func meet(_ node: ScheduledNode, _ actions: inout SchedulingActions) {
    guard node.state.phase == .waiting || node.state.phase == .new else { return }
    node.state.unmetCount -= 1
    self.readyIfPossible(node, &actions)
  }

  private func readyIfPossible(_ node: ScheduledNode, _ actions: inout SchedulingActions) {
    guard node.state.phase == .waiting, node.state.unmetCount == 0 else { return }
    node.state.phase = .ready
    self.machine.ready.append(node)
    self.admit(&actions)
  }

  /// Gives free places to operations.
  func admit(_ actions: inout SchedulingActions) {
    while self.machine.placeCount < self.machine.width {
      if let node = self.machine.returning.popFirst() {
        self.givePlace(to: node)
        if let continuation = node.state.continuation.take() { actions.resume(continuation) }
      } else if !self.machine.isSuspended, let node = self.machine.ready.popNext() {
        self.givePlace(to: node)
        node.state.phase = .admitted
        if let continuation = node.state.continuation.take() { actions.resume(continuation) }
      } else {
        return
      }
    }
  }

  private func givePlace(to node: ScheduledNode) {
    node.state.hasPlace = true
    self.machine.placeCount += 1
  }

  func takePlace(from node: ScheduledNode, _ actions: inout SchedulingActions) {
    guard node.state.hasPlace else { return }
    node.state.hasPlace = false
    self.machine.placeCount -= 1
    self.admit(&actions)
  }

  /// Takes an operation that has not begun out of the queue, or its place away from it.
  func withdraw(_ node: ScheduledNode, _ actions: inout SchedulingActions) {
    switch node.state.phase {
    case .ready:
      self.machine.ready.remove(node)
      node.state.phase = .waiting
    case .admitted:
      node.state.phase = .waiting
      self.takePlace(from: node, &actions)
    case .new, .waiting, .preparing, .running, .ending, .ended:
      break
    }
  }

  /// Gives an operation that has lent its place a place again. Returns false if it has to wait for one.
  ///
  /// While another task of its run still waits, the run goes on without a place: what that task waits for may need it.
  func reclaim(_ node: ScheduledNode, isCancelled: Bool) -> Bool {
    guard !node.hasOutcome, !node.state.hasPlace, node.state.lendCount == 0 else { return true }
    // A cancelled operation does not wait, so that it can end.
    guard isCancelled || (self.machine.placeCount < self.machine.width && self.machine.returning.isEmpty) else {
      return false
    }
    self.givePlace(to: node)
    return true
  }
}
