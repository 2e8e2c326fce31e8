internal import OperationCore

// All functions in this file are called under the scheduling lock.

extension SchedulerCore {
  /// Adds an operation to a scheduler that is not closed, and makes it ready if it waits for nothing.
  ///
  /// - Returns: The cycle, if what it waits for waits for it; nil otherwise.
  func insert(
    _ node: ScheduledNode,
    inside parent: ScheduledNode?,
    _ actions: inout SchedulingActions
  ) -> WaitCycle? {
    let ticket = self.machine.nextTicket()
    node.state.memberTicket = ticket
    self.rank(node, inside: parent)
    self.machine.members.append(node, ticket: ticket)
    self.machine.segments.add(node)
    self.machine.totalCount += 1
    if let first = self.machine.vitals.firstTicket, first < node.state.rank { self.hold(node) }
    if node.isVital { self.addVital(node, ticket: ticket) }
    if node.state.unmetCount > 0 { node.passPriorityOn(&actions) }
    node.state.phase = .waiting
    self.noteProgress(&actions)
    if self.machine.isCancelled || self.machine.isAbandoned { node.cancel(&actions) }
    if let cycle = self.cycle(through: node) { return cycle }
    if let outcome = node.state.earlyOutcome {
      self.end(node, outcome, &actions)
    } else {
      self.readyIfPossible(node, &actions)
    }
    return nil
  }

  /// Decides which vital operations and barriers come before an operation that has its ticket.
  ///
  /// An operation that the run of another one schedules is not held back by that one, nor by vital operations that
  /// came after that one: they would wait for each other. A parent that is being scheduled itself has no rank yet.
  private func rank(_ node: ScheduledNode, inside parent: ScheduledNode?) {
    node.state.rank = node.state.memberTicket
    if node.isBarrier {
      if self.machine.segments.begin(at: node) { node.state.unmetCount += 1 }
    } else if let parent, parent.core === self, parent.state.phase != .new, !parent.hasOutcome {
      node.state.rank = parent.state.rank
      node.state.segment = parent.state.segment
    } else {
      node.state.segment = self.machine.segments.current
    }
  }

  /// Lets an operation wait for the vital operations that came before it.
  private func hold(_ node: ScheduledNode) {
    node.state.isHeld = true
    node.state.unmetCount += 1
    let (rank, ticket) = (node.state.rank, node.state.memberTicket)
    if rank == ticket { return self.machine.held.append(node, ticket: ticket) }
    if let products = self.machine.heldProducts.element(at: rank) {
      products.nodes.append(node, ticket: ticket)
    } else {
      let products = HeldProducts()
      products.nodes.append(node, ticket: ticket)
      self.machine.heldProducts.insert(products, ticket: rank)
    }
  }

  /// The cycle that an added operation closes because of the waits that it brings; nil if there is none.
  ///
  /// Nothing is searched for an operation that nothing waits for yet. A group waits for its operations, but what
  /// those wait for is known not to wait for the group.
  ///
  /// - Complexity: O(1) in these cases.
  private func cycle(through node: ScheduledNode) -> WaitCycle? {
    let waitsForGroup = self.machine.isWaitingForGroup && node.state.groupCore != nil
    guard node.state.unmetCount > 0 || waitsForGroup else { return nil }
    let isAwaited =
      !node.state.dependents.isEmpty || node.state.isAwaited || node.state.unique?.isAwaited == true
      || node.state.groupCore != nil || node.state.segment < self.machine.segments.current
      || node.state.vitalPlaces.contains { $0.core !== self } || self.machine.emptyWaitCount > 0
    let mayWaitForGroup =
      (self.machine.groupNode != nil || self.machine.groupScope != nil)
      && (self.machine.foreignVitalCount > 0 || node.state.unique?.state.isWaiting == true
        || node.state.prerequisites.contains { $0.node.core !== self })
    return isAwaited || mayWaitForGroup ? WaitPath.cycle(through: node) : nil
  }

  /// Makes `node`, which may belong to another scheduler, hold back operations that are scheduled here later.
  func addVital(_ node: ScheduledNode, ticket: UInt64) {
    if node.core !== self { self.machine.foreignVitalCount += 1 }
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
      } else if !self.machine.holdsAll, let node = self.machine.ready.popNext() {
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

  /// Puts an operation that has a place, but has not begun, back into the queue of a suspended scheduler.
  func putBack(_ node: ScheduledNode, _ actions: inout SchedulingActions) {
    self.withdraw(node, &actions)
    node.state.phase = .ready
    self.machine.ready.putBack(node)
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
