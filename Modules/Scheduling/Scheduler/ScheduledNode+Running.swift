internal import OperationCore

extension ScheduledNode {
  /// The body of the operation's task: waits until the operation may begin, runs it, and ends it.
  func run() async {
    guard let beginning = await self.begun() else { return }
    let error = await beginning.scope.perform {
      if beginning.conditions.isEmpty { return await beginning.job.run(in: beginning.context) }
      return await beginning.job.run(in: beginning.context, after: beginning.conditions)
    }
    let isCancellation = error.map { $0 is CancellationError || $0 is OperationSkipped } ?? false
    SchedulingLock.perform { actions in
      if let error {
        let isCancelled = isCancellation || self.state.isCancelled
        self.core.end(self, isCancelled ? .cancelled(error) : .failed(error), &actions)
      } else {
        self.core.end(self, .succeeded, &actions)
      }
    }
  }

  /// The parts of an operation that its run needs.
  private struct Beginning: Sendable {
    let job: any ScheduledJob
    let scope: RunScope
    var context: OperationContext
    let conditions: [any OperationCondition]
  }

  private enum Decision: Sendable {
    case begin(Beginning)
    case wait
    case over
  }

  /// Waits until the operation has a place. Returns nil if it has ended before.
  private func begun() async -> Beginning? {
    while true {
      switch SchedulingLock.perform({ self.begin(&$0) }) {
      case .begin(var beginning):
        if self.hasPreparation || !beginning.conditions.isEmpty {
          // The innermost preparation reports the start of the body.
          beginning.context.scheduledStart = ScheduledStart(node: self)
        }
        return beginning
      case .over: return nil
      case .wait: await self.admitted()
      }
    }
  }

  private func begin(_ actions: inout SchedulingActions) -> Decision {
    switch self.state.phase {
    case .admitted:
      if self.core.machine.isSuspended {
        self.core.putBack(self, &actions)
        return .wait
      }
      guard let job = self.state.job else { return .over }
      self.state.phase = .preparing
      self.state.task = RunTask.current
      if self.state.hasRaisedPriority { actions.escalations.append((RunTask.current, self.state.priority)) }
      if !self.state.prerequisites.isEmpty { self.settleDependencies(&actions) }
      let scope = RunScope(
        parent: self.core.machine.groupScope,
        operationType: self.operationType,
        node: self,
        waitingScopes: self.state.waitingScopes
      )
      self.state.scope = scope
      if !self.hasPreparation, self.state.conditions.isEmpty { self.start(&actions) }
      return .begin(
        Beginning(job: job, scope: scope, context: self.state.context, conditions: self.state.conditions)
      )
    case .new, .waiting, .ready:
      return .wait
    case .preparing, .running, .ending, .ended:
      return .over
    }
  }

  private func admitted() async {
    await withUnsafeContinuation { continuation in
      let mayContinue = SchedulingLock.withLock {
        if self.state.phase == .admitted || self.hasOutcome { return true }
        self.state.continuation = continuation
        return false
      }
      if mayContinue { continuation.resume() }
    }
  }

  /// Replaces the prerequisites by their outcomes, as the prerequisites themselves are not needed anymore.
  private func settleDependencies(_ actions: inout SchedulingActions) {
    self.state.dependencies = self.state.prerequisites.map {
      FinishedDependency(name: $0.name, outcome: $0.node.state.outcome ?? .succeeded)
    }
    actions.release(ReleasedValues(prerequisites: self.state.prerequisites))
    self.state.prerequisites = []
  }
}

// MARK: - The place

extension ScheduledNode {
  /// Gives the place to another operation while this one waits.
  ///
  /// - Parameter wait: What it waits for.
  func lend(for wait: NodeWait) {
    SchedulingLock.perform { actions in
      guard !self.hasOutcome else { return }
      self.state.lendCount += 1
      self.state.waits.append(wait)
      if !wait.nodes.isEmpty { self.passPriorityOn(&actions) }
      self.core.takePlace(from: self, &actions)
    }
  }

  /// Waits for a place again, unless the current task is cancelled.
  ///
  /// - Parameters:
  ///   - phase: The phase of the wait that has ended.
  ///   - isolation: The caller's actor.
  func reclaim(after phase: ScheduledOperationSnapshot.Phase, isolation: isolated (any Actor)?) async {
    let isCancelled = Task.isCancelled
    let mayContinue = SchedulingLock.withLock {
      guard !self.hasOutcome else { return true }
      self.state.lendCount -= 1
      if let index = self.state.waits.firstIndex(where: { $0.phase == phase }) { self.state.waits.remove(at: index) }
      return self.core.reclaim(self, isCancelled: isCancelled)
    }
    if mayContinue { return }
    await withTaskCancellationHandler {
      await self.waitForPlace(isolation: isolation)
    } onCancel: {
      SchedulingLock.perform { actions in
        guard let continuation = self.leaveReturning() else { return }
        actions.resume(continuation)
      }
    }
  }

  private func waitForPlace(isolation: isolated (any Actor)?) async {
    await withUnsafeContinuation { continuation in
      let mayContinue = SchedulingLock.withLock {
        // Another task of this run waits for the place already.
        if self.state.continuation != nil { return true }
        if self.core.reclaim(self, isCancelled: false) { return true }
        self.state.continuation = continuation
        self.state.returningTicket = self.core.machine.nextTicket()
        self.core.machine.returning.append(self, ticket: self.state.returningTicket)
        return false
      }
      if mayContinue { return continuation.resume() }
      // The task may have been cancelled before it waited.
      if Task.isCancelled, let continuation = SchedulingLock.withLock({ self.leaveReturning() }) {
        continuation.resume()
      }
    }
  }

  /// Gives a cancelled operation that waits for a place one above the limit. Returns its continuation.
  private func leaveReturning() -> UnsafeContinuation<Void, Never>? {
    guard self.core.machine.returning.remove(self.state.returningTicket) != nil else { return nil }
    _ = self.core.reclaim(self, isCancelled: true)
    return self.state.continuation.take()
  }
}

// MARK: - Cancelling

extension ScheduledNode {
  /// Cancels the operation. One that has not begun ends at once.
  func cancel() {
    SchedulingLock.perform { self.cancel(&$0) }
  }

  /// Cancels the operation. Called under the lock.
  func cancel(with error: any Error = CancellationError(), _ actions: inout SchedulingActions) {
    guard !self.hasOutcome, !self.state.isCancelled else { return }
    self.state.isCancelled = true
    if self.hasBegun {
      if let task = self.state.task { actions.cancellations.append(task) }
    } else {
      self.core.end(self, .cancelled(error), &actions)
    }
  }

  /// Ends an operation that has not begun, with an error.
  func fail(_ error: any Error, _ actions: inout SchedulingActions) {
    guard !self.hasBegun else { return }
    self.core.end(self, .failed(error), &actions)
  }
}
