internal import OperationChaos
internal import OperationCore
internal import OperationFallback
internal import OperationTimeout

extension Benchmark {
  /// The costs that a timeout, a fallback and disabled chaos add to a run outside of a store.
  static let timeouts = Benchmark(name: "timeouts") { harness in
    let section = "over a bare operation"
    let bare = Measure.running(PostQuery(id: 1))
    let (_, _, timeout) = try await harness.difference(
      from: bare,
      to: .running(PostQuery(id: 1).timeout(.seconds(10)))
    )
    let (_, _, fallback) = try await harness.difference(from: bare, to: .running(PostQuery(id: 1).fallback(0)))
    let (_, _, chaos) = try await harness.difference(
      from: bare,
      to: .running(PostQuery(id: 1).chaos(Chaos(failureRatio: 0.5, seed: 1)))
    )
    let suspended = try await harness.suspendingDifference { $0.timeout(.seconds(10)) }
    return [
      Row(section, "timeout", timeout, bar: 15),
      Row(section, "timeout, of a body that suspends", suspended.onOneCore, bar: 60),
      Row(section, "the same on all cores", suspended.onAllCores),
      Row(section, "fallback", fallback, bar: 1),
      Row(section, "chaos that is off", chaos),
    ]
      // One for the run with its state. `Task.immediate` makes four: two contexts of the closure, the task, its first
      // slab.
      + Row.allocations(of: timeout, section, "a timeout", bar: 1, gate: 6)
      + Row.allocations(of: fallback, section, "a fallback", bar: 0)
  }
}

extension Measure {
  /// A run outside of a store.
  static func running<Query: QueryRequest>(_ query: Query) -> Measure where Query.Value: Sendable {
    let runner = OperationRunner(operation: query)
    return .awaiting {
      do {
        _ = try await runner.run()
      } catch {
        fatalError("a run that cannot fail has failed: \(error)")
      }
    }
  }
}
