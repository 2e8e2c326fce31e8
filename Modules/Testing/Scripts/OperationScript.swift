public import OperationCore
public import Testing

/// The work of an operation, controlled run by run by a test.
///
/// ```swift
/// let script = OperationScript<Int, any Error>()
/// let store = OperationStore.detached(query: script.query().retry(limit: 1))
/// script.enqueue(.error(Refused()))                    // The first run fails at once.
/// let fetch = Task { try await store.fetch() }
/// let run = try await script.next()                    // The test controls the second run.
/// run.yield(1)
/// run.succeed(2)
/// #expect(try await fetch.value == 2)
/// ```
///
/// A run takes the first outcome in the queue, or the default outcome if the queue is empty.
public final class OperationScript<Value: Sendable, Failure: Error>: Sendable {
  /// The behaviour of a run.
  @nonexhaustive(warn)
  public indirect enum Outcome: Sendable {
    /// The run returns a value at once.
    case value(Value)
    /// The run throws an error at once.
    case error(Failure)
    /// The run waits for the test, which receives it from ``OperationScript/next(within:sourceLocation:)``.
    case suspend
    /// The run yields a result, and then continues with another outcome.
    case yield(Result<Value, Failure>, then: Outcome)
  }

  struct State: Sendable {
    var outcomes: [Outcome] = []
    /// The suspended runs that the test has not received yet.
    var suspended: [ScriptedRun<Value, Failure>] = []
    /// The suspended runs that have not ended.
    var active: [Int: ScriptedRun<Value, Failure>] = [:]
    /// The result that ends all runs from now on.
    var end: Result<Value, Failure>?
    var runCount = 0
    var endCount = 0
    var setupCount = 0
  }

  let state = AwaitableState(State())
  private let defaultOutcome: Outcome
  private let endsOnCancellation: Bool

  /// Creates a script.
  ///
  /// - Parameters:
  ///   - defaultOutcome: The outcome of runs for which none is enqueued.
  ///   - endsOnCancellation: Whether a suspended run that is cancelled ends by itself, with `CancellationError` if
  ///     `Failure` can be that error. Pass false to simulate an operation that ignores its cancellation.
  public init(default defaultOutcome: Outcome = .suspend, endsOnCancellation: Bool = true) {
    self.defaultOutcome = defaultOutcome
    self.endsOnCancellation = endsOnCancellation
  }
}

extension OperationScript {
  /// Adds outcomes for the next runs, one for each, in order.
  public func enqueue(_ outcomes: Outcome...) {
    self.enqueue(outcomes)
  }

  /// Adds outcomes for the next runs, one for each, in order.
  public func enqueue(_ outcomes: some Sequence<Outcome>) {
    let outcomes = Array(outcomes)
    self.state.change { $0.outcomes += outcomes }
  }

  /// The number of runs that have started.
  public var runCount: Int { self.state.current.runCount }

  /// The number of runs that have started and not ended.
  public var activeRunCount: Int {
    let state = self.state.current
    return state.runCount - state.endCount
  }

  /// How often operations of this script have set up a context.
  public var setupCount: Int { self.state.current.setupCount }
}

// MARK: - Waiting

extension OperationScript {
  /// Waits for the next run that suspends.
  ///
  /// - Parameters:
  ///   - limit: The longest time to wait; nil for ``WaitLimit/current``.
  ///   - sourceLocation: Where an issue is reported.
  /// - Returns: The run. Each run is returned once, in the order in which the runs started.
  /// - Throws: ``WaitTimedOut``, which is also an issue of the test, or `CancellationError`.
  public func next(
    within limit: Duration? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> ScriptedRun<Value, Failure> {
    try await recordingTimeOut(at: sourceLocation) { try await self.nextRun(within: limit ?? WaitLimit.current) }
  }

  /// Like ``next(within:sourceLocation:)``, but records no issue.
  func nextRun(within limit: Duration) async throws -> ScriptedRun<Value, Failure> {
    try await self.state.wait(.cancellable(limit)) { state in
      "the next run of a scripted operation to begin and suspend; \(state.summary)"
    } until: { state in
      state.suspended.isEmpty ? nil : state.suspended.removeFirst()
    }
  }

  /// Waits until at least `count` runs have started.
  ///
  /// - Parameters:
  ///   - count: The number of runs, including those that have ended.
  ///   - limit: The longest time to wait; nil for ``WaitLimit/current``.
  ///   - sourceLocation: Where an issue is reported.
  /// - Throws: ``WaitTimedOut``, which is also an issue of the test, or `CancellationError`.
  public func runs(
    count: Int,
    within limit: Duration? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    try await self.wait(within: limit, at: sourceLocation) { state in
      "at least \(count) runs of a scripted operation to begin; \(state.summary)"
    } until: { state in
      state.runCount >= count ? () : nil
    }
  }

  /// Waits until all started runs have ended.
  ///
  /// - Parameters:
  ///   - limit: The longest time to wait; nil for ``WaitLimit/current``.
  ///   - sourceLocation: Where an issue is reported.
  /// - Throws: ``WaitTimedOut``, which is also an issue of the test, or `CancellationError`.
  public func noActiveRuns(
    within limit: Duration? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    try await self.wait(within: limit, at: sourceLocation) { state in
      "all runs of a scripted operation to end; \(state.summary)"
    } until: { state in
      state.runCount == state.endCount ? () : nil
    }
  }

  private func wait<R: Sendable>(
    within limit: Duration?,
    at sourceLocation: SourceLocation,
    for what: @escaping @Sendable (State) -> String,
    until condition: @escaping @Sendable (inout State) -> R?
  ) async throws -> R {
    try await recordingTimeOut(at: sourceLocation) {
      try await self.state.wait(.cancellable(limit ?? WaitLimit.current), for: what, until: condition)
    }
  }
}

extension OperationScript.State {
  fileprivate var summary: String {
    "\(self.runCount) have begun, \(self.endCount) have ended, \(self.outcomes.count) outcomes are enqueued"
  }
}

// MARK: - Running

extension OperationScript {
  /// Performs one run. ``ScriptedQuery`` calls it; call it in your own request types.
  public func run(
    in context: OperationContext,
    with continuation: OperationContinuation<Value, Failure>
  ) async throws(Failure) -> Value {
    defer { self.state.change { $0.endCount += 1 } }
    var (number, outcome) = self.state.change { state in
      state.runCount += 1
      return (state.runCount, state.outcomes.isEmpty ? self.defaultOutcome : state.outcomes.removeFirst())
    }
    while case .yield(let result, let next) = outcome {
      continuation.yield(with: result)
      outcome = next
    }
    switch outcome {
    case .value(let value): return value
    case .error(let error): throw error
    case .suspend, .yield: break
    }
    return try await self.suspend(number, in: context, with: continuation).get()
  }

  private func suspend(
    _ number: Int,
    in context: OperationContext,
    with continuation: OperationContinuation<Value, Failure>
  ) async -> Result<Value, Failure> {
    let run = ScriptedRun(number: number, context: context, continuation: continuation)
    let end = self.state.change { state in
      if state.end == nil {
        state.suspended.append(run)
        state.active[number] = run
      }
      return state.end
    }
    if let end { return end }
    let outcome = await run.outcome(endsOnCancellation: self.endsOnCancellation)
    let isTaken = self.state.change { state in
      state.active[number] = nil
      return !state.suspended.contains { $0 === run }
    }
    // Breaks a retain cycle: the context of the run may retain a store that retains the script.
    if !isTaken { run.forgetContext() }
    return outcome
  }

  /// Ends all suspended runs, and all runs that suspend later.
  func end(with result: Result<Value, Failure>) {
    let runs = self.state.change { state in
      state.end = result
      return Array(state.active.values)
    }
    for run in runs { run.finish(with: result) }
  }

  /// Counts a setup of a context. Operations of this script call it.
  public func noteSetup() {
    self.state.change { $0.setupCount += 1 }
  }
}
