internal import OperationCore
internal import OperationDedupe

extension Benchmark {
  /// Many callers of one run: the whole cost of a caller, from the creation of its task to its end.
  static let callers = Benchmark(name: "callers") { harness in
    let section = "callers of one deduplicated run"
    var rows: [Row] = []
    let sizes = [1000, 10_000]
    let timings = try await harness.times(of: sizes.map { .joining(callers: $0) })
    rows += zip(sizes, timings).map { Row(section, $0.grouped, $1, bar: 60) }
    rows.append(.growth(section, of: timings, bar: 1.2, gate: 3))
    let bare = try await harness.times(of: sizes.map { .waiting(callers: $0) })
    rows += zip(sizes, bare).map { Row(section, "tasks alone, awaiting a continuation each, \($0.grouped)", $1) }
    rows.append(.growth(section, "growth of the tasks alone", of: bare))
    return rows
  }
}

extension Measure {
  /// Immediate child tasks, of which each has joined when the next is created. The run ends when all have joined.
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
