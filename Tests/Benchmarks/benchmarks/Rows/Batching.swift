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
    return [
      Row(section, "a key", measured.difference, bar: 6),
      Row(section, "100 keys", measured.second),
      Row(section, "100 children that wait for a gate", measured.first),
    ]
  }
}

extension Measure {
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
