internal import Operation
internal import OperationCore

extension Benchmark {
  /// The bytes that a store keeps while it is idle.
  static let memory = Benchmark(name: "memory") { _ in
    guard Allocated.isCountable else { return [] }
    let creator = OperationClient.DefaultStoreCreator.default()
    let plain = try await Self.bytesPerStore(.plain()) { .detached(query: PostQuery(id: $0)) }
    let withDefaults = try await Self.bytesPerStore(.withDefaults()) { id in
      creator.store(for: PostQuery(id: id), in: OperationContext(), with: QueryState(initialValue: nil))
    }
    return Self.rows("no modifiers", plain, bar: 600, gate: 700, barInClient: nil)
      + Self.rows("the umbrella's defaults", withDefaults, bar: 1500, gate: 1500, barInClient: 1500)
  }

  private static func rows(
    _ kind: String,
    _ bytes: BytesPerStore,
    bar: Double,
    gate: Double,
    barInClient: Double?
  ) -> [Row] {
    let section = "an idle store keeps"
    return [
      .number(section, "\(kind), detached", bytes.detached, .bytes, bar: bar, gate: gate),
      .number(
        section,
        "\(kind), its share of the client included",
        bytes.inClient,
        .bytes,
        bar: barInClient,
        gate: barInClient
      ),
      .number(section, "\(kind), in a client, after a fetch", bytes.fetched, .bytes),
    ]
  }

  private struct BytesPerStore {
    var detached: Double
    var inClient: Double
    var fetched: Double
  }

  private static let count = 10_000

  private static func bytesPerStore(
    _ client: OperationClient,
    detached makeStore: (Int) -> OperationStore<PostQuery.State>
  ) async throws -> BytesPerStore {
    // Run once before, so that allocations of the first use do not count.
    _ = makeStore(0)
    _ = try await client.store(for: PostQuery(id: -1)).fetch()

    let stopwatch = Stopwatch(.allocations)
    var stores: [OperationStore<PostQuery.State>] = []
    stores.reserveCapacity(Self.count)
    var making = stopwatch
    making.start()
    for id in 0..<Self.count { stores.append(makeStore(id)) }
    making.stop()

    var filling = stopwatch
    filling.start()
    client.addPosts(0..<Self.count)
    filling.stop()
    var fetching = stopwatch
    fetching.start()
    for id in 0..<Self.count { _ = try await client.store(for: PostQuery(id: id)).fetch() }
    fetching.stop()
    withExtendedLifetime(stores) {}
    let inClient = Double(filling.allocated.bytesLeft) / Double(Self.count)
    return BytesPerStore(
      detached: Double(making.allocated.bytesLeft) / Double(Self.count),
      inClient: inClient,
      fetched: inClient + Double(fetching.allocated.bytesLeft) / Double(Self.count)
    )
  }
}
