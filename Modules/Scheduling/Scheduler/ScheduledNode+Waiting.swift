internal import OperationCore
internal import Synchronization

extension ScheduledNode {
  /// Waits until the operation has ended, or until the current task is cancelled.
  ///
  /// A scheduled operation that waits gives its place to others, and lets this one use the categories that it holds.
  ///
  /// - Throws: `OperationCycleError` if the operation waits for the operation of the current task.
  func ended(isolation: isolated (any Actor)?) async throws {
    guard let scope = RunScope.current else { return await self.wait(isolation: isolation) }
    if SchedulingLock.withLock({ self.isEnded }) { return }
    let wait = try self.beginWait()
    let awaitedNodes = self.addWaiting(scope)
    let nodes = scope.nodes
    for node in nodes { node.lend(for: NodeWait(.waitingForOperations, [self.name], nodes: [self])) }
    await self.wait(isolation: isolation)
    self.removeWaiting(from: awaitedNodes, scope)
    if let wait { SchedulingLock.withLock { wait.end() } }
    for node in nodes.reversed() { await node.reclaim(after: .waitingForOperations, isolation: isolation) }
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

extension ScheduledNode {
  /// Notes that the run of the current task waits for this operation.
  ///
  /// - Throws: `OperationCycleError` if this operation waits for that run.
  private func beginWait() throws -> ScopeWait? {
    guard let scope = RunScope.ofCurrentTask else { return nil }
    switch SchedulingLock.withLock({ ScopeWait.begin(.value(self), in: scope) }) {
    case .waits(let wait): return wait
    case .cycle(let cycle): throw cycle.report()
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
}
