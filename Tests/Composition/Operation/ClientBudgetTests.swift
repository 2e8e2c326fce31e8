import Operation
import OperationTesting
import TestFixtures
import Testing

/// The budget that all retries of a client share.
@Suite(.bounded, .warningsAreIssues) struct ClientBudgetTests {
  private let clock = ManualClock()

  private func client(
    _ creator: OperationClient.DefaultStoreCreator,
    configure: (inout OperationContext) -> Void = { _ in }
  ) -> OperationClient {
    var context = OperationContext()
    context.use(self.clock)
    configure(&context)
    return OperationClient(defaultContext: context, storeCreator: creator)
  }

  /// Runs queries of a client, each with a path of its own, that always fail, and returns the number of attempts.
  private func attempts(
    of runs: Int,
    in client: OperationClient,
    from first: Int = 0,
    _ modify: (QueryOperation<Int, any Error>) -> any QueryRequest<Int, any Error> = { $0 }
  ) async -> Int {
    let attempts = Log<Int>()
    for run in first..<first + runs {
      let query = QueryOperation<Int, any Error>("client budget", run) { _ in
        attempts.append(run)
        throw Refused()
      }
      await self.fetch(modify(query), in: client)
    }
    return attempts.count
  }

  private func fetch(_ query: some QueryRequest<Int, any Error>, in client: OperationClient) async {
    _ = try? await client.store(for: query).fetch()
  }

  @Test func `While a service fails, retries are a fifth of the runs and a hundred at once`() async throws {
    let client = self.client(.default(backoff: .noBackoff, delayer: .noDelay))
    await expect(self.attempts(of: 1_000, in: client), equals: 1_000 + 200 + 100)
    let snapshot = try #require(client.retryBudget).snapshot()
    #expect(snapshot.name == "client" && snapshot.runs == 1_000 && snapshot.withdrawals == 300)
  }

  @Test func `A few failures are retried as often as the limit says`() async {
    let client = self.client(.default(backoff: .noBackoff, delayer: .noDelay))
    await expect(self.attempts(of: 3, in: client), equals: 12)
  }

  @Test func `A retry of one's own takes from the same budget, and one with a budget of its own does not`() async {
    let client = self.client(.default(backoff: .noBackoff, delayer: .noDelay))
    await expect(self.attempts(of: 100, in: client) { $0.retry(limit: 2) }, equals: 100 + 20 + 100)
    let own = RetryBudget(ratio: 1, minimumPerSecond: 0)
    await expect(self.attempts(of: 50, in: client, from: 1_000) { $0.retryBudget(own) }, equals: 100)
  }

  @Test func `A budget of one's own, or none, replaces that of the defaults`() async {
    let budget = RetryBudget(name: "mine", ratio: 0, minimumPerSecond: 1)
    let client = self.client(.default(backoff: .noBackoff, delayer: .noDelay, retryBudget: budget))
    #expect(client.retryBudget === budget)
    await expect(self.attempts(of: 10, in: client), equals: 20)
    let unbounded = self.client(.default(backoff: .noBackoff, delayer: .noDelay, retryBudget: nil))
    #expect(unbounded.retryBudget == nil)
    await expect(self.attempts(of: 100, in: unbounded), equals: 400)
    let contextual = self.client(.default(backoff: .noBackoff, delayer: .noDelay)) {
      $0.operationRetryBudget = RetryBudget(ratio: 1, minimumPerSecond: 0)
    }
    await expect(self.attempts(of: 20, in: contextual), equals: 40)
  }

  @Test func `Each client has a budget of its own, and a mutation that is retried takes from it`() async throws {
    #expect(self.client(.default()).retryBudget !== self.client(.default()).retryBudget)
    let client = self.client(.default(mutationRetryLimit: 1, backoff: .noBackoff, delayer: .noDelay))
    let attempts = Log<Int>()
    let mutation = MutationOperation<Int, Int, any Error>("client budget") { number, _ in
      attempts.append(number)
      throw Refused()
    }
    for number in 0..<50 { _ = try? await client.store(for: mutation).mutate(with: number) }
    expect(attempts.count, equals: 50 + 50)
  }

  @Test func `The defaults for tests have no budget`() {
    #expect(OperationClient().retryBudget == nil)
    #expect(OperationClient(storeCreator: .defaultTesting).retryBudget == nil)
  }
}
