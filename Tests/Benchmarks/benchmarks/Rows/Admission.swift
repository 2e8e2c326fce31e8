internal import OperationCircuitBreaker
internal import OperationCore
internal import OperationFallback
internal import OperationLimits
internal import OperationTimeout

extension Benchmark {
  /// The cost of the admission of a run, over that of a bare operation outside of a store.
  static let admission = Benchmark(name: "admission") { harness in
    let section = "admission of a run, over a bare operation"
    let query = PostQuery(id: 1)
    var rows: [Row] = []
    let breaker = CircuitBreaker()
    let broken = try await harness.difference(
      from: .runningDirectly(query),
      to: .runningDirectly(query.circuitBreaker(breaker))
    ).difference
    rows.append(Row(section, "circuit breaker, closed", broken, bar: 4))
    rows += Row.allocations(of: broken, section, "a closed circuit breaker", bar: 1)

    let rate = RateLimit(1_000_000_000, per: .nanoseconds(1), burst: 1_000_000_000)
    let limited = try await harness.difference(
      from: .runningDirectly(query),
      to: .runningDirectly(query.limited(by: rate))
    ).difference
    rows.append(Row(section, "rate limit, a token there", limited, bar: 3))
    rows += Row.allocations(of: limited, section, "a rate limit", bar: 1)

    let concurrency = ConcurrencyLimit(10)
    let bounded = try await harness.difference(
      from: .runningDirectly(query),
      to: .runningDirectly(query.limited(by: concurrency))
    ).difference
    rows.append(Row(section, "concurrency limit, uncontended", bounded, bar: 4))
    rows += Row.allocations(of: bounded, section, "a concurrency limit", bar: 1)

    let adaptive = AdaptiveLimit(minimum: 10, maximum: 20)
    let adapted = try await harness.difference(
      from: .runningDirectly(query),
      to: .runningDirectly(query.limited(by: adaptive))
    ).difference
    rows.append(Row(section, "adaptive limit, uncontended", adapted))

    let guarded = query.timeout(.seconds(10)).limited(by: concurrency).limited(by: rate).circuitBreaker(breaker)
    let chained = try await harness.difference(
      from: .runningDirectly(query),
      to: .runningDirectly(guarded.fallback(0))
    ).difference
    rows.append(Row(section, "these three, a timeout and a fallback", chained, bar: 25))
    // The timeout allocates them.
    rows += Row.allocations(of: chained, section, "the five", bar: 1, gate: 6)
    return rows
  }
}

extension Measure {
  /// A run that is specialized for the types of the operation, as the runs of a store are.
  fileprivate static func runningDirectly<Query: QueryRequest>(_ query: Query) -> Measure
  where Query.Value == Int, Query.Failure == any Error {
    let context = OperationContext()
    let continuation = OperationContinuation<Int, any Error> { _, _ in }
    return .awaiting {
      do {
        keep(try await query.run(isolation: nil, in: context, with: continuation))
      } catch {
        fatalError("a run that cannot fail has failed: \(error)")
      }
    }
  }
}
