internal import OperationCore
internal import OperationDedupe

extension Benchmark {
  /// Many callers of one run: the whole cost of a caller, from the making of its task to its end.
  static let callers = Benchmark(name: "callers") { harness in
    let section = "callers of one deduplicated run"
    var rows: [Row] = []
    var timings: [Timing] = []
    for size in [1000, 10_000] {
      let timing = try await harness.time(.joining(callers: size))
      timings.append(timing)
      rows.append(Row(section, size.grouped, timing, bar: 60))
    }
    rows.append(.growth(section, of: timings, bar: 1.5, gate: 3))
    var bareTimings: [Timing] = []
    for size in [1000, 10_000] {
      let timing = try await harness.time(.waiting(callers: size))
      bareTimings.append(timing)
      rows.append(Row(section, "tasks alone, awaiting a continuation each, \(size.grouped)", timing))
    }
    rows.append(.growth(section, "growth of the tasks alone", of: bareTimings))
    return rows
  }
}

extension Measure {
  /// Children that begin at once, so that each has joined when the next is made; the last one made, the run may end.
  fileprivate static func joining(callers: Int) -> Measure {
    .prepared(count: callers) { _ in
      let gate = Gate()
      return (gate: gate, store: OperationStore.detached(query: GatedQuery(gate: gate).deduplicated()))
    } timed: { made, callers in
      let (gate, store) = made
      try await withThrowingTaskGroup { group in
        for _ in 0..<callers { group.addImmediateTask { _ = try await store.fetch() } }
        gate.open()
        try await group.waitForAll()
      }
    } finish: { made in
      precondition(made.store.valueUpdateCount == 1, "the callers did not share one run")
    }
  }

  fileprivate static func waiting(callers: Int) -> Measure {
    .prepared(count: callers) { _ in
      Gate()
    } timed: { gate, callers in
      let gate = gate
      try await withThrowingTaskGroup { group in
        for _ in 0..<callers { group.addImmediateTask { await gate.wait() } }
        gate.open()
        try await group.waitForAll()
      }
    }
  }
}

private struct GatedQuery: QueryRequest {
  typealias State = QueryState<Int, any Error>

  let gate: Gate

  var path: OperationPath { ["gated"] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    await self.gate.wait()
    return 1
  }
}
