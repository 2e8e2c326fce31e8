internal import OperationCore

extension Benchmark {
  /// A subscription that is cancelled again.
  static let subscribing = Benchmark(name: "subscribing") { harness in
    let section = "subscribe + cancel"
    let handler = QueryEventHandler<PostQuery.State>(onStateChanged: { state, _ in keep(state.valueUpdateCount) })
    let sizes = [0, 1, 10_000]
    var others: [OperationSubscription] = []
    var measures: [Measure] = []
    for size in sizes {
      let store = OperationStore.detached(query: PostQuery(id: 1).disableAutomaticRunning())
      for _ in 0..<size { others.append(store.subscribe(with: handler)) }
      measures.append(.calling { store.subscribe(with: handler).cancel() })
    }
    let timings = try await harness.times(of: measures)
    for subscription in others { subscription.cancel() }
    return zip(sizes, timings).map { Row(section, "next to \($0.grouped)", $1, bar: $0 == 0 ? nil : 13) }
      + [.growth(section, of: Array(timings[1...]), bar: 2, gate: 4)]
      + Row.allocations(of: timings[1], section, "subscribe + cancel", bar: 4)
  }
}
