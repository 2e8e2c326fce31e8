internal import OperationCore
internal import OperationMutation

extension Benchmark {
  /// Many active calls of one mutation: the whole cost of a call, from the creation of its task to its end.
  static let calls = Benchmark(name: "calls") { harness in
    let section = "calls of one mutation at once"
    let sizes = [1000, 8000]
    let timings = try await harness.times(of: sizes.map { .calling(times: $0) })
    return zip(sizes, timings).map { Row(section, $0.grouped, $1) }
      + [.growth(section, of: timings, bar: 1.5, gate: 3)]
  }
}

extension Measure {
  /// Immediate child tasks, of which each has called when the next is created. The calls end when all are active.
  fileprivate static func calling(times: Int) -> Measure {
    .prepared(count: times) { _ in
      let gate = Gate()
      return (gate: gate, store: OperationStore.detached(mutation: GatedMutation(gate: gate)))
    } timed: { made, times in
      let (gate, store) = made
      try await withThrowingTaskGroup { group in
        for number in 0..<times { group.addImmediateTask { _ = try await store.mutate(with: number) } }
        gate.open()
        try await group.waitForAll()
      }
    } finish: { made in
      precondition(!made.store.isLoading, "a call has not ended")
    }
  }
}

/// Yields once, and waits for a gate.
private struct GatedMutation: MutationRequest {
  let gate: Gate

  var path: OperationPath { ["gated"] }

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Int,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    continuation.yield(0)
    await self.gate.wait()
    return arguments
  }
}
