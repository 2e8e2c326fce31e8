internal import OperationBackoff
internal import OperationCore
internal import OperationDedupe

extension Benchmark {
  /// What is left of subscriptions, deadlines and flights that have ended before their time.
  static let leftovers = Benchmark(name: "leftovers") { _ in
    var rows: [Row] = []
    rows += try await Self.left(of: 100_000, "subscriptions") { count, census in
      let store = OperationStore.detached(query: PostQuery(id: 1).disableAutomaticRunning())
      var subscriptions = (0..<count).map { _ in
        let token = census.token()
        return store.subscribe(with: QueryEventHandler(onStateChanged: { _, _ in token.touch() }))
      }
      for subscription in subscriptions[..<(count / 2)] { subscription.cancel() }
      subscriptions = []
      return store
    }
    rows += try await Self.left(of: 100_000, "cancelled deadlines") { count, census in
      let deadlines = OperationContext().operationDeadlines
      let subscriptions = (0..<count).map { _ in
        let token = census.token()
        return deadlines.schedule(after: .seconds(3600)) { token.touch() }
      }
      for subscription in subscriptions { subscription.cancel() }
      return nil
    }
    rows += try await Self.left(of: 10_000, "cancelled delays") { count, census in
      await withTaskGroup { group in
        for _ in 0..<count {
          let token = census.token()
          group.addImmediateTask {
            defer { token.touch() }
            try? await TaskSleepDelayer().delay(for: .seconds(3600))
          }
        }
        group.cancelAll()
      }
      return nil
    }
    rows += try await Self.left(of: 10_000, "abandoned flights") { count, census in
      let store = OperationStore.detached(query: EndlessQuery(census: census).deduplicated())
      for _ in 0..<count / 2 {
        let callers = (0..<2).map { _ in Task.immediate { try await store.fetch() } }
        for caller in callers { caller.cancel() }
        for caller in callers { _ = await caller.result }
      }
      return store
    }
    return rows
  }

  /// What is left while the object that the body returns, if any, is still there.
  private static func left(
    of count: Int,
    _ name: String,
    _ body: (Int, Census) async throws -> (any Sendable)?
  ) async throws -> [Row] {
    let section = "left of what has ended early"
    let census = Census()
    // Once for nothing: what the process makes on first use does not count, nor the few blocks that Dispatch keeps at hand.
    _ = try await body(count, census)
    _ = await census.remaining()
    var stopwatch = Stopwatch(.allocations)
    stopwatch.start()
    let owner = try await body(count, census)
    let alive = await census.remaining()
    stopwatch.stop()
    withExtendedLifetime(owner) {}
    var rows = [Row.number(section, "\(count.grouped) \(name): alive", Double(alive), bar: 0)]
    if Allocated.isCountable {
      let blocks = stopwatch.allocated.blocksLeft
      rows.append(.number(section, "\(count.grouped) \(name): blocks of memory", Double(blocks), bar: 100))
    }
    return rows
  }
}

/// Waits until it is cancelled.
private struct EndlessQuery: QueryRequest {
  typealias State = QueryState<Int, any Error>

  let census: Census

  var path: OperationPath { ["endless"] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    let token = self.census.token()
    defer { token.touch() }
    let gate = Gate()
    await withTaskCancellationHandler(operation: gate.wait) { gate.open() }
    throw CancellationError()
  }
}
