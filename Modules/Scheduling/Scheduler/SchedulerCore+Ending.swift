internal import OperationCore

// All functions in this file are called under the scheduling lock.

extension SchedulerCore {
  /// Ends an operation that the scheduler does not accept.
  func reject(_ node: ScheduledNode, _ error: any Error, _ actions: inout SchedulingActions) {
    node.state.phase = .waiting
    self.end(node, node.state.earlyOutcome ?? .failed(error), &actions)
  }

  /// Ends an operation with an outcome, unless it has ended already. Observers are notified before it counts as ended.
  func end(_ node: ScheduledNode, _ outcome: OperationOutcome, _ actions: inout SchedulingActions) {
    guard !node.hasOutcome else { return }
    if node.state.phase == .new {
      if node.state.earlyOutcome == nil { node.state.earlyOutcome = outcome }
      return
    }
    self.withdraw(node, &actions)
    if node.state.isHeld { self.releaseHold(on: node) }
    node.state.phase = .ending
    node.state.outcome = outcome
    let isObserved = !node.state.observers.isEmpty || !node.state.events.isAtRest
    guard isObserved else { return self.complete(node, &actions) }
    node.state.events.append(.ended(outcome, node.state.observers))
    actions.deliveries.append(node)
  }

  /// Completes the end of an operation, after its observers were notified.
  func complete(_ node: ScheduledNode, _ actions: inout SchedulingActions) {
    node.state.phase = .ended
    if node.state.memberTicket > 0 {
      _ = self.machine.members.remove(node.state.memberTicket)
      for barrier in self.machine.segments.remove(node) { self.meet(barrier, &actions) }
      self.machine.completedCount += 1
      if case .failed(let error) = node.state.outcome { self.machine.errors?.append(error) }
      self.noteProgress(&actions)
    }
    node.state.groupCore?.abandonGroup(node.state.outcome, &actions)
    for (core, ticket) in node.state.vitalPlaces { core.removeVital(ticket, &actions) }
    self.release(node, &actions)
    if let member = node.state.unique.take() {
      UniqueWork.leave(member, &actions)
      actions.release(ScheduledNode.ReleasedValues(unique: member))
    }
    self.takePlace(from: node, &actions)
    self.noteEmptiness(&actions)
  }

  /// Resumes whatever waits for an operation, and releases the values that it holds.
  private func release(_ node: ScheduledNode, _ actions: inout SchedulingActions) {
    for prerequisite in node.state.prerequisites where !prerequisite.node.isEnded {
      prerequisite.node.countEndedDependent(&actions)
    }
    for dependent in node.state.dependents { dependent.core.meet(dependent, &actions) }
    if let waiter = node.state.waiter.take() { actions.resume(waiter.continuation) }
    for waiter in node.state.otherWaiters { actions.resume(waiter.continuation) }
    if let continuation = node.state.continuation.take() { actions.resume(continuation) }
    if node.state.returningTicket > 0 { _ = self.machine.returning.remove(node.state.returningTicket) }
    node.state.otherWaiters = []
    if case .succeeded = node.state.outcome { node.state.value = node.state.job?.erasedValue }
    var released = ScheduledNode.ReleasedValues()
    released.context = node.state.context
    node.state.context = OperationContext()
    released.job = node.state.job.take()
    released.scope = node.state.scope.take()
    released.task = node.state.task.take()
    released.groupCore = node.state.groupCore.take()
    swap(&released.prerequisites, &node.state.prerequisites)
    swap(&released.nodes, &node.state.dependents)
    swap(&released.waitingScopes, &node.state.waitingScopes)
    swap(&released.observers, &node.state.observers)
    swap(&released.conditions, &node.state.conditions)
    swap(&released.vitalPlaces, &node.state.vitalPlaces)
    actions.release(released)
  }

  /// Ends the wait of an operation, which has ended, for the vital operations before it.
  private func releaseHold(on node: ScheduledNode) {
    node.state.isHeld = false
    let (rank, ticket) = (node.state.rank, node.state.memberTicket)
    if rank == ticket {
      _ = self.machine.held.remove(ticket)
    } else if let products = self.machine.heldProducts.element(at: rank) {
      _ = products.nodes.remove(ticket)
      if products.nodes.isEmpty { _ = self.machine.heldProducts.remove(rank) }
    }
  }

  func removeVital(_ ticket: UInt64, _ actions: inout SchedulingActions) {
    guard let vital = self.machine.vitals.remove(ticket) else { return }
    if vital.core !== self { self.machine.foreignVitalCount -= 1 }
    let first = self.machine.vitals.firstTicket ?? .max
    while let rank = self.machine.held.firstTicket, rank <= first, let node = self.machine.held.popFirst() {
      node.state.isHeld = false
      self.meet(node, &actions)
    }
    while let rank = self.machine.heldProducts.firstTicket, rank <= first,
      let products = self.machine.heldProducts.popFirst()
    {
      while let node = products.nodes.popFirst() {
        node.state.isHeld = false
        self.meet(node, &actions)
      }
    }
  }

  func noteEmptiness(_ actions: inout SchedulingActions) {
    guard self.machine.members.isEmpty else { return }
    if self.machine.closesWhenEmpty { self.machine.isClosed = true }
    if self.machine.isClosed, let progress = self.machine.progress { actions.finishedProgress.append(progress) }
    for waiter in self.machine.emptyWaiters { actions.resume(waiter) }
    self.machine.emptyWaiters = []
  }

  func noteProgress(_ actions: inout SchedulingActions) {
    if let progress = self.machine.progress { actions.progress.append((progress, self.machine.counts)) }
  }
}

extension ScheduledNode {
  var isEnded: Bool { self.state.phase == .ended }

  /// Counts a dependent that has ended before this operation, and removes such dependents when they are many.
  fileprivate func countEndedDependent(_ actions: inout SchedulingActions) {
    self.state.endedDependentCount += 1
    guard self.state.endedDependentCount > self.state.dependents.count / 2 else { return }
    actions.release(ReleasedValues(nodes: self.state.dependents))
    self.state.dependents.removeAll(where: \.hasOutcome)
    self.state.endedDependentCount = 0
  }
}
