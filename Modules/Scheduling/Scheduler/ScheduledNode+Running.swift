internal import OperationCore

extension ScheduledNode {
  /// The work of the operation's task: waits for its beginning, runs the operation, and ends it.
  func run() async {
    guard await self.begun(), let job = SchedulingLock.withLock({ self.state.job }) else { return }
    let scope = self.enterScope()
    let outcome = await scope.perform(isolation: nil) { await job.run(for: self) }
    SchedulingLock.perform { self.core.end(self, outcome, &$0) }
  }

  private enum Beginning: Sendable {
    case begin
    case wait
    case over
  }

  /// Waits until the operation has a place. Returns false if it has ended before.
  private func begun() async -> Bool {
    while true {
      switch SchedulingLock.withLock({ self.begin() }) {
      case .begin: return true
      case .over: return false
      case .wait: await self.admitted()
      }
    }
  }

  private func begin() -> Beginning {
    switch self.state.phase {
    case .admitted:
      self.state.phase = .preparing
      self.state.task = RunTask.current
      if !self.state.prerequisites.isEmpty { self.settleDependencies() }
      return .begin
    case .new, .waiting, .ready:
      return .wait
    case .preparing, .running, .ending, .ended:
      return .over
    }
  }

  private func admitted() async {
    await withUnsafeContinuation { continuation in
      let isOver = SchedulingLock.withLock {
        if self.state.phase == .admitted || self.isOver { return true }
        self.state.continuation = continuation
        return false
      }
      if isOver { continuation.resume() }
    }
  }

  /// Keeps how the prerequisites have ended, instead of the prerequisites.
  private func settleDependencies() {
    // Nothing of the user's is released: the ended prerequisites own nothing anymore.
    self.state.dependencies = self.state.prerequisites.map {
      FinishedDependency(name: $0.name, outcome: $0.node.state.outcome ?? .succeeded)
    }
    self.state.prerequisites = []
  }

  private func enterScope() -> RunScope {
    SchedulingLock.withLock {
      let scope = RunScope(parent: self.core.machine.groupScope, operationType: self.operationType, place: self)
      scope.waitingScopes = self.state.adopters
      self.state.scope = scope
      return scope
    }
  }
}

// MARK: - The place

extension ScheduledNode: RunPlace {
  func lend() {
    SchedulingLock.perform { actions in
      guard !self.isOver else { return }
      self.state.lendCount += 1
      self.core.takePlace(from: self, &actions)
    }
  }

  func reclaim(isolation: isolated (any Actor)?) async {
    let isCancelled = Task.isCancelled
    let hasPlace = SchedulingLock.withLock {
      guard !self.isOver else { return true }
      self.state.lendCount -= 1
      return self.core.reclaim(self, isCancelled: isCancelled)
    }
    if hasPlace { return }
    await withTaskCancellationHandler {
      await self.waitForPlace(isolation: isolation)
    } onCancel: {
      SchedulingLock.perform { actions in
        guard let continuation = self.leaveReturning() else { return }
        actions.resumptions.append(continuation)
      }
    }
  }

  private func waitForPlace(isolation: isolated (any Actor)?) async {
    await withUnsafeContinuation { continuation in
      let hasPlace = SchedulingLock.withLock {
        // Another wait inside of this run may have a place for it by now, or wait for one.
        if self.state.continuation != nil { return true }
        if self.core.reclaim(self, isCancelled: false) { return true }
        self.state.continuation = continuation
        self.state.returningTicket = self.core.machine.nextTicket()
        self.core.machine.returning.append(self, ticket: self.state.returningTicket)
        return false
      }
      if hasPlace { return continuation.resume() }
      // The task may have been cancelled before it waited.
      if Task.isCancelled, let continuation = SchedulingLock.withLock({ self.leaveReturning() }) {
        continuation.resume()
      }
    }
  }

  /// Takes a place above the limit for a cancelled operation that waits for one. Returns its continuation.
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

  /// The same, under the lock.
  func cancel(_ actions: inout SchedulingActions) {
    guard !self.isOver, !self.state.isCancelled else { return }
    self.state.isCancelled = true
    if self.hasBegun {
      if let task = self.state.task { actions.cancellations.append(task) }
    } else {
      self.core.end(self, .cancelled(CancellationError()), &actions)
    }
  }

  /// Ends an operation that has not begun, with an error.
  func fail(_ error: any Error, _ actions: inout SchedulingActions) {
    guard !self.hasBegun else { return }
    self.core.end(self, .failed(error), &actions)
  }
}
