internal import OperationCore
internal import OperationHedging

extension Benchmark {
  /// The costs that a hedge which starts no second run adds to a run outside of a store.
  static let hedges = Benchmark(name: "hedges") { harness in
    let section = "a hedge that never fires, over a bare operation"
    let (_, _, immediate) = try await harness.difference(
      from: .running(PostQuery(id: 1)),
      to: .running(PostQuery(id: 1).hedged(after: .seconds(10)))
    )
    let suspended = try await harness.suspendingDifference { $0.hedged(after: .seconds(10)) }
    return [
      Row(section, "a body that returns at once", immediate, bar: 40),
      Row(section, "a body that suspends", suspended.onOneCore),
      Row(section, "the same on all cores", suspended.onAllCores),
    ]
      + Row.allocations(of: immediate, section, "a hedge", bar: 8)
  }
}
