internal import OperationCore

extension ExclusionMachine {
  /// Whether a waiter inside of a holder can be admitted.
  ///
  /// Waiters that came before it go first, unless they can be admitted only after the holder has ended.
  func canEnter(_ waiter: ExclusionWaiter) -> Bool {
    waiter.slots.allSatisfy { slot in
      if let holder = self.lanes[slot].holder, !waiter.scope.isInside(holder) { return false }
      guard let previous = self.lanes[slot].queue.last(before: waiter.state.ticket) else { return true }
      return self.waits(from: .waiter(previous), to: waiter.scope) != nil
    }
  }

  /// The operations that wait for each other with `waiter`, which is inside of a holder; nil if its wait can end.
  func circle(of waiter: ExclusionWaiter) -> [String]? {
    for slot in waiter.slots {
      guard let holder = self.lanes[slot].holder, !waiter.scope.isInside(holder) else { continue }
      guard let scopes = self.waits(from: .scope(holder), to: waiter.scope) else { continue }
      let name = OperationName.of(waiter.scope.operationType.unmodifiedType)
      var names = [name]
      for scope in scopes {
        let next = OperationName.of(scope.operationType.unmodifiedType)
        if names.last != next { names.append(next) }
      }
      if names.last != name || names.count == 1 { names.append(name) }
      return names
    }
    return nil
  }

  /// A run that waits, or that others wait for.
  private enum Node {
    /// A run that holds something; it waits for the runs inside of it.
    case scope(RunScope)
    /// A run that waits for categories, and so for their holders and for the waiters before it.
    case waiter(ExclusionWaiter)

    var id: ObjectIdentifier {
      switch self {
      case .scope(let scope): ObjectIdentifier(scope)
      case .waiter(let waiter): ObjectIdentifier(waiter)
      }
    }
  }

  /// The scopes on the shortest path from `start` to a scope around `goal`; nil if `start` does not wait for one.
  ///
  /// - Complexity: O(*n*) in the runs that wait.
  private func waits(from start: Node, to goal: RunScope) -> [RunScope]? {
    var steps: [(node: Node, previous: Int?)] = [(start, nil)]
    var known: Set<ObjectIdentifier> = [start.id]
    var next = 0
    while next < steps.count {
      defer { next += 1 }
      var found: [Node] = []
      switch steps[next].node {
      case .scope(let scope):
        if goal.isInside(scope) { return self.scopes(in: steps, upTo: next) }
        for waiter in self.nestedWaiters where waiter.scope.isInside(scope) { found.append(.waiter(waiter)) }
      case .waiter(let waiter):
        for slot in waiter.slots {
          if let holder = self.lanes[slot].holder, !waiter.scope.isInside(holder) { found.append(.scope(holder)) }
          if let previous = self.lanes[slot].queue.last(before: waiter.state.ticket) { found.append(.waiter(previous)) }
        }
      }
      for node in found where known.insert(node.id).inserted { steps.append((node, next)) }
    }
    return nil
  }

  private func scopes(in steps: [(node: Node, previous: Int?)], upTo last: Int) -> [RunScope] {
    var scopes: [RunScope] = []
    var index: Int? = last
    while let step = index {
      if case .scope(let scope) = steps[step].node { scopes.append(scope) }
      index = steps[step].previous
    }
    return scopes.reversed()
  }
}
