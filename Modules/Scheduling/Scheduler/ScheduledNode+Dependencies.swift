public import OperationCore

extension OperationWarning.Code {
  /// An operation was made to wait for another one after it had begun.
  public static let lateDependency = OperationWarning.Code(description: "lateDependency")

  /// An operation was added to a group, or produced by an operation, that had ended.
  public static let addedAfterEnd = OperationWarning.Code(description: "addedAfterEnd")
}

extension ScheduledNode {
  private enum Addition: Sendable {
    case added
    case late
    case cycle(WaitCycle)
  }

  /// Makes the operation begin after another one has ended, however that one ends.
  func addDependency(_ other: ScheduledNode) {
    let name = other.name
    let addition = SchedulingLock.perform { actions -> Addition in
      guard !self.hasBegun else { return self.hasOutcome && self.state.isCancelled ? .added : .late }
      if self === other || self.mayBeAwaited, let cycle = WaitPath.cycle(of: self, dependingOn: other) {
        return .cycle(cycle)
      }
      self.state.prerequisites.append(Prerequisite(node: other, name: name))
      guard !other.isEnded else { return .added }
      self.core.withdraw(self, &actions)
      self.state.unmetCount += 1
      other.state.dependents.append(self)
      if other.state.priority < self.state.priority { self.passPriorityOn(&actions) }
      return .added
    }
    switch addition {
    case .added: break
    case .late: self.reportLateDependency(on: other)
    case .cycle(let cycle):
      let error = cycle.report()
      SchedulingLock.perform { self.fail(error, &$0) }
    }
  }

  /// Lets the operation begin without waiting for another one.
  func removeDependency(_ other: ScheduledNode) {
    SchedulingLock.perform { actions in
      guard !self.hasBegun else { return }
      let removed = self.state.prerequisites.filter { $0.node === other }
      guard !removed.isEmpty else { return }
      self.state.prerequisites.removeAll { $0.node === other }
      actions.release(ReleasedValues(prerequisites: removed))
      guard !other.isEnded else { return }
      for _ in removed {
        if let index = other.state.dependents.lastIndex(where: { $0 === self }) {
          other.state.dependents.remove(at: index)
        }
        self.core.meet(self, &actions)
      }
    }
  }

  private func reportLateDependency(on other: ScheduledNode) {
    OperationWarning(
      code: .lateDependency,
      message: """
        \(self.name) was made to wait for \(other.name) after it had begun or ended. The call was ignored. Add \
        dependencies in the closure of `schedule`, in an enqueuing module, or while the scheduler is suspended.
        """
    ).report()
  }
}

extension SchedulerCore {
  /// Ends what ``addDependency(_:)`` has begun.
  func removeDependency(_ node: ScheduledNode) {
    SchedulingLock.perform { actions in
      // A vital operation of this scheduler has a place of its own.
      let own = node.core === self ? node.state.memberTicket : 0
      let places = node.state.vitalPlaces.filter { $0.core === self && $0.ticket != own }
      node.state.vitalPlaces.removeAll { $0.core === self && $0.ticket != own }
      for place in places { self.removeVital(place.ticket, &actions) }
    }
  }

  /// Holds back what is scheduled later until `node`, of any scheduler, has ended.
  func addDependency(_ node: ScheduledNode) {
    SchedulingLock.withLock {
      guard !node.isEnded else { return }
      self.addVital(node, ticket: self.machine.nextTicket())
    }
  }
}
