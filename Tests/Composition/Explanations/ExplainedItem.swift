import Operation
import OperationFallback
import OperationTimeout
import TestFixtures

typealias ExplainedState = QueryState<Int, any Error>
typealias ExplainedStore = OperationStore<ExplainedState>
typealias ExplainedQuery = any QueryRequest<Int, any Error> & Sendable

/// An error of a service that says when to come back.
struct ComeBack: RetryHinting {
  let retryAfter: OperationDuration?
}

/// Which modifiers a query of the model has, which differs by the seed.
struct ExplainedItem: Sendable {
  enum Polling: CaseIterable {
    case none, always, onCondition, byValue
  }

  enum Staleness: CaseIterable {
    case none, byAge, byAgeUnlessMissing, byCondition, byPredicate
  }

  enum AutomaticRuns: CaseIterable {
    case always, never, unset, onCondition
  }

  let number: Int
  let polling: Polling
  let staleness: Staleness
  let automaticRuns: AutomaticRuns
  /// How long its values are fresh, its polling interval, the time of its body, its backoff and its cache time.
  let (freshness, interval, work, backoff, cacheTime): (Duration, Duration, Duration, Duration, Duration)
  let retries: Int
  /// The time limit of each attempt, and that of the whole run; nil for none.
  let (attemptLimit, limit): (Duration?, Duration?)
  let (waits, isShared, hasFallback, yieldsFirst): (Bool, Bool, Bool, Bool)

  init(_ number: Int, using generator: inout SeededGenerator) {
    func oneOf(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }
    // In microseconds, so that two times are hardly ever the same.
    func time(_ milliseconds: ClosedRange<Int>) -> Duration {
      let microseconds = milliseconds.lowerBound * 1_000...milliseconds.upperBound * 1_000
      return .microseconds(Int.random(in: microseconds, using: &generator))
    }
    self.number = number
    self.polling = oneOf(2) ? .none : Polling.allCases.randomElement(using: &generator) ?? .none
    self.staleness = oneOf(2) ? .byAge : Staleness.allCases.randomElement(using: &generator) ?? .none
    self.automaticRuns = oneOf(2) ? .always : AutomaticRuns.allCases.randomElement(using: &generator) ?? .always
    self.freshness = time(500...6_000)
    self.interval = time(900...4_000)
    self.work = oneOf(3) ? .zero : time(100...1_500)
    self.backoff = time(200...2_000)
    self.cacheTime = time(1_000...9_000)
    self.retries = oneOf(2) ? 0 : Int.random(in: 1...3, using: &generator)
    self.attemptLimit = oneOf(4) ? time(200...1_500) : nil
    self.limit = oneOf(4) ? time(300...4_000) : nil
    self.waits = oneOf(4)
    self.isShared = oneOf(2)
    self.hasFallback = oneOf(6)
    self.yieldsFirst = oneOf(5)
  }

  var path: OperationPath { ["items", self.number % 2, self.number] }

  /// What it is, for a failure.
  var text: String {
    """
    \(self.number): \(self.staleness) \(self.freshness), polls \(self.polling) \(self.interval), runs \(self.automaticRuns), \
    work \(self.work), \(self.retries) retries \(self.backoff), limits \(self.attemptLimit, default: "none") \
    \(self.limit, default: "none"), cached \(self.cacheTime)\(self.waits ? ", waits" : "")\(self.isShared ? ", shared" : "")\
    \(self.hasFallback ? ", fallback" : "")\(self.yieldsFirst ? ", yields" : "")
    """
  }

  // MARK: - Modifiers

  /// Applies the modifiers to the work.
  ///
  /// - Parameters:
  ///   - work: The query without modifiers.
  ///   - isOn: The condition of what has one.
  ///   - mayRun: The condition of its runs.
  /// - Returns: The query.
  func modified(_ work: ExplainedQuery, isOn: SwitchSpecification, mayRun: SwitchSpecification) -> ExplainedQuery {
    var query = work
    if let limit = self.attemptLimit { query = Self.limited(query, limit) }
    if self.retries > 0 { query = Self.retried(query, self.retries, self.backoff) }
    if let limit = self.limit { query = Self.limited(query, limit) }
    if self.waits { query = Self.waiting(query, mayRun) }
    if self.hasFallback { query = Self.withFallback(query) }
    if self.isShared { query = Self.shared(query) }
    query = self.stale(query, isOn)
    query = self.polled(query, isOn)
    query = self.automatic(query, isOn)
    return Self.cached(query, self.cacheTime)
  }

  private static func limited(
    _ query: some QueryRequest<Int, any Error> & Sendable,
    _ limit: Duration
  ) -> ExplainedQuery {
    query.timeout(limit)
  }

  private static func retried(
    _ query: some QueryRequest<Int, any Error> & Sendable,
    _ count: Int,
    _ backoff: Duration
  ) -> ExplainedQuery {
    query.retry(limit: count).backoff(.constant(backoff))
  }

  private static func waiting(
    _ query: some QueryRequest<Int, any Error> & Sendable,
    _ condition: SwitchSpecification
  ) -> ExplainedQuery {
    query.waits(until: condition)
  }

  private static func withFallback(_ query: some QueryRequest<Int, any Error> & Sendable) -> ExplainedQuery {
    query.fallback(-1)
  }

  private static func shared(_ query: some QueryRequest<Int, any Error> & Sendable) -> ExplainedQuery {
    query.deduplicated()
  }

  private static func cached(_ query: some QueryRequest<Int, any Error> & Sendable, _ time: Duration) -> ExplainedQuery
  {
    query.cacheTime(time)
  }

  private func stale(
    _ query: some QueryRequest<Int, any Error> & Sendable,
    _ condition: SwitchSpecification
  ) -> ExplainedQuery {
    switch self.staleness {
    case .none: query
    case .byAge: query.stale(after: self.freshness)
    case .byAgeUnlessMissing: query.stale(after: self.freshness, whenNoValue: false)
    case .byCondition: query.staleWhen(satisfying: condition).staleWhenNoValue()
    case .byPredicate: query.staleWhen { state, _ in (state.currentValue ?? 0).isMultiple(of: 2) }
    }
  }

  private func polled(
    _ query: some QueryRequest<Int, any Error> & Sendable,
    _ condition: SwitchSpecification
  ) -> ExplainedQuery {
    let interval = self.interval
    return switch self.polling {
    case .none: query
    case .always: query.rerun(every: interval)
    case .onCondition: query.rerun(every: interval, onlyWhen: condition)
    case .byValue:
      query.rerun(
        every: { state in
          if state.error != nil { return interval * 2 }
          return (state.currentValue ?? 0).isMultiple(of: 3) ? nil : interval
        },
        onlyWhen: condition
      )
    }
  }

  private func automatic(
    _ query: some QueryRequest<Int, any Error> & Sendable,
    _ condition: SwitchSpecification
  ) -> ExplainedQuery {
    switch self.automaticRuns {
    case .always: query.enableAutomaticRunning(onlyWhen: .always(true))
    case .never: query.disableAutomaticRunning()
    case .unset: query
    case .onCondition: query.enableAutomaticRunning(onlyWhen: condition)
    }
  }
}
