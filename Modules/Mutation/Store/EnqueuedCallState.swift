package import OperationCore

/// What the parts of an enqueued call share.
final class EnqueuedCallState<Value: Sendable, Failure: Error>: Sendable {
  private struct State: Sendable {
    var task: Task<Void, Never>?
    var isCancelled = false
  }

  let operationName: String
  let acceptance = CallAcceptance()
  let outcome = AwaitedByMany<Result<Value, Failure>>()
  private let state = Locked(State())

  init(operationName: String) {
    self.operationName = operationName
  }

  /// Begins the call in a task of its own, on the thread of the caller.
  func begin(_ body: nonisolated(nonsending) @escaping @Sendable () async throws(Failure) -> Value) {
    let task = Task.immediate {
      do throws(Failure) {
        let value = try await body()
        self.end(.success(value))
      } catch {
        self.end(.failure(error))
      }
    }
    let isCancelled = self.state.withLock { state in
      state.task = task
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
  }

  private func end(_ outcome: Result<Value, Failure>) {
    switch outcome {
    case .success: self.acceptance.runDidEnd(.success(()))
    case .failure(let error): self.acceptance.runDidEnd(.failure(error))
    }
    self.outcome.decide(outcome)
  }

  func cancel() {
    let task = self.state.withLock { state in
      state.isCancelled = true
      return state.task
    }
    task?.cancel()
  }
}

/// Whether an enqueued call is accepted, and which calls it comes behind.
package final class CallAcceptance: Sendable {
  private struct State: Sendable {
    var run: OperationTaskIdentifier?
    var ahead: CallOrder.Membership?
    var isBeingStored = false
  }

  let outcome = AwaitedByMany<Result<Void, any Error>>()
  private let state = Locked(State())

  /// Decides whether the call is accepted, unless that is decided.
  package func decide(_ outcome: Result<Void, any Error>) {
    self.outcome.decide(outcome)
  }

  /// Notes that a journal stores the call and decides then, also if the run ends before.
  package func beginStoring() { self.state.withLock { $0.isBeingStored = true } }

  /// Decides by the end of the run, unless a journal decides.
  func runDidEnd(_ outcome: Result<Void, any Error>) {
    if !self.state.withLock({ $0.isBeingStored }) { self.decide(outcome) }
  }

  /// Whether the current task is part of a call that this one comes behind.
  var isBehindCurrentTask: Bool { self.state.withLock { $0.ahead }?() ?? false }

  /// Notes the run of the call. A mutation that is called inside of that run, with its context, is another call.
  ///
  /// - Returns: The call; nil if it has another run.
  func claim(by run: OperationTaskIdentifier?) -> CallAcceptance? {
    let isClaimed = self.state.withLock { state in
      guard state.run == nil else { return false }
      state.run = run
      return true
    }
    return isClaimed ? self : nil
  }

  /// Notes which calls the call comes behind.
  func note(ahead: @escaping CallOrder.Membership) {
    self.state.withLock { $0.ahead = ahead }
  }

  package func belongs(to run: OperationTaskIdentifier?) -> Bool {
    self.state.withLock { $0.run != nil && $0.run == run }
  }
}

extension OperationContext {
  /// The enqueued call that is made with this context; nil for other calls.
  package var enqueuedCall: CallAcceptance? {
    get { self[EnqueuedCallKey.self] }
    set { self[EnqueuedCallKey.self] = newValue }
  }

  /// The enqueued call that a run with this context makes; nil for other runs.
  package var enqueuedCallOfRun: CallAcceptance? {
    guard let call = self.enqueuedCall, call.belongs(to: self.operationRunningTaskIdentifier) else { return nil }
    return call
  }

  private enum EnqueuedCallKey: Key {
    static let defaultValue: CallAcceptance? = nil
  }
}

/// An outcome that any number of tasks wait for. The first outcome counts.
final class AwaitedByMany<Outcome: Sendable>: Sendable {
  private struct State: Sendable {
    var outcome: Outcome?
    var waiters: [AwaitedOutcome<Outcome?>] = []
  }

  private let state = Locked(State())

  var isDecided: Bool { self.state.withLock { $0.outcome != nil } }

  func decide(_ outcome: Outcome) {
    let waiters = self.state.withLock { state -> [AwaitedOutcome<Outcome?>] in
      guard state.outcome == nil else { return [] }
      state.outcome = outcome
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.decide(outcome) }
  }

  /// Waits for the outcome. Returns nil if the current task is cancelled before.
  nonisolated(nonsending) func value() async -> Outcome? {
    if let outcome = self.state.withLock({ $0.outcome }) { return outcome }
    let waiter = self.wait()
    let outcome = await waiter.value(cancelled: nil)
    if outcome == nil { self.state.withLock { $0.waiters.removeAll { $0 === waiter } } }
    return outcome
  }

  /// Waits for the outcome, also in a cancelled task.
  nonisolated(nonsending) func valueAtEnd() async -> Outcome {
    guard let outcome = await self.wait().value() else {
      preconditionFailure("A wait that a cancellation does not end ends with an outcome.")
    }
    return outcome
  }

  private func wait() -> AwaitedOutcome<Outcome?> {
    let waiter = AwaitedOutcome<Outcome?>()
    let outcome = self.state.withLock { state in
      if state.outcome == nil { state.waiters.append(waiter) }
      return state.outcome
    }
    if let outcome { waiter.decide(outcome) }
    return waiter
  }
}
