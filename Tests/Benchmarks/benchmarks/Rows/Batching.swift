internal import OperationBatching
internal import OperationCore

extension Benchmark {
  /// The cost of a key of a batch, over that of a child task that waits for a gate, because each caller has to wait.
  static let batching = Benchmark(name: "batching") { harness in
    let section = "batch of 100 keys"
    let batcher = OperationBatcher<Int, Int>(maximumSize: 100, window: .seconds(60)) { keys, _ in
      var answers = [Int: Result<Int, any Error>](minimumCapacity: keys.count)
      for key in keys { answers[key] = .success(key) }
      return answers
    }
    let load: @Sendable (Int) async throws -> Void = { key in keep(try await batcher.load(key)) }
    let measured = try await harness.difference(
      from: .childrenOfGates,
      to: .children(load),
      over: 100
    )
    var rows = [
      Row(section, "a key", measured.difference, bar: 6),
      Row(section, "100 keys", measured.second),
      Row(section, "100 children that wait for a gate", measured.first),
    ]
    // There the wait for the batch is an edge of the graph of waits, and is searched for a cycle.
    let inside = try await harness.difference(
      from: .runs(of: .childrenOfGates),
      to: .runs(of: .children(load)),
      over: 100
    )
    rows.append(Row(section, "a key, in the run of a store", inside.difference))
    let left = "callers that leave a batch, one after the other"
    let sizes = [100, 10_000]
    let timings = try await harness.times(of: sizes.map { .leaving(callers: $0) })
    rows += zip(sizes, timings).map { Row(left, $0.grouped, $1) }
    rows.append(.growth(left, of: timings, bar: 1.5, gate: 3))
    return rows
  }
}

/// A query whose body is one repetition of a measure.
private struct MeasuredQuery: QueryRequest {
  typealias State = QueryState<Int, any Error>

  let measure: Measure

  var path: OperationPath { ["measured"] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    var ignored = Stopwatch(.time)
    try await self.measure.chunk(1, &ignored)
    return 1
  }
}

extension Measure {
  /// Runs of a store, each of which is one repetition of a measure.
  fileprivate static func runs(of measure: Measure) -> Measure {
    let store = OperationStore.detached(query: MeasuredQuery(measure: measure))
    return Measure { count, stopwatch in
      stopwatch.start()
      for _ in 0..<count { _ = try await store.fetch() }
      stopwatch.stop()
    }
  }
}

extension Measure {
  /// Tasks that join a batch, each with another key, and leave it at once. One caller stays, so the window stays open.
  fileprivate static func leaving(callers: Int) -> Measure {
    .prepared(count: callers) { _ in
      let batcher = OperationBatcher<Int, Int>(maximumSize: 1_000, window: .seconds(600)) { _, _ in [:] }
      return (batcher: batcher, staying: Task.immediate { try await batcher.load(-1) })
    } timed: { made, callers in
      let batcher = made.batcher
      for key in 0..<callers {
        let task = Task.immediate { try await batcher.load(key) }
        task.cancel()
        _ = await task.result
      }
    } finish: { made in
      made.staying.cancel()
      _ = await made.staying.result
    }
  }

  /// A hundred child tasks that wait for one gate, which opens when all wait.
  fileprivate static let childrenOfGates = Measure { count, stopwatch in
    stopwatch.start()
    for _ in 0..<count {
      let gate = Gate()
      try await withThrowingTaskGroup { group in
        for _ in 0..<100 { group.addImmediateTask { await gate.wait() } }
        gate.open()
        try await group.waitForAll()
      }
    }
    stopwatch.stop()
  }

  /// A hundred child tasks that run a closure, each with a number of its own.
  fileprivate static func children(_ body: @escaping @Sendable (Int) async throws -> Void) -> Measure {
    Measure { count, stopwatch in
      stopwatch.start()
      for _ in 0..<count {
        try await withThrowingTaskGroup { group in
          for number in 0..<100 { group.addImmediateTask { try await body(number) } }
          try await group.waitForAll()
        }
      }
      stopwatch.stop()
    }
  }
}
