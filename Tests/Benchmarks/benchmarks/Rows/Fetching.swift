internal import Operation
internal import OperationBackoff
internal import OperationCore
internal import OperationDedupe
internal import OperationRetry

extension Benchmark {
  /// A fetch whose body returns at once, from a caller on no actor.
  static let fetching = Benchmark(name: "fetch") { harness in
    let section = "fetch"
    let modified = PostQuery(id: 1).retry(limit: 3).backoff(.noBackoff).deduplicated()
    let client = OperationClient.plain()
    let withDefaults = OperationClient.withDefaults()
    let bare = try await harness.time(.fetching(PostQuery(id: 1)))
    let full = try await harness.time(.fetching(modified))
    var rows = [
      Row(section, "store.fetch()", bare, bar: 60),
      Row(section, "with retry, backoff, deduplicated", full, bar: 90),
    ]
    rows += try await Benchmark.passingThrough(harness)
    rows += Row.allocations(of: bare, section, "store.fetch()", bar: 8)
    rows += Row.allocations(of: full, section, "a fetch with retry, backoff, deduplicated", bar: 10)

    let plainStore = client.store(for: PostQuery(id: 1))
    let defaultStore = withDefaults.store(for: PostQuery(id: 1))
    let observedStore = OperationStore.detached(query: PostQuery(id: 1).disableAutomaticRunning())
    let subscription = observedStore.subscribe(
      with: QueryEventHandler(onStateChanged: { state, _ in keep(state.valueUpdateCount) })
    )
    defer { subscription.cancel() }
    let plain = try await harness.time(.fetching(plainStore))
    let defaults = try await harness.time(.fetching(defaultStore))
    rows += [
      Row(section, "store of a Core client", plain),
      Row(section, "store of a client with defaults", defaults, bar: 115),
      Row(section, "one subscriber", try await harness.time(.fetching(observedStore))),
    ]
    rows += Row.allocations(of: defaults, section, "a fetch in a client with defaults", bar: 12)
    return rows
  }

  /// The cost that each of five modifiers that do nothing adds.
  private static func passingThrough(_ harness: Harness) async throws -> [Row] {
    let section = "fetch"
    let five = PostQuery(id: 1).passedThrough().passedThrough().passedThrough().passedThrough().passedThrough()
    let (_, _, one) = try await harness.difference(
      from: .fetching(PostQuery(id: 1)),
      to: .fetching(five, isWasteful: harness.sabotage == .allocation),
      over: 5
    )
    let (_, _, bare) = try await harness.difference(from: .running(PostQuery(id: 1)), to: .running(five), over: 5)
    var rows = [
      Row(section, "one more pass-through modifier", one, bar: 1.5),
      Row(section, "one more pass-through modifier, without a store", bare),
    ]
    rows += Row.allocations(of: one, section, "a pass-through modifier", bar: 0)
    return rows
  }
}

extension Measure {
  /// A fetch on a detached store.
  fileprivate static func fetching<Query: QueryRequest>(_ query: Query, isWasteful: Bool = false) -> Measure
  where Query.Value: Sendable {
    .fetching(OperationStore.detached(query: query), isWasteful: isWasteful)
  }

  fileprivate static func fetching<Value: Sendable, Failure>(
    _ store: OperationStore<QueryState<Value, Failure>>,
    isWasteful: Bool = false
  ) -> Measure {
    .awaiting {
      if isWasteful { keep(Waste()) }
      do {
        _ = try await store.fetch()
      } catch {
        fatalError("a fetch that cannot fail has failed: \(error)")
      }
    }
  }
}
