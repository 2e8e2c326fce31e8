internal import OperationCore

/// A run that another one waits for because of a category.
struct ExclusionBlocker: Sendable {
  let scope: RunScope
  let slot: Int
  /// Whether it holds the category. Otherwise it waits for the category, too, and has come before.
  let isHolder: Bool
}

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

  /// The runs that wait for each other with `waiter`, which is inside of a holder; nil if its wait can end.
  func cycle(of waiter: ExclusionWaiter) -> WaitCycle? {
    for slot in waiter.slots {
      guard let holder = self.lanes[slot].holder, !waiter.scope.isInside(holder) else { continue }
      guard let path = self.waits(from: .scope(holder), to: waiter.scope) else { continue }
      return self.cycle(of: waiter, for: slot, path)
    }
    return nil
  }

  private func cycle(of waiter: ExclusionWaiter, for slot: Int, _ path: [Node]) -> WaitCycle {
    let reason = WaitCycle.Reason.category(waiter.category(in: slot), isHeld: true)
    // The last scope of the path is around the waiter.
    var links = [WaitCycle.Link(waiter: (path.last ?? .waiter(waiter)).vertex, reason: reason)]
    for index in path.indices.dropLast() {
      guard case .waiter(let other) = path[index] else { continue }
      let next = path[index + 1]
      var isHeld = false
      if case .scope = next { isHeld = true }
      // The holder's name is more than the name of the run inside of it.
      var vertex = path[index].vertex
      if index > 0, case .scope(let holder) = path[index - 1] { vertex = WaitVertex(holder) }
      let category = other.category(in: self.slot(of: other, next))
      links.append(WaitCycle.Link(waiter: vertex, reason: .category(category, isHeld: isHeld)))
    }
    return WaitCycle(links: links)
  }

  /// The category for which a waiter waits for another run.
  private func slot(of waiter: ExclusionWaiter, _ next: Node) -> Int {
    let slot = waiter.slots.first { slot in
      switch next {
      case .scope(let scope): self.lanes[slot].holder === scope
      case .waiter(let other): other.slots.contains(slot)
      }
    }
    return slot ?? waiter.slots[0]
  }

  /// The runs that a waiter waits for: the holders of its categories, and those that wait before it.
  func blockers(of waiter: ExclusionWaiter, isInside scopes: Set<ObjectIdentifier>) -> [ExclusionBlocker] {
    guard waiter.isWaiting else { return [] }
    var blockers: [ExclusionBlocker] = []
    for slot in waiter.slots {
      let holder = self.lanes[slot].holder
      let mayUse = holder.map { scopes.contains(ObjectIdentifier($0)) || waiter.scope.isInside($0) } ?? true
      if let holder, !mayUse { blockers.append(ExclusionBlocker(scope: holder, slot: slot, isHolder: true)) }
      // Waiters for this category alone wait for nothing more than the holder.
      guard self.lanes[slot].compoundWaiterCount > 0 else { continue }
      guard let previous = self.lanes[slot].queue.last(before: waiter.state.ticket) else { continue }
      // A run inside of the holder goes before one that waits for the holder.
      if let holder, mayUse, !previous.scope.isInside(holder) { continue }
      blockers.append(ExclusionBlocker(scope: previous.scope, slot: slot, isHolder: false))
    }
    return blockers
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

    var vertex: WaitVertex {
      switch self {
      case .scope(let scope): WaitVertex(scope)
      case .waiter(let waiter): WaitVertex(waiter.scope)
      }
    }
  }

  /// The shortest path from `start` to a scope around `goal`; nil if `start` does not wait for one.
  ///
  /// - Complexity: O(*n*) in the runs that wait.
  private func waits(from start: Node, to goal: RunScope) -> [Node]? {
    var search = GraphSearch<Node, ObjectIdentifier>()
    search.add(start, start.id)
    while let (step, node) = search.next() {
      switch node {
      case .scope(let scope):
        if goal.isInside(scope) { return search.path(to: step) }
        for waiter in scope.state.waitersInside.all {
          search.add(.waiter(waiter), ObjectIdentifier(waiter), after: step)
        }
      case .waiter(let waiter):
        for slot in waiter.slots {
          if let holder = self.lanes[slot].holder, !waiter.scope.isInside(holder) {
            search.add(.scope(holder), ObjectIdentifier(holder), after: step)
          }
          if let previous = self.lanes[slot].queue.last(before: waiter.state.ticket) {
            search.add(.waiter(previous), ObjectIdentifier(previous), after: step)
          }
        }
      }
    }
    return nil
  }
}
