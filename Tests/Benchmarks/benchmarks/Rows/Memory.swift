internal import Operation
internal import OperationCore

extension Benchmark {
  /// The bytes that a store keeps while it is idle.
  static let memory = Benchmark(name: "memory") { _ in
    guard Allocated.isCountable else { return [] }
    let section = "an idle store keeps"
    let creator = OperationClient.DefaultStoreCreator.default()
    return [
      .number(
        section,
        "no modifiers, detached",
        bytesPerStore { ids in ids.map { OperationStore.detached(query: PostQuery(id: $0)) } },
        .bytes,
        bar: 700
      ),
      .number(
        section,
        "no modifiers, its share of the client included",
        bytesPerStore { ids in OperationClient.filled(.plain(), with: ids) },
        .bytes
      ),
      .number(
        section,
        "the umbrella's defaults, detached",
        bytesPerStore { ids in
          ids.map {
            creator.store(for: PostQuery(id: $0), in: OperationContext(), with: QueryState(initialValue: nil))
          }
        },
        .bytes,
        bar: 1500
      ),
      .number(
        section,
        "the umbrella's defaults, its share of the client included",
        bytesPerStore { ids in OperationClient.filled(.withDefaults(), with: ids) },
        .bytes
      ),
    ]
  }

  private static func bytesPerStore<Stores>(_ make: (Range<Int>) -> Stores) -> Double {
    let count = 10_000
    // Once for nothing, so that what the process makes on first use does not count.
    _ = make(0..<10)
    var stopwatch = Stopwatch(.allocations)
    stopwatch.start()
    let stores = make(0..<count)
    stopwatch.stop()
    return withExtendedLifetime(stores) { Double(stopwatch.allocated.bytesLeft) / Double(count) }
  }
}

extension OperationClient {
  fileprivate static func filled(_ client: OperationClient, with ids: Range<Int>) -> OperationClient {
    client.addPosts(ids)
    return client
  }
}
