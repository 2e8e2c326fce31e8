internal import OperationBackoff
internal import OperationCore
internal import OperationDedupe
internal import OperationRetry

extension Benchmark {
  /// What is left of subscriptions, deadlines and runs that have ended before their time.
  static let leftovers = Benchmark(name: "leftovers") { _ in
    var rows: [Row] = []
    rows += try await Self.left(of: 100_000, "subscriptions", Self.subscriptions)
    rows += try await Self.left(of: 100_000, "cancelled deadlines", Self.cancelledDeadlines)
    rows += try await Self.left(of: 10_000, "cancelled delays", Self.cancelledDelays)
    rows += try await Self.left(of: 10_000, "abandoned retries", Self.abandonedRetries)
    rows += try await Self.left(of: 10_000, "abandoned sharedRuns", Self.abandonedRuns)
    rows += try await Self.left(of: 10_000, "polling stores", Self.pollingStores)
    rows += try await Self.left(of: 10_000, "cache times", Self.cacheTimes)
    rows += try await Self.left(of: 100_000, "scheduled operations", Self.scheduledOperations)
    return rows
  }

  /// Makes many things, with a token in each, and ends them. What it returns stays.
  private typealias Episode = (_ count: Int, _ census: Census) async throws -> (any Sendable)?

  private static func left(of count: Int, _ name: String, _ episode: Episode) async throws -> [Row] {
    let section = "left of what has ended early"
    let census = Census()
    let acceptable = 100
    var alive = 0
    var blocks = Int.max
    // More than once: what the process makes on first use and the blocks that Dispatch keeps at hand for each thread come
    // with some of the times, what is forgotten with each.
    for turn in 0..<4 where turn < 2 || blocks > acceptable {
      var stopwatch = Stopwatch(.allocations)
      stopwatch.start()
      let owner = try await episode(count, census)
      alive = await census.remaining()
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
  private static func subscriptions(count: Int, census: Census) -> (any Sendable)? {
    let store = OperationStore.detached(query: PostQuery(id: 1).disableAutomaticRunning())
    var subscriptions: [OperationSubscription] = []
    for _ in 0..<count {
      let token = census.token()
      subscriptions.append(store.subscribe(with: QueryEventHandler(onStateChanged: { _, _ in token.touch() })))
    }
    // Half of them are cancelled, the others dropped.
    for subscription in subscriptions[..<(count / 2)] { subscription.cancel() }
    subscriptions = []
    return store
  }

  private static func cancelledDeadlines(count: Int, census: Census) -> (any Sendable)? {
    let deadlines = OperationContext().operationDeadlines
    var subscriptions: [OperationSubscription] = []
    for _ in 0..<count {
      let token = census.token()
      subscriptions.append(deadlines.schedule(after: .seconds(3600)) { token.touch() })
    }
    for subscription in subscriptions { subscription.cancel() }
    return nil
  }

  private static func cancelledDelays(count: Int, census: Census) async -> (any Sendable)? {
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

  private static func abandonedRetries(count: Int, census: Census) async -> (any Sendable)? {
    let query = FailingQuery(census: census).retry(limit: 3).backoff(.constant(.seconds(3600)))
    let store = OperationStore.detached(query: query)
    let callers = (0..<count).map { _ in Task.immediate { try await store.fetch() } }
    for caller in callers { caller.cancel() }
    for caller in callers { _ = await caller.result }
    return store
  }

  private static func abandonedRuns(count: Int, census: Census) async -> (any Sendable)? {
    let store = OperationStore.detached(query: EndlessQuery(census: census).deduplicated())
    for _ in 0..<count {
      let callers = (0..<2).map { _ in Task.immediate { try await store.fetch() } }
      for caller in callers { caller.cancel() }
      for caller in callers { _ = await caller.result }
    }
    return store
  }

  private static func pollingStores(count: Int, census: Census) -> (any Sendable)? {
    for id in 0..<count {
      let token = census.token()
      let query = PostQuery(id: id).rerun(every: .seconds(3600 + id))
      let store = OperationStore.detached(query: query)
      store.subscribe(with: QueryEventHandler(onStateChanged: { _, _ in token.touch() })).cancel()
    }
    return nil
  }

  private static func cacheTimes(count: Int, census: Census) -> (any Sendable)? {
    let client = OperationClient.plain()
    for id in 0..<count { _ = client.store(for: PostQuery(id: id).cacheTime(.seconds(3600 + id))) }
    client.clearStores()
    return client
  }
}
