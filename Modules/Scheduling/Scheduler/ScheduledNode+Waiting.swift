internal import OperationCore
internal import Synchronization

extension ScheduledNode {
  /// Waits until the operation has ended, or until the current task is cancelled.
  ///
  /// A scheduled operation that waits gives its place to others, and lets this one use the categories that it holds.
  ///
  /// - Throws: `OperationCircleError` if the operation waits for the operation of the current task.
  func ended(isolation: isolated (any Actor)?) async throws {
    guard let scope = RunScope.current else { return await self.wait(isolation: isolation) }
    if SchedulingLock.withLock({ self.isEnded }) { return }
    let waiter = scope.currentNode
    if let waiter { try waiter.addAwaited(self) }
    let awaitedNodes = self.addWaiting(scope)
    let nodes = scope.nodes
    for node in nodes { node.lend() }
    await self.wait(isolation: isolation)
    self.removeWaiting(from: awaitedNodes, scope)
    waiter?.removeAwaited(self)
    for node in nodes.reversed() { await node.reclaim(isolation: isolation) }
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

// MARK: - Recording the wait

extension RunScope {
  /// The scheduled operation of the current task; nil in a task that an operation has started and need not wait for.
  var currentNode: ScheduledNode? {
    var scope: RunScope? = self
    while let current = scope {
      if let node = current.node {
        let task = SchedulingLock.withLock { node.state.task }
        return task?.identity == RunTask.current.identity ? node : nil
      }
      scope = current.parent
    }
    return nil
  }
}

extension ScheduledNode {
  /// Records that the body of this operation awaits another one.
  ///
  /// - Throws: `OperationCircleError` if that one waits for this one.
  fileprivate func addAwaited(_ node: ScheduledNode) throws {
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

  fileprivate func removeAwaited(_ node: ScheduledNode) {
    SchedulingLock.perform { actions in
      guard let index = self.state.awaited.firstIndex(where: { $0 === node }) else { return }
      actions.release(ReleasedValues(nodes: [self.state.awaited.remove(at: index)]))
    }
  }

  /// Records that `scope` waits for this operation, and for all operations that this one waits for. Returns them all.
  private func addWaiting(_ scope: RunScope) -> [ScheduledNode] {
    guard scope.mayHoldCategories else { return [] }
    let (nodes, scopes) = SchedulingLock.withLock {
      let nodes = WaitPath.all(from: self)
      for node in nodes { node.state.waitingScopes.append(scope) }
      return (nodes, nodes.compactMap(\.state.scope))
    }
    ExclusionLock.adopt(scopes, by: scope)
    return nodes
  }

  private func removeWaiting(from nodes: [ScheduledNode], _ scope: RunScope) {
    guard !nodes.isEmpty else { return }
    let scopes = SchedulingLock.withLock {
      for node in nodes {
        guard let index = node.state.waitingScopes.firstIndex(where: { $0 === scope }) else { continue }
        node.state.waitingScopes.remove(at: index)
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
      if let node = current.node, node !== nodes.last { nodes.append(node) }
      scope = current.parent
    }
    return nodes
  }
}
