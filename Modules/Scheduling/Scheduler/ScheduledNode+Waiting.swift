internal import OperationCore
internal import Synchronization

extension ScheduledNode {
  /// Waits until the operation has ended, or until the current task is cancelled.
  ///
  /// A scheduled operation that waits gives its place to others, and lets this one use the categories that it holds.
  ///
  /// - Throws: `OperationCircleError` if the operation waits for the one whose task this is.
  func ended(isolation: isolated (any Actor)?) async throws {
    guard let scope = RunScope.current else { return await self.wait(isolation: isolation) }
    if SchedulingLock.withLock({ self.isEnded }) { return }
    let waiter = scope.currentNode
    if let waiter { try waiter.note(awaited: self) }
    let adopted = self.adoptAll(by: scope)
    let places = scope.places
    for place in places { place.lend() }
    await self.wait(isolation: isolation)
    self.abandon(adopted, by: scope)
    waiter?.forget(awaited: self)
    for place in places.reversed() { await place.reclaim(isolation: isolation) }
  }

  private static let lastWaiterID = Atomic<UInt64>(0)

  private func wait(isolation: isolated (any Actor)?) async {
    let id = Self.lastWaiterID.add(1, ordering: .relaxed).newValue
    await withTaskCancellationHandler {
      await self.suspend(id, isolation: isolation)
    } onCancel: {
      SchedulingLock.perform { actions in
        if let waiter = self.state.waiter, waiter.id == id {
          self.state.waiter = nil
          actions.resume(waiter.continuation)
        } else if let index = self.state.otherWaiters.firstIndex(where: { $0.id == id }) {
          actions.resume(self.state.otherWaiters.remove(at: index).continuation)
        }
      }
    }
  }

  private func suspend(_ id: UInt64, isolation: isolated (any Actor)?) async {
    await withUnsafeContinuation { continuation in
      let isEnded = SchedulingLock.withLock {
        if self.isEnded || Task.isCancelled { return true }
        if self.state.waiter == nil {
          self.state.waiter = (id, continuation)
        } else {
          self.state.otherWaiters.append((id, continuation))
        }
        return false
      }
      if isEnded { continuation.resume() }
    }
  }
}

// MARK: - What the wait means for others

extension RunScope {
  /// The scheduled operation whose task this is; nil in another task, which that operation need not wait for.
  var currentNode: ScheduledNode? {
    var scope: RunScope? = self
    while let current = scope {
      if let node = current.place {
        let task = SchedulingLock.withLock { node.state.task }
        return task?.identity == RunTask.current.identity ? node : nil
      }
      scope = current.parent
    }
    return nil
  }
}

extension ScheduledNode {
  /// Notes that the body of this operation awaits another one, unless that one waits for this one.
  fileprivate func note(awaited node: ScheduledNode) throws {
    let circle = SchedulingLock.withLock {
      let circle = WaitPath.nodes(from: node, to: self.withGroups)
      if circle == nil {
        self.state.awaited.append(node)
        node.state.isAwaited = true
      }
      return circle
    }
    if let circle { throw WaitPath.report(circle + circle.prefix(1)) }
  }

  fileprivate func forget(awaited node: ScheduledNode) {
    SchedulingLock.perform { actions in
      guard let index = self.state.awaited.firstIndex(where: { $0 === node }) else { return }
      actions.release(Remains(nodes: [self.state.awaited.remove(at: index)]))
    }
  }

  /// Notes that `scope` waits for this operation, and for all that this one waits for.
  private func adoptAll(by scope: RunScope) -> [ScheduledNode] {
    guard scope.mayHoldCategories else { return [] }
    let (nodes, scopes) = SchedulingLock.withLock {
      let nodes = WaitPath.all(from: self)
      for node in nodes { node.state.adopters.append(scope) }
      return (nodes, nodes.compactMap(\.state.scope))
    }
    ExclusionLock.adopt(scopes, by: scope)
    return nodes
  }

  private func abandon(_ nodes: [ScheduledNode], by scope: RunScope) {
    guard !nodes.isEmpty else { return }
    let scopes = SchedulingLock.withLock {
      for node in nodes {
        guard let index = node.state.adopters.firstIndex(where: { $0 === scope }) else { continue }
        node.state.adopters.remove(at: index)
      }
      return nodes.compactMap(\.state.scope)
    }
    ExclusionLock.abandon(scopes, by: scope)
  }

  /// The operation, and the operations of the groups that it is part of, which end after it.
  var withGroups: [ScheduledNode] {
    var nodes = [self]
    var scope = self.core.machine.groupScope
    if let group = self.core.machine.groupNode { nodes.append(group) }
    while let current = scope {
      if let node = current.place, node !== nodes.last { nodes.append(node) }
      scope = current.parent
    }
    return nodes
  }
}
