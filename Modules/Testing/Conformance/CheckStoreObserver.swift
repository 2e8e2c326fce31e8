public import OperationCore
public import Testing

/// Checks that an observer of stores follows the rules that stores rely on; each broken rule is an issue of the test.
///
/// ```swift
/// @Test func keepsTheRules() async throws {
///   try await checkStoreObserver { RunMetrics() }
/// }
/// ```
///
/// ``StoreObserverRule`` lists the rules. The check makes a client, and stores of queries with `Int` values, which it runs,
/// sets, invalidates and removes.
///
/// - Parameters:
///   - rules: The rules to check.
///   - exceptions: Rules that the observer breaks on purpose.
///   - limit: The longest time for each wait; nil for ten seconds, unless ``Testing/Trait/waitLimit(_:)`` is set.
///   - sourceLocation: Where issues are reported.
///   - make: Makes an observer. Called once for each rule.
/// - Throws: `CancellationError` when the task is cancelled, and the errors of `make`.
public func checkStoreObserver<Observer: StoreObserver>(
  _ rules: some Sequence<StoreObserverRule> = StoreObserverRule.allCases,
  except exceptions: Set<StoreObserverRule> = [],
  within limit: Duration? = nil,
  sourceLocation: SourceLocation = #_sourceLocation,
  _ make: () async throws -> Observer
) async throws {
  try await checkStoreValueObserver(
    rules,
    except: exceptions,
    values: 1,
    2,
    within: limit,
    sourceLocation: sourceLocation,
    make
  )
}

/// Checks an observer of stores with values of a type, as `checkStoreObserver` does.
///
/// For a ``/OperationCore/StoreValueObserver`` it also checks that what the observer no longer needs is released after the lock.
///
/// - Parameters:
///   - rules: The rules to check.
///   - exceptions: Rules that the observer breaks on purpose.
///   - first: A value of the stores.
///   - second: Another value of the stores.
///   - limit: The longest time for each wait; nil for ten seconds, unless ``Testing/Trait/waitLimit(_:)`` is set.
///   - sourceLocation: Where issues are reported.
///   - make: Makes an observer. Called once for each rule.
/// - Throws: `CancellationError` when the task is cancelled, and the errors of `make`.
public func checkStoreValueObserver<Observer: StoreObserver, Value: Sendable>(
  _ rules: some Sequence<StoreObserverRule> = StoreObserverRule.allCases,
  except exceptions: Set<StoreObserverRule> = [],
  values first: Value,
  _ second: Value,
  within limit: Duration? = nil,
  sourceLocation: SourceLocation = #_sourceLocation,
  _ make: () async throws -> Observer
) async throws {
  for rule in rules where !exceptions.contains(rule) {
    let observer = try await make()
    let report = RuleReport("store observer", rule: rule, within: limit, at: sourceLocation)
    let check = StoreObserverCheck(observer: observer, first: first, second: second, report: report)
    try await report.perform { try await check.perform(rule) }
  }
}

private struct StoreObserverCheck<Observer: StoreObserver, Value: Sendable>: Sendable {
  private typealias State = QueryState<Value, any Error>

  private let observer: Observer
  private let first: Value
  private let second: Value
  private let report: RuleReport
  private let client = OperationClient()
  private let lifetimes = LifetimeTracker()
  private let script: OperationScript<Value, any Error>

  init(observer: Observer, first: Value, second: Value, report: RuleReport) {
    self.observer = observer
    self.first = first
    self.second = second
    self.report = report
    self.script = OperationScript(default: .value(first))
  }

  func perform(_ rule: StoreObserverRule) async throws {
    let observation = self.client.observe(with: self.observer)
    defer { observation.cancel() }
    switch rule {
    case .kinds: self.checkKinds()
    case .release: try await self.checkRelease()
    case .threads: try await self.checkThreads()
    case .drops: try await self.checkDrops()
    }
  }

  /// Makes or finds a store, which is counted while it is alive.
  private func store(_ number: Int) -> OperationStore<State> {
    let token = self.lifetimes.token()
    let query = self.script.query(path: ["checkStoreObserver", number])
    return self.client.store(for: query.context { _ in token.touch() })
  }

  /// Lets everything happen to a store that can be observed.
  private func use(_ store: OperationStore<State>) async {
    let subscription = store.subscribe(with: OperationEventHandler())
    store.currentValue = self.first
    _ = try? await store.fetch()
    store.setResult(to: .failure(ScriptedFailure(number: 1)))
    self.client.invalidate(matching: store.path)
    store.currentValue = self.second
    subscription.cancel()
    store.resetState()
  }
}

// MARK: - The checks

extension StoreObserverCheck {
  private func checkKinds() {
    let kinds = [self.observer.observedEvents, self.observer.observedEvents]
    self.report.expect(
      kinds[0] == kinds[1],
      "`observedEvents` was \(kinds[0].rawValue), then \(kinds[1].rawValue). It is asked once: return a constant."
    )
  }

  private func checkRelease() async throws {
    await self.use(self.store(1))
    self.client.clearStores()
    _ = try await self.report.waits("Keep the `StoreReference`, which is weak, and not the store.") {
      try await self.lifetimes.release(
        within: self.report.limit,
        of: "a store that the client has removed to be released"
      )
    }
  }

  private func checkThreads() async throws {
    try await Threads.call(4, within: self.report.limit) { number in
      for round in 0..<50 {
        // The threads share stores.
        let store = self.store((number + round) % 5)
        store.currentValue = round % 2 == 0 ? self.first : self.second
        if round % 7 == 0 { self.client.invalidate(matching: store.path) }
        if round % 10 == 0 { _ = self.client.clearStore(with: store.path) }
      }
    }
  }

  private func checkDrops() async throws {
    let store = self.store(1)
    let probe = LockProbe(within: self.report.limit) { _ = store.state.isLoading }
    for _ in 0..<3 {
      let released = ReleaseProbe { probe.probe("an error was released") }
      store.setResult(to: .failure(ProbingFailure(probe: released)))
      store.currentValue = self.second
    }
    store.resetState()
    self.report.expect(
      probe.finding == nil,
      "\(probe.finding ?? "") with the lock of the store held. Return what you no longer need from `storeShows(_:of:)`."
    )
  }
}

/// An error that is noticed when it is released.
private struct ProbingFailure: Error {
  let probe: ReleaseProbe
}
