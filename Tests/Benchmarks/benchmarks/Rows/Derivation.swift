internal import OperationCore
internal import OperationDerivation

extension Benchmark {
  /// A change of a source, from the call to the new value of the derived query that is subscribed to.
  static let derivation = Benchmark(name: "derivation") { harness in
    let section = "derived queries: a change of"
    let sums = [1, 10, 1_000]
    let graphs =
      sums.map { count in (count == 1 ? "the only source" : "one of \(count.grouped) sources", DerivedGraph.sum(count))
      }
      + [
        ("the source of a chain of 10", .chain(10)), ("the source of a chain of 100", .chain(100)),
        ("the source of 100 queries", .readers(100)),
      ]
    for (_, graph) in graphs { await graph.settled() }
    let timings = try await harness.times(of: graphs.map { _, graph in .calling { graph.change() } })
    for (_, graph) in graphs { graph.end() }
    let chains = [(timings[3], 10.0), (timings[4], 100)].map { timing, count in
      Timing(cost: timing.cost, fastest: timing.fastest / count)
    }
    return zip(graphs, timings).map { Row(section, $0.0, $1) }
      + [.growth(section, "growth of each query of a chain, from 10 to 100", of: chains, bar: 1.5, gate: 3)]
      + (try await Benchmark.manyReaders(harness)) + (try await Benchmark.staleness(harness))
      + (try await Benchmark.waiting(harness))
  }

  /// A change of a source with many readers, of which each runs once: the cost for each of them.
  private static func manyReaders(_ harness: Harness) async throws -> [Row] {
    let section = "derived queries: a change of a source, for each of its readers"
    let counts = [1_000, 30_000]
    let graphs = counts.map { DerivedGraph.readers($0) }
    for graph in graphs { await graph.settled() }
    let measures = zip(counts, graphs).map { count, graph in
      Measure.prepared(count: count) { _ in
        graph
      } timed: { graph, _ in
        graph.change()
      }
    }
    let timings = try await harness.times(of: measures)
    for graph in graphs { graph.end() }
    return zip(counts, timings).map { Row(section, "of \($0.grouped)", $1) }
      + [.growth(section, of: timings, bar: 1.5, gate: 3)]
  }

  /// Waits for derived queries of which none runs.
  private static func waiting(_ harness: Harness) async throws -> [Row] {
    let section = "derived queries: waiting until they have settled, with nothing to wait for"
    let counts = [1, 1_000]
    let graphs = counts.map { DerivedGraph.readers($0) }
    for graph in graphs { await graph.settled() }
    let timings = try await harness.times(of: graphs.map { graph in .awaiting { await graph.settled() } })
    for graph in graphs { graph.end() }
    return zip(counts, timings).flatMap { count, timing in
      let name = "\(count.grouped) with subscribers"
      return [Row(section, name, timing)] + Row.allocations(of: timing, section, name, bar: 0)
    }
  }

  /// Whether a derived query is stale, which each reader asks.
  private static func staleness(_ harness: Harness) async throws -> [Row] {
    let section = "derived queries: whether one is stale"
    let counts = [10, 5_000]
    let graphs = counts.map { DerivedGraph.sum($0) }
    for graph in graphs { await graph.settled() }
    let timings = try await harness.times(of: graphs.map { graph in .calling { keep(graph.isStale) } })
    for graph in graphs { graph.end() }
    return zip(counts, timings).map { Row(section, "of \($0.grouped) sources", $1) }
      + [.growth(section, "growth", of: timings, bar: 1.5, gate: 3)]
  }
}

/// Derived queries of a client, of which some have a subscriber.
private final class DerivedGraph: Sendable {
  private let client: OperationClient
  private let source: OperationStore<PostQuery.State>
  private let subscriptions: OperationSubscription
  private let sum: @Sendable () -> Int
  private let stale: @Sendable () -> Bool

  var isStale: Bool { self.stale() }

  private init(reading queries: [any QueryRequest<Int, any Error>]) {
    var context = OperationContext()
    context.automaticRunningSpecification = .always(true)
    let client = OperationClient(defaultContext: context)
    self.client = client
    self.source = client.store(for: Self.source(0))
    self.subscriptions = .combined(queries.map { Self.subscription(to: $0, in: client) })
    let store = self.source
    self.sum = { store.currentValue ?? 0 }
    let derived = client.store(with: queries[0].path)
    self.stale = { derived?.isStale ?? true }
  }

  private static func subscription<Query: QueryRequest>(
    to query: Query,
    in client: OperationClient
  ) -> OperationSubscription where Query.Value == Int {
    client.store(for: query).subscribe(
      with: QueryEventHandler(onStateChanged: { state, _ in keep(state.currentValue ?? 0) }),
      isolation: nil
    )
  }

  func settled() async { await self.client.settledDerivations() }

  /// Sets another value, which the derived queries have taken over when the call returns.
  func change() {
    self.source.currentValue = self.sum() + 1
  }

  func end() { self.subscriptions.cancel() }

  static func sum(_ count: Int) -> DerivedGraph {
    let query = QueryOperation<Int, any Error>("sum") { context in
      var sum = 0
      for id in 0..<count { sum += try await context.value(of: self.source(id)) }
      return sum
    }
    return DerivedGraph(reading: [query.derived()])
  }

  static func chain(_ count: Int) -> DerivedGraph { DerivedGraph(reading: [Link(number: count - 1).derived()]) }

  static func readers(_ count: Int) -> DerivedGraph {
    DerivedGraph(
      reading: (0..<count).map { number in
        QueryOperation<Int, any Error>("reader", number) { try await $0.value(of: self.source(0)) + number }.derived()
      }
    )
  }

  static func source(_ id: Int) -> some QueryRequest<Int, any Error> { PostQuery(id: id).staleWhenNoValue() }
}

/// A query of a chain, which reads the one before it.
private struct Link: QueryRequest {
  let number: Int

  var path: OperationPath { ["chain", self.number] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    if self.number == 0 { return try await context.value(of: DerivedGraph.source(0)) }
    return try await context.value(of: Link(number: self.number - 1).derived()) + 1
  }
}
