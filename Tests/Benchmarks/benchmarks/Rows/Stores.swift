internal import Operation
internal import OperationCore

extension Benchmark {
  /// Making stores and finding them.
  static let stores = Benchmark(name: "stores") { harness in
    var rows = [
      Row(
        "store",
        "detached, create and drop",
        try await harness.time(.calling { keep(OperationStore.detached(query: PostQuery(id: 1))) }),
        bar: 40
      )
    ]
    rows += try await Benchmark.finding(harness)
    rows += try await Benchmark.adding(harness)
    return rows
  }

  /// Finds stores that are there. The same few are found at each size, spread over all there are: how the work grows is of
  /// interest, not what the processor's caches hold. A row of its own goes through all of them.
  private static func finding(_ harness: Harness) async throws -> [Row] {
    let section = "client.store(for:), there"
    let client = OperationClient.plain()
    var rows: [Row] = []
    var timings: [Timing] = []
    var count = 0
    for size in [1, 100, 10_000, 100_000] {
      client.addPosts(count..<size)
      count = size
      let found = min(size, 50)
      let stride = size / found
      let timing = try await harness.time(
        .calling(roundOf: found) { number in
          keep(client.store(for: PostQuery(id: number * stride)))
          if harness.sabotage == .growth { for step in 0..<size / 10 { keep(step) } }
        }
      )
      timings.append(timing)
      rows.append(Row(section, "among \(size.grouped)", timing, bar: 20))
    }
    rows.append(.growth(section, of: timings, bar: 1.5, gate: 3))
    rows += Row.allocations(of: timings[0], section, "finding a store", bar: 1)
    let step = 61_803  // Prime to the size, so that all come up, far from each other.
    rows.append(
      Row(
        section,
        "all 100,000, out of order",
        try await harness.time(
          .calling(roundOf: 100_000) { keep(client.store(for: PostQuery(id: $0 * step % 100_000))) }
        ),
        note: "what the processor's caches miss included"
      )
    )
    return rows
  }

  /// Makes stores that are not there yet.
  private static func adding(_ harness: Harness) async throws -> [Row] {
    let section = "client.store(for:), new"
    var rows: [Row] = []
    for (name, client, bar) in [
      ("", OperationClient.plain(), 100), (", with defaults", OperationClient.withDefaults(), nil),
    ] as [(String, OperationClient, Double?)] {
      var timings: [Timing] = []
      var count = 0
      for size in [1000, 100_000] {
        client.addPosts(count..<size)
        count = size
        let timing = try await harness.time(
          .prepared(count: 200) { _ in
            size
          } timed: { size, count in
            client.addPosts(size..<size + count)
          } finish: { size in
            for id in size..<size + 200 { client.clearStore(with: PostQuery(id: id).path) }
          }
        )
        timings.append(timing)
        rows.append(Row(section, "at \(size.grouped)\(name)", timing, bar: bar))
      }
      if bar != nil {
        rows.append(.growth(section, of: timings, bar: 1.5, gate: 3))
        rows += Row.allocations(of: timings[0], section, "a new store", bar: 14)
      }
    }
    return rows
  }
}
