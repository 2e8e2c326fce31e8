internal import OperationCore

// All functions of nodes in this file but the first are called under the scheduling lock.

extension ScheduledNode {
  /// Sets the requested priority. The priority of an operation that waits for this one counts, too.
  func setPriority(_ priority: UInt8) {
    SchedulingLock.perform { actions in
      self.state.requestedPriority = priority
      self.change(to: max(priority, self.state.inheritedPriority), &actions)
      self.passPriorityOn(&actions)
    }
  }

  /// Passes the priority on to what the operation waits for, directly or through others.
  ///
  /// - Complexity: Amortized O(1) for vital operations and barriers; each operation is raised once for each priority.
  func passPriorityOn(_ actions: inout SchedulingActions) {
    var pending = [self]
    while let node = pending.popLast() {
      let priority = node.state.priority
      for awaited in node.awaitedForPriority where !awaited.hasOutcome && awaited.state.priority < priority {
        awaited.state.inheritedPriority = priority
        awaited.change(to: priority, &actions)
        pending.append(awaited)
      }
    }
  }

  private var awaitedForPriority: [ScheduledNode] {
    var nodes = self.state.waits.flatMap(\.nodes)
    nodes += self.state.groupCore?.machine.members.all ?? []
    guard !self.hasBegun else { return nodes }
    nodes += self.state.prerequisites.map(\.node)
    if let previous = self.state.unique?.previous?.node { nodes.append(previous) }
    // The queues are copied, as a call that changes the machine must not access it otherwise.
    if self.state.isHeld {
      let vitals = self.core.machine.vitals
      nodes += self.core.machine.raisedVitals.raised(in: vitals, before: self.state.rank, to: self.state.priority)
    }
    if self.isBarrier {
      let (members, ticket) = (self.core.machine.members, self.state.memberTicket)
      nodes += self.core.machine.raisedMembers.raised(in: members, before: ticket, to: self.state.priority)
    }
    return nodes
  }

  private func change(to priority: UInt8, _ actions: inout SchedulingActions) {
    guard priority != self.state.priority else { return }
    let isReady = self.state.phase == .ready
    if isReady { self.core.machine.ready.remove(self) }
    let isRaised = priority > self.state.priority
    self.state.priority = priority
    if isReady { self.core.machine.ready.putBack(self) }
    guard isRaised else { return }
    self.state.hasRaisedPriority = true
    if let task = self.state.task { actions.escalations.append((task, priority)) }
  }
}

extension [UInt8: UInt64] {
  /// The elements before a ticket that have not received a priority yet; it counts as received from now on.
  fileprivate mutating func raised(
    in queue: TicketQueue<ScheduledNode>,
    before ticket: UInt64,
    to priority: UInt8
  ) -> [ScheduledNode] {
    let raised = self.lazy.filter { $0.key >= priority }.map(\.value).max() ?? 0
    guard raised < ticket else { return [] }
    self[priority] = ticket
    return queue.elements(from: raised, before: ticket)
  }
}
