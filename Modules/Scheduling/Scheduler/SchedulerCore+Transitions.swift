internal import OperationCore

// All functions in this file are called under the scheduling lock.

// MARK: - Beginning

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

// MARK: - Ending

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
    if node.state.isHeld {
      node.state.isHeld = false
      if node.state.rank == node.state.memberTicket {
        _ = self.machine.held.remove(node.state.rank)
      } else {
        self.machine.heldProducts.removeAll { $0 === node }
      }
    }
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
      self.machine.completedCount += 1
      if case .failed(let error) = node.state.outcome { self.machine.errors?.append(error) }
      self.noteProgress(&actions)
    }
    node.state.groupCore?.abandonGroup(&actions)
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

  private func removeVital(_ ticket: UInt64, _ actions: inout SchedulingActions) {
    guard self.machine.vitals.remove(ticket) != nil else { return }
    let first = self.machine.vitals.firstTicket ?? .max
    while let rank = self.machine.held.firstTicket, rank <= first, let node = self.machine.held.popFirst() {
      node.state.isHeld = false
      self.meet(node, &actions)
    }
    let products = self.machine.heldProducts.filter { $0.state.rank <= first }
    guard !products.isEmpty else { return }
    self.machine.heldProducts.removeAll { $0.state.rank <= first }
    for node in products {
      node.state.isHeld = false
      self.meet(node, &actions)
    }
  }

  func noteEmptiness(_ actions: inout SchedulingActions) {
    guard self.machine.members.isEmpty else { return }
    if self.machine.closesWhenEmpty { self.machine.isClosed = true }
    if self.machine.isClosed, let progress = self.machine.progress { actions.finishedProgress.append(progress) }
    for waiter in self.machine.emptyWaiters { actions.resume(waiter) }
    self.machine.emptyWaiters = []
  }

  private func noteProgress(_ actions: inout SchedulingActions) {
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
