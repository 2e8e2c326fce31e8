import Operation
import OperationChaos
import OperationTesting
import TestFixtures
import Testing

/// All modifiers against the defaults of a client: the number of attempts, and when the caller is free.
///
/// The retry of the client, with its delays of 1, 2 and 4 seconds, stands directly inside of the innermost timeout,
/// deadline or fallback. A retry of the user replaces it. A deadline bounds what is inside and outside of it.
@Suite(.bounded, .warningsAreIssues) struct ClientDefaultsTableTests {
  typealias Query = QueryOperation<Int, any Error>

  /// A way to write a query, and what its caller experiences.
  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let isOnline: Bool
    let attempts: Int
    let freed: Duration
    let outcome: String
    let modified: @Sendable (Query, ManualClock) -> any QueryRequest<Int, any Error>

    init(
      _ text: String,
      isOnline: Bool = true,
      _ attempts: Int,
      _ freed: Double,
      _ outcome: String,
      _ modified: @escaping @Sendable (Query, ManualClock) -> any QueryRequest<Int, any Error>
    ) {
      self.testDescription = text
      self.isOnline = isOnline
      self.attempts = attempts
      self.freed = .milliseconds(Int(freed * 1_000))
      self.outcome = outcome
      self.modified = modified
    }
  }

  private func expectBody(_ row: Row, _ body: ClientDefaults.Body) {
    let defaults = ClientDefaults(body, isOnline: row.isOnline)
    let experience = defaults.experience(of: row.modified(defaults.query, defaults.clock))
    expect(
      experience,
      equals: .init(attempts: row.attempts, freed: row.freed, outcome: row.outcome),
      "\(row.testDescription)"
    )
  }

  // MARK: - A body of 30 seconds

  static let late1 = "\(OperationTimedOut(after: .seconds(1)))"
  static let late10 = "\(OperationTimedOut(after: .seconds(10)))"

  static let slow: [Row] = [
    Row("nothing", 1, 30, "1") { query, _ in query },
    Row("timeout", 1, 1, late1) { query, _ in query.timeout(.seconds(1)) },
    Row("deadline(after:)", 1, 1, late1) { query, _ in query.deadline(after: .seconds(1)) },
    Row("deadline", 1, 1, late1) { query, clock in query.deadline(clock.instant + .seconds(1)) },
    Row("timeout, fallback", 1, 1, "0") { query, _ in query.timeout(.seconds(1)).fallback(0) },
    Row("fallback, timeout", 1, 1, late1) { query, _ in query.fallback(0).timeout(.seconds(1)) },
    Row("deadline, fallback", 1, 1, "0") { query, _ in query.deadline(after: .seconds(1)).fallback(0) },
    Row("deadline, fallback with a deadline of its own", 2, 11, late10) { query, _ in
      query.deadline(after: .seconds(1)).fallback(to: query.deadline(after: .seconds(10)))
    },
    Row("deadline, fallback, later deadline", 2, 10, late10) { query, _ in
      query.deadline(after: .seconds(1)).fallback(to: query).deadline(after: .seconds(10))
    },
    Row("timeout, retry, timeout", 3, 10, late10) { query, _ in
      query.timeout(.seconds(2)).retry(limit: 3).timeout(.seconds(10))
    },
    Row("timeout, retry", 2, 3, late1) { query, _ in query.timeout(.seconds(1)).retry(limit: 1) },
    Row("timeout, retries", 4, 15, "\(OperationTimedOut(after: .seconds(2)))") { query, _ in
      query.timeout(.seconds(2)).retry(limit: 3)
    },
    Row("deadline, retry", 1, 1, late1) { query, _ in query.deadline(after: .seconds(1)).retry(limit: 3) },
    Row("timeout, breaker", 1, 1, late1) { query, _ in query.timeout(.seconds(1)).circuitBreaker(CircuitBreaker()) },
    Row("breaker, timeout", 1, 1, late1) { query, _ in query.circuitBreaker(CircuitBreaker()).timeout(.seconds(1)) },
    Row("timeout, limit", 1, 1, late1) { query, _ in query.timeout(.seconds(1)).limited(by: ConcurrencyLimit(1)) },
    Row("limit, deadline", 1, 1, late1) { query, _ in
      query.limited(by: ConcurrencyLimit(1)).deadline(after: .seconds(1))
    },
    Row("hedge, timeout", 2, 1, late1) { query, _ in
      query.hedged(after: .milliseconds(300)).timeout(.seconds(1))
    },
    Row("timeout, hedge", 2, 1.3, late1) { query, _ in
      query.timeout(.seconds(1)).hedged(after: .milliseconds(300))
    },
    Row("deadline, hedge", 2, 1, late1) { query, _ in
      query.deadline(after: .seconds(1)).hedged(after: .milliseconds(300))
    },
    Row("dedupe, timeout", 1, 1, late1) { query, _ in query.deduplicated().timeout(.seconds(1)) },
    Row("timeout, dedupe", 1, 1, late1) { query, _ in query.timeout(.seconds(1)).deduplicated() },
    Row("deadline, dedupe", 1, 1, late1) { query, _ in query.deadline(after: .seconds(1)).deduplicated() },
    Row("wait, timeout", 0, 1, late1) { query, _ in query.waits(until: .always(false)).timeout(.seconds(1)) },
    Row("wait, deadline", 0, 1, late1) { query, _ in query.waits(until: .always(false)).deadline(after: .seconds(1)) },
    Row("deadline, wait", 0, 1, late1) { query, _ in query.deadline(after: .seconds(1)).waits(until: .always(false)) },
    Row("deadline, wait with a limit", 0, 1, late1) { query, _ in
      query.deadline(after: .seconds(1)).waits(until: .always(false), timeout: .seconds(2))
    },
    Row("deadline, fallback, wait", 0, 1, "0") { query, _ in
      query.deadline(after: .seconds(1)).fallback(0).waits(until: .always(false))
    },
    Row("offline: mode, timeout", isOnline: false, 0, 1, late1) { query, _ in
      query.networkMode(.online).timeout(.seconds(1))
    },
    Row("offline: mode, deadline", isOnline: false, 0, 1, late1) { query, _ in
      query.networkMode(.online).deadline(after: .seconds(1))
    },
    Row("offline: deadline, mode", isOnline: false, 0, 1, late1) { query, _ in
      query.deadline(after: .seconds(1)).networkMode(.online)
    },
    Row("chaos, deadline", 0, 1, late1) { query, _ in query.chaos(.late).deadline(after: .seconds(1)) },
    Row("deadline, chaos", 0, 1, late1) { query, _ in query.deadline(after: .seconds(1)).chaos(.late) },
    Row("timeout in a query of another type", 1, 1, late1) { query, _ in AnyQuery(query.timeout(.seconds(1))) },
    Row("timeout, default value", 1, 1, late1) { query, _ in query.timeout(.seconds(1)).stale(after: .seconds(5)) },
  ]

  @Test(arguments: slow)
  func `A slow body`(row: Row) {
    self.expectBody(row, .slow)
  }

  // MARK: - A body that fails at once

  static let refused = "\(Refused())"

  static let failing: [Row] = [
    Row("nothing", 4, 7, refused) { query, _ in query },
    Row("fallback", 4, 7, "0") { query, _ in query.fallback(0) },
    Row("fallback to a closure", 4, 7, "0") { query, _ in query.fallback { _, _ in 0 } },
    Row("fallback to an operation", 4, 7, "0") { query, _ in
      query.fallback(to: QueryOperation("other") { _ in 0 })
    },
    Row("fallback, fallback", 4, 7, "0") { query, _ in query.fallback { _, _ in throw Refused() }.fallback(0) },
    Row("long timeout", 4, 7, refused) { query, _ in query.timeout(.seconds(10)) },
    Row("timeout without time for a retry", 1, 0, refused) { query, _ in query.timeout(.seconds(1)) },
    Row("short timeout", 3, 3, refused) { query, _ in query.timeout(.seconds(5)) },
    Row("short deadline", 3, 3, refused) { query, _ in query.deadline(after: .seconds(5)) },
    Row("deadline, fallback", 2, 1, "0") { query, _ in query.deadline(after: .seconds(2)).fallback(0) },
    Row("fallback, timeout", 4, 7, "0") { query, _ in query.fallback(0).timeout(.seconds(10)) },
    Row("timeout, fallback, timeout", 4, 7, "0") { query, _ in
      query.timeout(.seconds(9)).fallback(0).timeout(.seconds(10))
    },
    Row("retry", 2, 1, refused) { query, _ in query.retry(limit: 1) },
    Row("no retry, fallback", 1, 0, "0") { query, _ in query.retry(limit: 0).fallback(0) },
    Row("retry, fallback", 2, 1, "0") { query, _ in query.retry(limit: 1).fallback(0) },
    Row("fallback, retry", 1, 0, "0") { query, _ in query.fallback(0).retry(limit: 3) },
    Row("retry, timeout, fallback", 2, 1, "0") { query, _ in query.retry(limit: 1).timeout(.seconds(9)).fallback(0) },
    Row("no retries in the context", 1, 0, "0") { query, _ in query.context { $0.operationMaxRetries = 0 }.fallback(0)
    },
    Row("backoff", 4, 6, refused) { query, _ in query.backoff(.constant(.seconds(2))) },
    Row("fallback, backoff", 4, 6, "0") { query, _ in query.fallback(0).backoff(.constant(.seconds(2))) },
    Row("breaker", 4, 7, refused) { query, _ in query.circuitBreaker(CircuitBreaker()) },
    Row("breaker, fallback", 4, 7, "0") { query, _ in query.circuitBreaker(CircuitBreaker()).fallback(0) },
    Row("limit, fallback", 4, 7, "0") { query, _ in query.limited(by: ConcurrencyLimit(1)).fallback(0) },
    Row("hedge", 8, 7, refused) { query, _ in query.hedged(after: .milliseconds(300)) },
    Row("hedge, fallback", 8, 7, "0") { query, _ in query.hedged(after: .milliseconds(300)).fallback(0) },
    Row("dedupe, fallback", 4, 7, "0") { query, _ in query.deduplicated().fallback(0) },
    Row("fallback, dedupe", 4, 7, "0") { query, _ in query.fallback(0).deduplicated() },
    Row("wait, fallback", 4, 7, "0") { query, _ in query.waits(until: .always(true)).fallback(0) },
    Row("chaos, fallback", 0, 7, "0") { query, _ in query.chaos(Chaos(failureRatio: 1, seed: 1)).fallback(0) },
    Row("fallback in a query of another type", 4, 7, "0") { query, _ in AnyQuery(query.fallback(0)) },
    Row("retry in a query of another type", 2, 1, "0") { query, _ in AnyQuery(query.retry(limit: 1)).fallback(0) },
    Row("offline: deadline", isOnline: false, 1, 5, "\(OperationTimedOut(after: .seconds(5)))") { query, _ in
      query.deadline(after: .seconds(5))
    },
    Row("offline: timeout, fallback", isOnline: false, 1, 5, "0") { query, _ in
      query.timeout(.seconds(5)).fallback(0)
    },
  ]

  @Test(arguments: failing)
  func `A failing body`(row: Row) {
    self.expectBody(row, .failing)
  }
}

extension Chaos {
  /// Delays each run by 30 seconds.
  fileprivate static var late: Chaos { Chaos(latencyRatio: 1, latency: .seconds(30)...(.seconds(30)), seed: 1) }
}
