public import OperationCore
internal import OperationFoundation
public import Testing

/// Checks that a kind of operations with a state of its own follows the rules of stores; each broken rule is an issue.
///
/// ```swift
/// @Test func keepsTheRules() async throws {
///   try await checkKind(returning: 20.5, 21) { script in
///     (ScriptedMeasurement(script), MeasurementState<Celsius>())
///   }
/// }
/// ```
///
/// ``KindRule`` lists the rules. The operation calls `OperationScript.run(in:with:)` where one of your kind does its work.
///
/// - Parameters:
///   - rules: The rules to check.
///   - exceptions: Rules that the kind breaks on purpose.
///   - first: A value that runs return. The text of a state's value has to tell it from `second`.
///   - second: Another value that runs return.
///   - context: The initial context of the stores, made anew for each rule. By default its delays take no time.
///   - limit: The longest time for each wait; nil for ten seconds, unless ``Testing/Trait/waitLimit(_:)`` is set.
///   - sourceLocation: Where issues are reported.
///   - make: Makes an operation that does the work of the script, and the initial state of its store. Called once for
///     each rule.
/// - Throws: `CancellationError` when the task is cancelled, and the errors of `make`.
public func checkKind<Operation: StatefulOperationRequest>(
  _ rules: some Sequence<KindRule> = KindRule.allCases,
  except exceptions: Set<KindRule> = [],
  returning first: Operation.Value,
  _ second: Operation.Value,
  in context: @autoclosure () -> OperationContext = .withoutDelays,
  within limit: Duration? = nil,
  sourceLocation: SourceLocation = #_sourceLocation,
  _ make: (OperationScript<Operation.Value, any Error>) async throws -> (
    operation: Operation, initialState: Operation.State
  )
) async throws where Operation.Failure == any Error, Operation.Value: Sendable {
  for rule in rules where !exceptions.contains(rule) {
    let script = OperationScript<Operation.Value, any Error>()
    let (operation, initialState) = try await make(script)
    let check = KindCheck(
      script: script,
      store: .detached(operation: operation, initialState: initialState, initialContext: context()),
      values: (first, second),
      report: RuleReport("kind", rule: rule, within: limit, at: sourceLocation)
    )
    // A state that breaks a rule may leave runs suspended.
    defer { script.end(with: .failure(ScriptedFailure(number: 0))) }
    try await check.report.perform { try await check.perform(rule) }
  }
}

private struct KindCheck<State: OperationState & Sendable>: Sendable
where State.Failure == any Error {
  typealias Value = State.OperationValue

  let script: OperationScript<Value, any Error>
  let store: OperationStore<State>
  let values: (Value, Value)
  let report: RuleReport

  func perform(_ rule: KindRule) async throws {
    switch rule {
    case .loading: try await self.checkLoading()
    case .value: try await self.checkValue()
    case .failure: try await self.checkFailure()
    case .cancellation: try await self.checkCancellation()
    case .replay: try await self.checkReplay()
    case .reset: try await self.checkReset()
    case .layers: try await self.checkLayers()
    }
  }

  private func expect(_ isKept: Bool, _ what: @autoclosure () -> String) {
    self.report.expect(isKept, what())
  }

  /// Runs the operation, whose work ends at once with a result.
  private func run(_ outcome: OperationScript<Value, any Error>.Outcome) async throws {
    self.script.enqueue(outcome)
    let store = self.store
    _ = try await OperationTesting.outcome(of: "a run to end", within: self.report.limit) { try await store.run() }
  }

  /// Begins a run that yields, unless nil is passed, and then waits. Cancel the task to cancel the run.
  private func begin(yielding value: Value? = nil) async throws -> (Task<Void, Never>, ScriptedRun<Value, any Error>) {
    self.script.enqueue(value.map { .yield(.success($0), then: .suspend) } ?? .suspend)
    let store = self.store
    let task = Task.immediate { _ = try? await store.run() }
    return (task, try await self.script.nextRun(within: self.report.limit))
  }

  private func end(_ task: Task<Void, Never>) async throws {
    _ = try await OperationTesting.outcome(of: "a run to end", within: self.report.limit) { await task.value }
  }
}

// MARK: - The checks

extension KindCheck {
  private func checkLoading() async throws {
    self.expect(!self.store.state.isLoading, "the initial state is loading.")
    let (task, run) = try await self.begin()
    self.expect(
      self.store.state.isLoading,
      "the state is not loading while a run is under way. Keep the task in `scheduleFetchTask(_:)`."
    )
    run.succeed(self.values.0)
    try await self.end(task)
    self.expect(
      !self.store.state.isLoading,
      "the state is loading after the run has ended. Remove the task in `finishFetchTask(_:)`."
    )
  }

  private func checkValue() async throws {
    try await self.run(.error(ScriptedFailure(number: 1)))
    try await self.run(.value(self.values.0))
    let first = self.store.state
    self.expect(
      first.valueUpdateCount == 1,
      "a run returned a value, and \(first.valueUpdateCount) updates are counted."
    )
    self.expect(first.valueLastUpdatedAt != nil, "a run returned a value, which has no date.")
    self.expect(first.error == nil, "a run returned a value, and the error before it is still there.")
    try await self.run(.value(self.values.1))
    let second = self.store.state
    self.expect(
      "\(first.currentValue)" != "\(second.currentValue)",
      "runs returned two values, and the state has the same text with both: \(second.currentValue)."
    )
  }

  private func checkFailure() async throws {
    try await self.run(.value(self.values.0))
    let before = self.store.state
    try await self.run(.error(ScriptedFailure(number: 1)))
    let after = self.store.state
    self.expect(
      (after.error as? ScriptedFailure)?.number == 1,
      "a run threw an error, and the state has \(after.error.map { "\($0)" } ?? "none")."
    )
    self.expect(after.errorUpdateCount == 1, "a run threw an error, and \(after.errorUpdateCount) are counted.")
    self.expect(after.errorLastUpdatedAt != nil, "a run threw an error, which has no date.")
    self.expect(
      "\(before.currentValue)" == "\(after.currentValue)" && before.valueUpdateCount == after.valueUpdateCount,
      "a run threw an error, and the value became \(after.currentValue). Leave the value as it is."
    )
  }

  private func checkCancellation() async throws {
    try await self.run(.value(self.values.0))
    let before = StateText(self.store.state)
    let (task, _) = try await self.begin(yielding: self.values.1)
    task.cancel()
    try await self.end(task)
    let after = StateText(self.store.state)
    self.expect(
      before == after,
      "a run yielded and was cancelled, and the state became \(after), from \(before). Change nothing outside of the state."
    )
  }

  private func checkReplay() async throws {
    try await self.run(.value(self.values.0))
    let first = self.store.state.currentValue
    try await self.run(.value(self.values.1))
    let (task, _) = try await self.begin(yielding: self.values.1)
    self.store.setResult(to: .success(first))
    task.cancel()
    try await self.end(task)
    let state = self.store.state
    self.expect(
      "\(state.currentValue)" == "\(first)",
      "\(first) was set during a run that was then cancelled, and the value became \(state.currentValue)."
    )
    self.expect(
      state.valueUpdateCount == 3,
      "two runs returned values, one was set, and \(state.valueUpdateCount) updates are counted."
    )
  }

  private func checkReset() async throws {
    let initial = StateText(self.store.state)
    try await self.run(.error(ScriptedFailure(number: 1)))
    try await self.run(.value(self.values.0))
    let (task, run) = try await self.begin()
    self.store.resetState()
    let after = StateText(self.store.state)
    self.expect(after == initial, "after a reset the state is \(after), and was \(initial) when the store was made.")
    let remedy = "Return the tasks of all runs from `reset(using:)`."
    if try await self.report.waits(remedy, for: { try await run.cancellation(within: self.report.limit) }) {
      try await self.end(task)
    }
  }

  private func checkLayers() async throws {
    try await self.run(.value(self.values.0))
    guard let state = self.store.state as? any OverlayableState else { return }
    self.checkLayers(of: state)
  }

  private func checkLayers<Overlayable: OverlayableState>(of state: Overlayable) {
    var copy = state
    copy.replaceValue(with: state.initialValue)
    self.expect(
      "\(copy.currentValue)" == "\(state.initialValue)",
      "the value was replaced by \(state.initialValue), and is \(copy.currentValue)."
    )
    let (before, after) = (StateText(state, value: ""), StateText(copy, value: ""))
    self.expect(before == after, "the value was replaced temporarily, and the rest became \(after), from \(before).")
  }
}

/// A state as text, for comparing states whose values cannot be compared.
private struct StateText: Equatable, CustomStringConvertible {
  let description: String

  init<State: OperationState>(_ state: State, value: String? = nil) {
    let value = value ?? "\(state.currentValue), "
    let error = state.error.map { "\($0)" } ?? "none"
    self.description = """
      \(value)\(state.valueUpdateCount) updates (\(Self.text(state.valueLastUpdatedAt?.timeIntervalSinceReferenceDate))), \
      error \(error), \(state.errorUpdateCount) errors \
      (\(Self.text(state.errorLastUpdatedAt?.timeIntervalSinceReferenceDate))), \(state.isLoading ? "loading" : "at rest")
      """
  }

  private static func text(_ date: Double?) -> String { date.map { "\($0)" } ?? "never" }
}
