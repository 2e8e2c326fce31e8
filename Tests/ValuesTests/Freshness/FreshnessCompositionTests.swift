import OperationBackoff
import OperationCircuitBreaker
import OperationCore
import OperationDedupe
import OperationFallback
import OperationFreshness
import OperationMutation
import OperationPagination
import OperationRetry
import OperationTesting
import OperationTimeout
import TestFixtures
import Testing

/// `.servesStale(softTimeout:maximumAge:)` and its relatives beside other modifiers.
@Suite(.bounded, .warningsAreIssues) struct FreshnessCompositionTests {
  private let clock = ManualClock()
  private let script = IntScript()

  private func store(_ query: some QueryRequest<Int, any Error>) -> IntStore {
    let store = IntStore.detached(query: query.manualTime(self.clock))
    store.currentValue = 1
    return store
  }

  @Test func `A caller gets the last value after the last attempt, or while the attempts go on`() async throws {
    let store = self.store(
      self.script.query().retry(limit: 1).backoff(.constant(.seconds(10)))
        .servesStale(softTimeout: .seconds(1), maximumAge: .seconds(600))
    )
    self.script.enqueue(.error(Refused()))
    let slow = Task { try await store.fetch() }
    try await self.clock.sleepers(count: 2)
    self.clock.advance(by: .seconds(1))
    try await expect(slow.value, equals: 1)
    self.clock.advance(by: .seconds(9))
    try await self.script.next().succeed(2)
    await store.settled()
    expect(store.currentValue, equals: 2)
    let failing = self.store(
      self.script.query().retry(limit: 2).backoff(.noBackoff).servesStale(
        softTimeout: .seconds(1),
        maximumAge: .seconds(600)
      )
    )
    self.script.enqueue(.error(Refused()), .error(Refused()), .error(Refused()))
    try await expect(failing.fetch(), equals: 1)
    expect(self.script.runCount, equals: 5)
  }

  @Test func `A timeout is a failure, and a caller gets the last value`() async throws {
    let store = self.store(
      self.script.query().timeout(.seconds(5)).servesStale(softTimeout: .seconds(60), maximumAge: .seconds(600))
    )
    let fetch = Task { try await store.fetch() }
    _ = try await self.script.next()
    try await self.clock.sleepers(count: 2)
    self.clock.advance(by: .seconds(5))
    try await expect(fetch.value, equals: 1)
    #expect(store.error is OperationTimedOut)
  }

  @Test func `An open circuit is a failure, and a caller gets the last value`() async throws {
    let breaker = CircuitBreaker(name: "freshness")
    breaker.isolate()
    let store = self.store(
      self.script.query().circuitBreaker(breaker).servesStale(softTimeout: .seconds(60), maximumAge: .seconds(600))
    )
    try await expect(store.fetch(), equals: 1)
    expect(self.script.runCount, equals: 0)
  }

  @Test func `A fallback comes before the last value`() async throws {
    let store = self.store(
      self.script.query().fallback(9).servesStale(softTimeout: .seconds(60), maximumAge: .seconds(600))
    )
    self.script.enqueue(.error(Refused()))
    try await expect(store.fetch(), equals: 9)
    expect(store.currentValue, equals: 9)
  }

  @Test func `The last value has no optimistic updates`() async throws {
    let store = self.store(self.script.query().servesStale(softTimeout: .zero, maximumAge: .seconds(600)))
    let layerable = OpaqueOperationStore(erasing: store)
    let layer = StateLayerIdentifier()
    #expect(layerable.addLayer(layer, over: QueryState<Int, any Error>.self) { $0 = 5 })
    expect(store.currentValue, equals: 5)
    try await expect(store.fetch(), equals: 1)
    try await self.script.next().succeed(2)
    await store.settled()
    layerable.removeLayer(layer)
    expect(store.currentValue, equals: 2)
  }
}

/// Random schedules against a model of the rules.
@Suite(.bounded, .warningsAreIssues) struct FreshnessModelTests {
  private struct Model {
    var value = 0
    var date = 0
    var isInvalidated = true
    var hasValue = false

    /// Whether a fetch gets the value at once, and a run begins behind it.
    func isEarly(at now: Int) -> Bool {
      self.hasValue && !self.isInvalidated && (81...100).contains(now - self.date)
    }

    /// Whether a caller gets the value in place of a failure or a long wait.
    func isServed(at now: Int) -> Bool { self.hasValue && !self.isInvalidated && now - self.date <= 300 }

    mutating func set(_ value: Int, at now: Int) {
      (self.value, self.date, self.isInvalidated, self.hasValue) = (value, now, false, true)
    }
  }

  @Test(arguments: 1...30)
  func `Readers get what the rules say`(_ seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let (clock, script, client) = (ManualClock(), IntScript(), OperationClient.keeping)
    let query = script.query(path: ["model"]).stale(after: .milliseconds(100_500)).refreshesEarly(after: 0.8)
      .servesStale(softTimeout: .seconds(10), maximumAge: .milliseconds(300_500)).manualTime(clock)
    let store = client.store(for: query)
    var (model, now, next) = (Model(), 0, 1)
    for _ in 1...200 {
      next += 1
      let kind = Int.random(in: 0...5, using: &random)
      let before = "\(kind) at \(now): \(model)"
      switch kind {
      case 0:
        let seconds = [1, 20, 80, 150, 300].randomElement(using: &random) ?? 1
        clock.advance(by: .seconds(seconds))
        now += seconds
      case 1:
        store.currentValue = next
        model.set(next, at: now)
      case 2 where Bool.random(using: &random):
        client.invalidate()
        model.isInvalidated = true
      case 3:
        let age = Int.random(in: 0...200, using: &random)
        let isYoung = model.hasValue && !model.isInvalidated && now - model.date <= age
        let isEarly = model.isEarly(at: now)
        if !isYoung { script.enqueue(.value(next)) }
        try await expect(
          store.value(maximumAge: .milliseconds(age * 1000 + 500)),
          equals: (isYoung ? model.value : next)
        )
        if !isYoung {
          model.set(next, at: now)
        } else if isEarly {
          try await self.end(script, store, next, &model, now)
        }
      case 4:
        // A run that fails at once.
        if model.isEarly(at: now) { continue }
        script.enqueue(.error(Refused()))
        let result = try? await store.fetch()
        expect(result, equals: (model.isServed(at: now) ? model.value : nil))
      default:
        if model.isEarly(at: now) {
          try await expect(store.fetch(), equals: model.value)
          try await self.end(script, store, next, &model, now)
          continue
        }
        let fetch = Task { try await store.fetch() }
        let run = try await script.next()
        try await clock.sleepers(count: 1)
        clock.advance(by: .seconds(10))
        now += 10
        let isServed = model.isServed(at: now)
        if isServed { try await expect(fetch.value, equals: model.value) }
        run.succeed(next)
        await store.settled()
        model.set(next, at: now)
        #expect(try await fetch.value == next || isServed)
      }
      #expect(!model.hasValue || store.currentValue == model.value)
      expect(
        store.isStale,
        equals: (!model.hasValue || model.isInvalidated || now - model.date > 100),
        "\(before), \(store.state)"
      )
      #expect(!store.isLoading && clock.sleeperCount() == 0)
    }
  }

  /// Ends the run behind a read.
  private func end(_ script: IntScript, _ store: IntStore, _ value: Int, _ model: inout Model, _ now: Int) async throws
  {
    let run = try await script.next()
    if value.isMultiple(of: 3) {
      run.fail(Refused())
    } else {
      run.succeed(value)
      model.set(value, at: now)
    }
    await store.settled()
  }
}
