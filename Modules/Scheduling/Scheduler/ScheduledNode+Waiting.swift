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
    let (wait, awaitedNodes) = try self.beginWait(of: scope)
    let nodes = scope.nodes
    for node in nodes { node.lend(for: NodeWait(.waitingForOperations, [self.name], nodes: [self])) }
    await self.wait(isolation: isolation)
    self.endWait(wait, of: scope, for: awaitedNodes)
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
  /// Notes that the run of the current task waits for this operation, which may then use the categories of that run.
  ///
  /// Both become known in one step: a run that found the wait without the categories would report a cycle.
  ///
  /// - Parameter scope: The scope of the current task.
  /// - Returns: The wait, nil if the run does not wait for the current task, and the operations that may use the
  ///   categories of `scope`.
  /// - Throws: `OperationCycleError` if this operation waits for that run.
  private func beginWait(of scope: RunScope) throws -> (wait: ScopeWait?, nodes: [ScheduledNode]) {
    let waitingScope = RunScope.ofCurrentTask
    var admissions: [ExclusionMachine.Resumption] = []
    var cycle: WaitCycle?
    let (wait, nodes) = SchedulingLock.withLock { () -> (ScopeWait?, [ScheduledNode]) in
      var wait: ScopeWait?
      if let waitingScope {
        switch ScopeWait.begin(.value(self), in: waitingScope) {
        case .waits(let begun): wait = begun
        case .cycle(let found):
          cycle = found
          return (nil, [])
        }
      }
      guard scope.mayHoldCategories else { return (wait, []) }
      let nodes = WaitPath.all(from: self)
      for node in nodes { node.state.waitingScopes.append(scope) }
      admissions = ExclusionLock.adopt(nodes.compactMap(\.state.scope), by: scope)
      return (wait, nodes)
    }
    ExclusionLock.resume(admissions)
    if let cycle { throw cycle.report() }
    return (wait, nodes)
  }

  /// Takes one ``beginWait(of:)`` back, in one step, too.
  private func endWait(_ wait: ScopeWait?, of scope: RunScope, for nodes: [ScheduledNode]) {
    if wait == nil, nodes.isEmpty { return }
    SchedulingLock.withLock {
      wait?.end()
      guard !nodes.isEmpty else { return }
      for node in nodes {
        guard let index = node.state.waitingScopes.firstIndex(where: { $0 === scope }) else { continue }
        node.state.waitingScopes.remove(at: index)
      }
      ExclusionLock.abandon(nodes.compactMap(\.state.scope), by: scope)
    }
  }
}
