public import OperationCore
public import Testing

/// Checks that an interceptor of calls follows the rules that callers rely on; each broken rule is an issue of the test.
///
/// ```swift
/// @Test func keepsTheRules() async throws {
///   try await checkStoreCallInterceptor(answeringAfter: .seconds(1)) { LastValue(patience: .seconds(1)) }
/// }
/// ```
///
/// ``StoreCallInterceptorRule`` lists the rules: each call gets an answer (`answering`), the first one of a store that of
/// its run (`outcome`). A cancelled call ends (`cancellation`), a run that is left goes on (`ownership`), other
/// interceptors get the call and the answer (`nesting`), and stores do not get answers of others (`independence`).
///
/// The check makes stores of a scripted query, which share runs and take their time from a ``ManualClock``.
///
/// - Parameters:
///   - rules: The rules to check.
///   - exceptions: Rules that the interceptor breaks on purpose.
///   - patience: After how long a call gets the value of the state in place of that of its run; nil if it waits to the
///     end.
///   - limit: The longest time for each wait; nil for ten seconds, unless ``Testing/Trait/waitLimit(_:)`` is set.
///   - sourceLocation: Where issues are reported.
///   - make: Makes an interceptor that passes a first call on at once. Called once for each rule.
/// - Throws: `CancellationError` when the task is cancelled, and the errors of `make`.
public func checkStoreCallInterceptor<Interceptor: StoreCallInterceptor>(
  _ rules: some Sequence<StoreCallInterceptorRule> = StoreCallInterceptorRule.allCases,
  except exceptions: Set<StoreCallInterceptorRule> = [],
  answeringAfter patience: Duration? = nil,
  within limit: Duration? = nil,
  sourceLocation: SourceLocation = #_sourceLocation,
  _ make: () async throws -> Interceptor
) async throws {
  for rule in rules where !exceptions.contains(rule) {
    let interceptor = try await make()
    let report = RuleReport("call interceptor", rule: rule, within: limit, at: sourceLocation)
    let check = InterceptorCheck(interceptor: interceptor, patience: patience, report: report)
    // An interceptor that breaks a rule may leave runs suspended.
    defer { check.script.end(with: .failure(CancellationError())) }
    try await report.perform { try await check.perform(rule) }
  }
}

private struct InterceptorCheck: Sendable {
  typealias Store = OperationStore<QueryState<Int, any Error>>

  let interceptor: any StoreCallInterceptor
  let patience: Duration?
  let report: RuleReport
  let script = OperationScript<Int, any Error>()
  private let clock = ManualClock()

  init(interceptor: any StoreCallInterceptor, patience: Duration?, report: RuleReport) {
    self.interceptor = interceptor
    self.patience = patience
    self.report = report
  }

  func perform(_ rule: StoreCallInterceptorRule) async throws {
    switch rule {
    case .answering: try await self.checkAnswers()
    case .outcome: try await self.checkOutcomes()
    case .cancellation: try await self.checkCancellation(of: self.store(), "a cancelled call to end")
    case .ownership: try await self.checkOwnership()
    case .nesting: try await self.checkNesting()
    case .independence: try await self.checkIndependence()
    }
  }

  private var limit: Duration { self.report.limit }

  private func store(around: [any StoreCallInterceptor] = [], inside: [any StoreCallInterceptor] = []) -> Store {
    let interceptors = around + [self.interceptor] + inside
    let query = self.script.query().context { context in
      context.callInterceptors = interceptors
      context.operationRunSharing = OperationRunSharing()
    }
    return .detached(query: query.manualTime(self.clock))
  }

  private func call(_ store: Store) -> Task<Int, any Error> { Task.immediate { try await store.fetch() } }

  private func nextRun() async throws -> ScriptedRun<Int, any Error> {
    try await self.script.nextRun(within: self.limit)
  }

  /// The outcome of a call; nil, and a broken rule, if it does not end.
  private func end(
    of call: Task<Int, any Error>,
    _ what: String,
    _ remedy: String
  ) async throws -> Result<Int, any Error>? {
    var end: Result<Int, any Error>?
    _ = try await self.report.waits(remedy) {
      end = try await outcome(of: what, within: self.limit) { try await call.value }
    }
    if end == nil { call.cancel() }
    return end
  }
}

// MARK: - The checks

extension InterceptorCheck {
  private func checkAnswers() async throws {
    let store = self.store()
    let remedy = "Return the answer of `proceed()`, or another one."
    for number in 1...2 {
      let calls = (0..<3).map { _ in self.call(store) }
      let run = try await self.nextRun()
      if number == 1 { run.succeed(number) } else { run.fail(ScriptedFailure(number: number)) }
      let end = number == 1 ? "returned" : "failed"
      for call in calls {
        _ = try await self.end(of: call, "each of three calls to get an answer after their run has \(end)", remedy)
      }
    }
  }

  private func checkOutcomes() async throws {
    let remedy = "Return the answer of `proceed()` if there is nothing better."
    let call = self.call(self.store())
    try await self.nextRun().succeed(1)
    let value = try await self.end(of: call, "a call to end after its run", remedy)
    self.report.expect(
      value == nil || (try? value?.get()) == 1,
      "the run of the first call returned 1, and the caller got \(value.text). \(remedy)"
    )
    let failing = self.call(self.store())
    try await self.nextRun().fail(ScriptedFailure(number: 2))
    let error = try await self.end(of: failing, "a call to end after its run", remedy)
    guard case .failure(let failure)? = error, failure is ScriptedFailure else {
      return self.report.expect(
        error == nil,
        "the run of a store without a value failed, and the caller got \(error.text). \(remedy)"
      )
    }
  }

  private func checkCancellation(of store: Store, _ what: String) async throws {
    let remedy = "Call `proceed()` in the task of the call, where the cancellation reaches it."
    let call = self.call(store)
    let run = try await self.nextRun()
    call.cancel()
    _ = try await self.report.waits(remedy) {
      try await run.cancellation(within: self.limit)
    }
    let end = try await self.end(of: call, what, remedy)
    guard case .failure(let error)? = end, error is CancellationError else {
      return self.report.expect(end == nil, "a cancelled caller got \(end.text). \(remedy)")
    }
  }

  private func checkOwnership() async throws {
    let store = self.store()
    store.currentValue = 1
    let call = self.call(store)
    let run = try await self.nextRun()
    let remedy = "Wait with `proceed(within:)`, and answer without ending that wait by a cancellation."
    if let patience {
      self.clock.advance(by: patience)
      _ = try await self.end(of: call, "a call to get an answer after \(patience), before its run ends", remedy)
    }
    run.succeed(2)
    _ = try await self.end(of: call, "a call to end after its run", remedy)
    await store.settled()
    self.report.expect(
      store.currentValue == 2,
      "a run returned 2 after its caller was answered, and the state has \(store.currentValue ?? 0). \(remedy)"
    )
  }

  private func checkNesting() async throws {
    let remedy = "Pass the call on with `proceed()`, and return that answer."
    let (inner, outer) = (CountingInterceptor(), CountingInterceptor())
    let store = self.store(around: [outer], inside: [inner])
    let call = self.call(store)
    try await self.nextRun().succeed(1)
    let value = try await self.end(of: call, "a call to end between two other interceptors", remedy)
    self.report.expect(
      inner.count == 1 && outer.lastValue == 1 && (value.map { (try? $0.get()) == 1 } ?? true),
      """
      the interceptor inside got the first call of a store \(inner.count) times, and the one outside got \
      \(outer.lastValue.map { "\($0)" } ?? "no value"). \(remedy)
      """
    )
    let patient = self.store(around: [ImpatientInterceptor()], inside: [inner])
    let slow = self.call(patient)
    try await self.nextRun().succeed(3)
    let late = try await self.end(of: slow, "a call to end whose outer interceptor waits twice", remedy)
    self.report.expect(
      late.map { (try? $0.get()) == 3 } ?? true,
      "an interceptor outside has waited twice for the run that returned 3, and got \(late.text). \(remedy)"
    )
    let cancelled = self.store(around: [ImpatientInterceptor()])
    try await self.checkCancellation(of: cancelled, "a cancelled call to end inside of another interceptor")
  }

  private func checkIndependence() async throws {
    let remedy = "Keep what belongs to a store by its path, or make an interceptor for each store."
    for number in 1...2 {
      let call = self.call(self.store())
      try await self.nextRun().succeed(number)
      let value = try await self.end(of: call, "a call to end after its run", remedy)
      self.report.expect(
        value == nil || (try? value?.get()) == number,
        "the run of store \(number) returned \(number), and its first caller got \(value.text). \(remedy)"
      )
    }
  }
}

extension Result<Int, any Error>? {
  fileprivate var text: String {
    switch self {
    case .success(let value)?: "\(value)"
    case .failure(let error)?: "\(error)"
    case nil: "nothing"
    }
  }
}

// MARK: - Other interceptors

/// Counts the calls, and keeps the last value.
private final class CountingInterceptor: StoreCallInterceptor {
  private let state = Locked((count: 0, lastValue: Int?.none))

  var count: Int { self.state.withLock { $0.count } }
  var lastValue: Int? { self.state.withLock { $0.lastValue } }

  nonisolated(nonsending) func call(_ call: StoreCall) async -> StoreCallAnswer {
    self.state.withLock { $0.count += 1 }
    let answer = await call.proceed()
    self.state.withLock { $0.lastValue = answer.outcome.value(as: Int.self) }
    return answer
  }
}

/// Waits in vain, which puts the interceptor inside into a task of its own, and then to the end.
private final class ImpatientInterceptor: StoreCallInterceptor {
  nonisolated(nonsending) func call(_ call: StoreCall) async -> StoreCallAnswer {
    _ = await call.proceed(within: .zero)
    return await call.proceed()
  }
}
