internal import OperationCore

extension Benchmark {
  /// A subscriber that comes and goes.
  static let subscribing = Benchmark(name: "subscribing") { harness in
    let section = "subscribe + cancel"
    let store = OperationStore.detached(query: PostQuery(id: 1).disableAutomaticRunning())
    let handler = QueryEventHandler<PostQuery.State>(onStateChanged: { state, _ in keep(state.valueUpdateCount) })
    var others: [OperationSubscription] = []
    var rows: [Row] = []
    var timings: [Timing] = []
    for size in [0, 1, 10_000] {
      while others.count < size { others.append(store.subscribe(with: handler)) }
      let timing = try await harness.time(.calling { store.subscribe(with: handler).cancel() })
      rows.append(Row(section, "next to \(size.grouped)", timing, bar: size == 0 ? nil : 30))
      if size > 0 { timings.append(timing) }
    }
    rows.append(.growth(section, of: timings, bar: 2, gate: 4))
    rows += Row.allocations(of: timings[0], section, "subscribe + cancel", bar: 4)
    for subscription in others { subscription.cancel() }
    return rows
  }
}
