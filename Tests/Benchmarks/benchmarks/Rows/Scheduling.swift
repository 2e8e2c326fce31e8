internal import OperationCore
internal import OperationScheduling

extension Benchmark {
  /// The costs that conditions, categories and a scheduler add to an operation whose body returns at once.
  static let scheduling = Benchmark(name: "scheduling") { harness in
    let section = "scheduling"
    let query = PostQuery(id: 1)
    let (_, _, condition) = try await harness.difference(
      from: .runningOnce(query),
      to: .runningOnce(query.condition(Satisfied()))
    )
    let (_, _, exclusion) = try await harness.difference(
      from: .runningOnce(query),
      to: .runningOnce(query.mutuallyExclusive("benchmark"))
    )
    let (_, scheduled, over) = try await harness.difference(from: .fetchingOnce(query), to: .scheduling(query))
    // On several cores, chance decides whether the value is there before its caller waits for it, which takes a block.
    // On one it does so rarely.
    let scheduledOnOneCore = try await harness.onOneCore { try await harness.time(.scheduling(query)) }
    let sizes = [10, 100_000]
    let waiting = sizes.map { WaitingOperations(count: $0) }
    let timings = try await harness.times(of: waiting.map { .adding(to: $0) })
    for operations in waiting { await operations.cancel() }
    return [
      Row(section, "a condition", condition, bar: 10),
      Row(section, "a category that is free", exclusion, bar: 10),
      Row(section, "schedule and run", scheduled),
      Row(section, "schedule and run, over a fetch", over, bar: 60),
    ]
      + zip(sizes, timings).map { Row(section, "schedule while \($0.grouped) wait", $1) }
      + [.growth(section, of: timings, bar: 1.5, gate: 3)]
      + Row.allocations(of: condition, section, "a condition", bar: 0)
      + Row.allocations(of: exclusion, section, "a category that is free", bar: 1)
      + Row.allocations(of: scheduledOnOneCore, section, "schedule and run", bar: 13, gate: 15.5)
  }
}

extension Benchmark {
  /// Operations of a scheduler with four places, of which a tenth is cancelled.
  static func scheduledOperations(count: Int, tokens: TokenCounter) async -> (any Sendable)? {
    let scheduler = OperationScheduler(maximumConcurrentOperations: 4)
    for number in 0..<count {
      let token = tokens.token()
      let operation = scheduler.schedule(ClosureOperation { _ in token.touch() })
      if number % 10 == 9 { operation.cancel() }
    }
    await scheduler.waitUntilEmpty()
    return scheduler
  }
}

private struct Satisfied: OperationCondition {
  func evaluate(in context: OperationContext) async -> OperationConditionResult { .satisfied }
}

extension Measure {
  /// A run without a store.
  fileprivate static func runningOnce<Operation: OperationRequest & Sendable>(_ operation: Operation) -> Measure
  where Operation.Value: Sendable {
    let runner = OperationRunner(operation: operation)
    return .awaiting {
      do {
        _ = try await runner.run(isolation: nil)
      } catch {
        fatalError("a run that cannot fail has failed: \(error)")
      }
    }
  }

  fileprivate static func fetchingOnce(_ query: PostQuery) -> Measure {
    let store = OperationStore.detached(query: query)
    return .awaiting {
      do {
        _ = try await store.fetch()
      } catch {
        fatalError("a fetch that cannot fail has failed: \(error)")
      }
    }
  }

  /// Schedules an operation and awaits its value.
  fileprivate static func scheduling(_ query: PostQuery) -> Measure {
    let scheduler = OperationScheduler()
    return .awaiting {
      do {
        _ = try await scheduler.schedule(query).value
      } catch {
        fatalError("an operation that cannot fail has failed: \(error)")
      }
    }
  }

  /// Schedules operations while others wait.
  fileprivate static func adding(to waiting: WaitingOperations) -> Measure {
    .prepared { _ in
      [ScheduledOperation<Int>]()
    } timed: { added, count in
      for _ in 0..<count { added.append(waiting.scheduler.schedule(PostQuery(id: 1))) }
    } finish: { added in
      for operation in added { operation.cancel() }
    }
  }
}

/// Operations that wait in a suspended scheduler.
private struct WaitingOperations {
  let scheduler = OperationScheduler()

  init(count: Int) {
    self.scheduler.suspend()
    for _ in 0..<count { self.scheduler.schedule(PostQuery(id: 1)) }
  }

  func cancel() async {
    self.scheduler.cancelAll()
    await self.scheduler.waitUntilEmpty()
  }
}
