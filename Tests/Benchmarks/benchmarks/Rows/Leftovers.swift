internal import OperationBackoff
internal import OperationCore
internal import OperationDedupe
internal import OperationRetry

extension Benchmark {
  /// The objects and the memory that are left of cancelled subscriptions, deadlines and runs.
  static let leftovers = Benchmark(name: "leftovers") { _ in
    var rows: [Row] = []
    rows += try await Self.left(of: 100_000, "subscriptions", Self.subscriptions)
    rows += try await Self.left(of: 100_000, "cancelled deadlines", Self.cancelledDeadlines)
    rows += try await Self.left(of: 10_000, "cancelled delays", Self.cancelledDelays)
    rows += try await Self.left(of: 10_000, "abandoned retries", Self.abandonedRetries)
    rows += try await Self.left(of: 10_000, "abandoned shared runs", Self.abandonedRuns)
    rows += try await Self.left(of: 10_000, "polling stores", Self.pollingStores)
    rows += try await Self.left(of: 10_000, "cache times", Self.cacheTimes)
    rows += try await Self.left(of: 100_000, "scheduled operations", Self.scheduledOperations)
    return rows
  }

  /// Creates many objects with a token in each, and ends them. The returned value is retained until the count.
  private typealias Scenario = (_ count: Int, _ tokens: TokenCounter) async throws -> (any Sendable)?

  private static func left(of count: Int, _ name: String, _ scenario: Scenario) async throws -> [Row] {
    let section = "left of what has ended early"
    let tokens = TokenCounter()
    let acceptable = 100
    var alive = 0
    var blocks = Int.max
    // More than once: the process allocates on the first use, and Dispatch keeps blocks for each thread, in some of the
    // turns only. What leaks does so in each.
    for turn in 0..<4 where turn < 2 || blocks > acceptable {
      var stopwatch = Stopwatch(.allocations)
      stopwatch.start()
      let owner = try await scenario(count, tokens)
      alive = await tokens.remaining()
      stopwatch.stop()
      withExtendedLifetime(owner) {}
      blocks = min(blocks, stopwatch.allocated.blocksLeft)
    }
    var rows = [Row.number(section, "\(count.grouped) \(name): alive", Double(alive), bar: 0)]
    if Allocated.isCountable {
      let name = "\(count.grouped) \(name): blocks of memory"
      rows.append(.number(section, name, Double(max(0, blocks)), bar: Double(acceptable)))
    }
    return rows
  }
}

extension Benchmark {
  private static func subscriptions(count: Int, tokens: TokenCounter) -> (any Sendable)? {
    let store = OperationStore.detached(query: PostQuery(id: 1).disableAutomaticRunning())
    var subscriptions: [OperationSubscription] = []
    for _ in 0..<count {
      let token = tokens.token()
      subscriptions.append(store.subscribe(with: QueryEventHandler(onStateChanged: { _, _ in token.touch() })))
    }
    // Half of them are cancelled, and the others are released.
    for subscription in subscriptions[..<(count / 2)] { subscription.cancel() }
    subscriptions = []
    return store
  }

  private static func cancelledDeadlines(count: Int, tokens: TokenCounter) -> (any Sendable)? {
    let deadlines = OperationContext().operationDeadlines
    var subscriptions: [OperationSubscription] = []
    for _ in 0..<count {
      let token = tokens.token()
      subscriptions.append(deadlines.schedule(after: .seconds(3600)) { token.touch() })
    }
    for subscription in subscriptions { subscription.cancel() }
    return nil
  }

  private static func cancelledDelays(count: Int, tokens: TokenCounter) async -> (any Sendable)? {
    await withTaskGroup { group in
      for _ in 0..<count {
        let token = tokens.token()
        group.addImmediateTask {
          defer { token.touch() }
          try? await TaskSleepDelayer().delay(for: .seconds(3600))
        }
      }
      group.cancelAll()
    }
    return nil
  }

  private static func abandonedRetries(count: Int, tokens: TokenCounter) async -> (any Sendable)? {
    let query = FailingQuery(tokens: tokens).retry(limit: 3).backoff(.constant(.seconds(3600)))
    let store = OperationStore.detached(query: query)
    let callers = (0..<count).map { _ in Task.immediate { try await store.fetch() } }
    for caller in callers { caller.cancel() }
    for caller in callers { _ = await caller.result }
    return store
  }

  private static func abandonedRuns(count: Int, tokens: TokenCounter) async -> (any Sendable)? {
    let store = OperationStore.detached(query: EndlessQuery(tokens: tokens).deduplicated())
    for _ in 0..<count {
      let callers = (0..<2).map { _ in Task.immediate { try await store.fetch() } }
      for caller in callers { caller.cancel() }
      for caller in callers { _ = await caller.result }
    }
    return store
  }

  private static func pollingStores(count: Int, tokens: TokenCounter) -> (any Sendable)? {
    for id in 0..<count {
      let token = tokens.token()
      let query = PostQuery(id: id).rerun(every: .seconds(3600 + id))
      let store = OperationStore.detached(query: query)
      store.subscribe(with: QueryEventHandler(onStateChanged: { _, _ in token.touch() })).cancel()
    }
    return nil
  }

  private static func cacheTimes(count: Int, tokens: TokenCounter) -> (any Sendable)? {
    let client = OperationClient.plain()
    for id in 0..<count { _ = client.store(for: PostQuery(id: id).cacheTime(.seconds(3600 + id))) }
    client.clearStores()
    return client
  }
}
