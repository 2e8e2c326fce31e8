internal import Operation
internal import OperationCore

extension Benchmark {
  /// The creation of stores, and look-ups.
  static let stores = Benchmark(name: "stores") { harness in
    var rows = [
      Row(
        "store",
        "detached, create and drop",
        try await harness.time(.calling { keep(OperationStore.detached(query: PostQuery(id: 1))) }),
        bar: 25
      )
    ]
    rows += try await Benchmark.finding(harness)
    rows += try await Benchmark.adding(harness)
    return rows
  }

  /// Finds existing stores. The same few are found at each size, spread over all stores, so that the growth of the work
  /// is measured and not the processor's caches. Another row finds all of them.
  private static func finding(_ harness: Harness) async throws -> [Row] {
    let section = "client.store(for:), there"
    let sizes = [1, 100, 10_000, 100_000]
    let clients = sizes.map { OperationClient.filled($0) }
    let timings = try await harness.times(
      of: zip(sizes, clients).map { .finding(in: $1, of: $0, growing: harness.sabotage == .growth) }
    )
    var rows = zip(sizes, timings).map { Row(section, "among \($0.grouped)", $1, bar: 3.7) }
    rows.append(.growth(section, of: timings, bar: 1.5, gate: 3))
    rows += Row.allocations(of: timings[0], section, "finding a store", bar: 1)
    let all = try await harness.time(.findingAll(in: clients[3], of: sizes[3]))
    rows.append(Row(section, "all 100,000, out of order", all, note: "what the processor's caches miss included"))
    return rows
  }

  /// Creates new stores.
  private static func adding(_ harness: Harness) async throws -> [Row] {
    let section = "client.store(for:), new"
    let sizes = [1000, 100_000]
    let timings = try await harness.times(of: sizes.map { .adding(to: .filled($0), of: $0) })
    var rows = zip(sizes, timings).map { Row(section, "at \($0.grouped)", $1, bar: 60) }
    rows.append(.growth(section, of: timings, bar: 1.5, gate: 3))
    rows += Row.allocations(of: timings[0], section, "a new store", bar: 9)
    let others = try await harness.times(of: sizes.map { .adding(to: .filled($0, .withDefaults()), of: $0) })
    rows += zip(sizes, others).map { Row(section, "at \($0.grouped), with defaults", $1) }
    return rows
  }
}

extension OperationClient {
  fileprivate static func filled(_ size: Int, _ client: OperationClient = .plain()) -> OperationClient {
    client.addPosts(0..<size)
    return client
  }
}

extension Measure {
  fileprivate static func finding(in client: OperationClient, of size: Int, growing: Bool) -> Measure {
    let found = min(size, 50)
    let stride = size / found
    return .calling(roundOf: found) { number in
      keep(client.store(for: PostQuery(id: number * stride)))
      if growing { for step in 0..<size / 10 { keep(step) } }
    }
  }

  fileprivate static func findingAll(in client: OperationClient, of size: Int) -> Measure {
    let step = 61_803  // Coprime to the sizes, so that each store is found once, far from the previous one.
    return .calling(roundOf: size) { keep(client.store(for: PostQuery(id: $0 * step % size))) }
  }

  /// Adds a few stores, and removes them when the watch has stopped.
  fileprivate static func adding(to client: OperationClient, of size: Int) -> Measure {
    .prepared(count: 200) { count in
      size..<size + count
    } timed: { ids, _ in
      client.addPosts(ids)
    } finish: { ids in
      for id in ids { client.clearStore(with: PostQuery(id: id).path) }
    }
  }
}
