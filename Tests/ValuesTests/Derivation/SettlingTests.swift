import OperationCore
import OperationDerivation
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// What it costs to wait for derived queries that have nothing to do.
@Suite(.bounded)
struct SettlingTests {
  @Test(arguments: [0, 1, 100])
  func `Waiting for derived queries of which none runs leaves no actor`(_ count: Int) async throws {
    let (client, cell) = (OperationClient.automatic(), Cell("", 1))
    let stores = (0..<count).map { number in
      let query = QueryOperation<Int, any Error>("sum", number) { context in
        try await context.value(of: cell.query) + number
      }
      return client.store(for: query.derived())
    }
    let subscriptions = OperationSubscription.combined(
      stores.map { $0.subscribe(with: QueryEventHandler(), isolation: nil) }
    )
    await client.settledDerivations()
    let jobs = await Waiting().jobs(of: client)
    #expect(jobs == 0 && stores.allSatisfy { $0.valueUpdateCount == 1 })
    subscriptions.cancel()
  }

  @Test
  func `Waiting for derived queries that run goes on once they have ended`() async throws {
    let (client, cell, gate) = (OperationClient.automatic(), Cell("", 1), Gate())
    let query = QueryOperation<Int, any Error>("held") { context in
      let value = try await context.value(of: cell.query)
      try await gate.wait()
      return value
    }
    let store = client.store(for: query.derived())
    let subscription = store.subscribe(with: QueryEventHandler(), isolation: nil)
    try await gate.arrivals(count: 1)
    async let jobs = Waiting().jobs(of: client)
    gate.open()
    _ = await jobs
    #expect(store.currentValue == 1 && !store.isLoading)
    subscription.cancel()
  }
}

/// An actor that counts the jobs of a wait: one that leaves the actor comes back by another job.
private actor Waiting {
  private final class Executor: SerialExecutor {
    let count = Counter()

    func enqueue(_ job: consuming ExecutorJob) {
      self.count.increment()
      let job = UnownedJob(job)
      let executor = self.asUnownedSerialExecutor()
      Task.detached { job.runSynchronously(on: executor) }
    }
  }

  private let executor = Executor()

  nonisolated var unownedExecutor: UnownedSerialExecutor { self.executor.asUnownedSerialExecutor() }

  /// How many jobs it takes to wait until the derived queries of a client have settled.
  func jobs(of client: OperationClient) async -> Int {
    let before = self.executor.count.value
    await client.settledDerivations()
    return self.executor.count.value - before
  }
}
