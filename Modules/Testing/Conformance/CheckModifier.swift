internal import OperationBackoff
public import OperationCore
internal import OperationEvents
public import Testing

/// Checks that a modifier follows the rules that other modifiers rely on; each broken rule is an issue of the test.
///
/// ```swift
/// @Test func keepsTheRules() async throws {
///   try await checkModifier { $0.logged() }
/// }
/// ```
///
/// - Parameters:
///   - rules: The rules to check.
///   - exceptions: Rules that the modifier breaks on purpose.
///   - context: The initial context of the operation, made anew for each rule. By default its delays take no time.
///   - limit: The longest time for each wait; nil for ten seconds, unless ``Testing/Trait/waitLimit(_:)`` is set.
///   - sourceLocation: Where issues are reported.
///   - modify: Applies the modifier. Called once for each rule.
/// - Throws: `CancellationError` when the task is cancelled.
public func checkModifier<Modified: StatefulOperationRequest<QueryState<Int, any Error>>>(
  _ rules: some Sequence<ModifierRule> = ModifierRule.allCases,
  except exceptions: Set<ModifierRule> = [],
  in context: @autoclosure () -> OperationContext = .withoutDelays,
  within limit: Duration? = nil,
  sourceLocation: SourceLocation = #_sourceLocation,
  _ modify: (ScriptedQuery<Int, any Error>) -> Modified
) async throws where Modified.Value == Int, Modified.Failure == any Error {
  for rule in rules where !exceptions.contains(rule) {
    let script = OperationScript<Int, any Error>(default: rule.defaultOutcome)
    let query = script.query()
    let check = ModifierCheck(
      rule: rule,
      script: script,
      original: query.path,
      modified: modify(query),
      context: context(),
      report: RuleReport("modifier", rule: rule, within: limit, at: sourceLocation)
    )
    try await check.perform()
  }
}

extension OperationContext {
  /// An empty context whose delays take no time.
  public static var withoutDelays: OperationContext {
    var context = OperationContext()
    context.operationDelayer = NoDelayer()
    return context
  }
}

extension ModifierRule {
  fileprivate var defaultOutcome: OperationScript<Int, any Error>.Outcome {
    switch self {
    case .value, .path, .setup: .value(1)
    case .error: .error(ScriptedFailure(number: 1))
    case .yields:
      .yield(
        .success(1),
        then: .yield(.failure(ScriptedFailure(number: 2)), then: .yield(.success(3), then: .value(4)))
      )
    case .context, .cancellation, .independence, .waits: .suspend
    }
  }
}

/// The error that the checks throw.
struct ScriptedFailure: Error, Hashable {
  let number: Int
}

/// A context entry that the checks write and compare.
private enum MarkKey: OperationContext.Key {
  static let defaultValue = 0
}

// MARK: - The checks

private struct ModifierCheck<Modified: StatefulOperationRequest<QueryState<Int, any Error>>>: Sendable
where Modified.Value == Int, Modified.Failure == any Error {
  let rule: ModifierRule
  let script: OperationScript<Int, any Error>
  let original: OperationPath
  let modified: Modified
  let context: OperationContext
  let report: RuleReport

  func perform() async throws {
    // A modifier that breaks a rule may leave runs suspended.
    defer { self.script.end(with: .failure(CancellationError())) }
    try await self.report.perform {
      switch self.rule {
      case .value: try await self.checkValue()
      case .error: try await self.checkError()
      case .yields: try await self.checkYields()
      case .setup: self.checkSetup()
      case .context: try await self.checkContext()
      case .cancellation: try await self.checkCancellation()
      case .independence: try await self.checkIndependence()
      case .waits: try await self.checkWaits()
      case .path:
        self.expect(self.modified.path == self.original, "the path became \(ShownText.of(self.modified.path))")
      }
    }
  }

  private var limit: Duration { self.report.limit }

  private func expect(_ isKept: Bool, _ what: @autoclosure () -> String) {
    self.report.expect(isKept, what())
  }

  private func runner() -> OperationRunner<Modified> {
    OperationRunner(operation: self.modified, initialContext: self.context)
  }

  private func run(
    _ runner: OperationRunner<Modified>,
    in context: OperationContext? = nil,
    with continuation: OperationContinuation<Int, any Error> = .init { _, _ in }
  ) async throws -> Result<Int, any Error> {
    try await outcome(of: "the run to return", within: self.limit) {
      try await runner.run(isolation: nil, in: context, with: continuation)
    }
  }

  private func checkValue() async throws {
    let result = try await self.run(self.runner())
    self.expect((try? result.get()) == 1, "the operation returned 1, the modified one \(result.outcome)")
  }

  private func checkError() async throws {
    let failure = ScriptedFailure(number: 1)
    let result = try await self.run(self.runner())
    guard case .failure(let error) = result, error as? ScriptedFailure == failure else {
      return self.expect(false, "the operation threw \(failure), the modified one \(result.outcome)")
    }
  }

  private func checkYields() async throws {
    let yields = AwaitableState<[String]>([])
    let result = try await self.run(
      self.runner(),
      with: OperationContinuation { result, _ in
        let text = result.outcome
        yields.change { $0.append(text) }
      }
    )
    let expected: [Result<Int, any Error>] = [.success(1), .failure(ScriptedFailure(number: 2)), .success(3)]
    self.expect(
      yields.current == expected.map(\.outcome),
      "the operation yielded \(expected.map(\.outcome)), the modified one \(yields.current)"
    )
    self.expect(
      (try? result.get()) == 4,
      "the operation returned 4 after its yields, the modified one \(result.outcome)"
    )
  }

  private func checkSetup() {
    _ = self.runner()
    let count = self.script.setupCount
    self.expect(
      count == 1,
      "the setup of the operation was called \(count) times. Call `operation.setup(context:)` once."
    )
  }

  private func checkContext() async throws {
    var context = OperationContext()
    context[MarkKey.self] = 7
    let running = self.begin(self.runner(), in: context)
    defer { running.cancel() }
    let run = try await self.nextRun()
    let mark = run.context[MarkKey.self]
    run.succeed(1)
    _ = try await self.result(of: running, "the run to return")
    self.expect(mark == 7, "an entry of the context was 7, and \(mark) in the operation. Pass the context on.")
  }

  private func checkCancellation() async throws {
    let running = self.begin(self.runner())
    defer { running.cancel() }
    let run = try await self.nextRun()
    running.cancel()
    do {
      try await run.cancellation(within: self.limit)
    } catch let error as WaitTimedOut {
      run.succeed(1)
      return self.expect(false, "the task was cancelled, the work was not. \(error)")
    }
    _ = try await self.result(of: running, "the call to return after its task was cancelled")
  }

  private func checkIndependence() async throws {
    let runner = self.runner()
    let runnings = (1...3).map { _ in self.begin(runner) }
    defer { for running in runnings { running.cancel() } }
    var runs: [ScriptedRun<Int, any Error>] = []
    for _ in runnings { runs.append(try await self.nextRun()) }
    // The runs end in another order than they began.
    for run in runs.reversed() { run.succeed(run.number) }
    var values: Set<Int> = []
    for running in runnings {
      if let value = try? await self.result(of: running, "the run to return").get() { values.insert(value) }
    }
    self.expect(
      values == [1, 2, 3],
      "three runs at the same time ended with 1, 2 and 3, the modified ones with \(values.sorted())"
    )
  }

  private func checkWaits() async throws {
    let client = OperationClient(defaultContext: self.context)
    let events = client.events
    let store = client.store(for: self.modified, initialState: QueryState(initialValue: nil))
    for isCancelled in [false, true] {
      let running = Task.immediate { try await store.run() }
      defer { running.cancel() }
      let run = try await self.nextRun()
      if isCancelled { running.cancel() }
      // Without effect on a run that the cancellation has ended.
      run.succeed(1)
      let waits = try await outcome(of: "the run to end", within: self.limit) { await events.waitsLeftByNextRun() }
        .get()
      self.expect(
        waits.isEmpty,
        "a run has ended, and waits for \(waits.joined(separator: ", ")). Call `context.endWait` in a `defer`."
      )
    }
  }

  private func begin(
    _ runner: OperationRunner<Modified>,
    in context: OperationContext? = nil
  ) -> Task<Int, any Error> {
    Task.immediate { try await runner.run(isolation: nil, in: context) }
  }

  private func nextRun() async throws -> ScriptedRun<Int, any Error> {
    try await self.script.nextRun(within: self.limit)
  }

  private func result(of task: Task<Int, any Error>, _ what: String) async throws -> Result<Int, any Error> {
    try await outcome(of: what, within: self.limit) { try await task.value }
  }
}

extension OperationEventSequence {
  /// Reads the events of a run, and returns the waits that the run has begun and not ended.
  fileprivate func waitsLeftByNextRun() async -> [String] {
    var (waits, iterator) = ([String](), self.makeAsyncIterator())
    while let event = await iterator.next() {
      switch event.what {
      case .waits(let subject): waits.append(subject)
      // The text may have changed meanwhile.
      case .waited(let subject, _) where !waits.isEmpty: waits.remove(at: waits.firstIndex(of: subject) ?? 0)
      case .runEnded: return waits
      default: break
      }
    }
    return waits
  }
}

extension Result {
  fileprivate var outcome: String {
    switch self {
    case .success(let value): "\(value)"
    case .failure(let error): "threw \(error)"
    }
  }
}
