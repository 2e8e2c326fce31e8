internal import OperationCore
internal import OperationScheduling

extension Benchmark {
  /// What an operation costs among many that hold each other back, from its scheduling to its end.
  static let manyOperations = Benchmark(name: "many operations") { harness in
    let section = "many operations, each"
    let programs: [(String, @Sendable (Int) -> Measure)] = [
      ("in a chain of dependencies", { .running(count: $0) { $0.addChain } }),
      ("after one other", { .running(count: $0) { $0.addStar } }),
      ("vital", { .running(count: $0) { $0.addVitals } }),
      ("barrier", { .running(count: $0) { $0.addBarriers } }),
      ("run inside of a held category", { .runningInsideOfCategory(count: $0) }),
    ]
    let sizes = [100, 10_000]
    var rows: [Row] = []
    for (name, measure) in programs {
      let timings = try await harness.times(of: sizes.map(measure))
      rows += zip(sizes, timings).map { Row(section, "\(name), \($0.grouped)", $1) }
      rows.append(.growth(section, "\(name), growth", of: timings, bar: 2, gate: 4))
    }
    return rows
  }
}

extension Measure {
  /// Operations of a suspended scheduler that is then resumed.
  fileprivate static func running(
    count: Int,
    _ adding: @escaping @Sendable (ManyOperations) -> (Int) -> Void
  ) -> Measure {
    .prepared(count: count) { _ in
      ManyOperations()
    } timed: { operations, count in
      adding(operations)(count)
      operations.scheduler.resume()
      await operations.scheduler.waitUntilEmpty()
    }
  }

  /// Runs that wait for a category which the operation around them holds, and lends to one after the other.
  fileprivate static func runningInsideOfCategory(count: Int) -> Measure {
    let inner = OperationRunner(operation: PostQuery(id: 1).mutuallyExclusive("held"))
    return .prepared(count: count) { _ in
      ()
    } timed: { _, count in
      let outer = ClosureOperation<Void> { _ in
        try await withThrowingTaskGroup { group in
          for _ in 0..<count { group.addTask { _ = try await inner.run(isolation: nil) } }
          try await group.waitForAll()
        }
      }
      try await OperationRunner(operation: outer.mutuallyExclusive("held")).run(isolation: nil)
    }
  }
}

/// Operations that do nothing, and wait for each other.
private struct ManyOperations: Sendable {
  let scheduler = OperationScheduler()

  init() {
    self.scheduler.suspend()
  }

  func addChain(count: Int) {
    var last = self.add()
    for _ in 1..<count { last = self.add(after: last) }
  }

  func addStar(count: Int) {
    let first = self.add()
    for _ in 1..<count { _ = self.add(after: first) }
  }

  func addVitals(count: Int) {
    for _ in 0..<count { self.scheduler.schedule(PostQuery(id: 1), vital: true) }
  }

  func addBarriers(count: Int) {
    for _ in 0..<count { self.scheduler.scheduleBarrier(PostQuery(id: 1)) }
  }

  private func add(after other: ScheduledOperation<Int>? = nil) -> ScheduledOperation<Int> {
    self.scheduler.schedule(PostQuery(id: 1)) { operation in
      if let other { operation.addDependency(other) }
    }
  }
}
