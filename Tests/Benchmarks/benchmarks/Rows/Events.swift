internal import OperationCore

extension Benchmark {
  /// The cost of notifying a subscriber: an event with one subscriber less an event with none.
  static let events = Benchmark(name: "events") { harness in
    let unsubscribed = OperationStore.detached(query: PostQuery(id: 1).disableAutomaticRunning())
    let subscribed = OperationStore.detached(query: PostQuery(id: 1).disableAutomaticRunning())
    let handler = QueryEventHandler<PostQuery.State>(onStateChanged: { state, _ in keep(state.valueUpdateCount) })
    let subscription = subscribed.subscribe(with: handler)
    defer { subscription.cancel() }
    let set = try await harness.difference(
      from: .calling { unsubscribed.currentValue = 1 },
      to: .calling { subscribed.currentValue = 1 }
    )
    var rows = Benchmark.rows("event: a value is set", set, bar: 1.5)

    let unsubscribedFeed = OperationStore.detached(query: FeedQuery().disableAutomaticRunning())
    let subscribedFeed = OperationStore.detached(query: FeedQuery().disableAutomaticRunning())
    let feedSubscription = subscribedFeed.subscribe(
      with: QueryEventHandler(onStateChanged: { state, _ in keep(state.valueUpdateCount) })
    )
    defer { feedSubscription.cancel() }
    let yields = try await harness.difference(from: .yielding(to: unsubscribedFeed), to: .yielding(to: subscribedFeed))
    let section = "event: one of 1,000 yields in a run"
    rows += Benchmark.rows(section, yields, bar: nil)
    rows += Row.allocations(of: yields.first, section, "a yield", bar: 1.1)
    return rows
  }

  private static func rows(
    _ section: String,
    _ timings: (first: Timing, second: Timing, difference: Timing),
    bar: Double?
  ) -> [Row] {
    [
      Row(section, "no subscriber", timings.first),
      Row(section, "one subscriber", timings.second),
      Row(section, "one event to one subscriber (the difference)", timings.difference, bar: bar),
    ] + Row.allocations(of: timings.difference, section, "an event", bar: 0)
  }
}

/// Yields many values and returns.
private struct FeedQuery: QueryRequest {
  typealias State = QueryState<Int, any Error>

  static let yieldCount = 1000

  var path: OperationPath { ["feed"] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    for number in 0..<Self.yieldCount { continuation.yield(number) }
    return Self.yieldCount
  }
}

extension Measure {
  fileprivate static func yielding(to store: OperationStore<FeedQuery.State>) -> Measure {
    .prepared(count: FeedQuery.yieldCount) { _ in
    } timed: { _, _ in
      _ = try await store.fetch()
    }
  }
}
