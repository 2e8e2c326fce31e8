import Operation
import OperationChaos
import OperationTesting
import TestFixtures

/// A client with its usual defaults on manual time, and the runs of one query of it.
struct ClientDefaults {
  /// What the body of the query does.
  enum Body: Sendable {
    /// Takes 30 seconds, then returns 1.
    case slow
    /// Fails at once.
    case failing
  }

  /// What a caller has experienced.
  struct Experience: Equatable, CustomStringConvertible {
    var attempts: Int
    /// The time at which the caller has its outcome.
    var freed: Duration
    var outcome: String

    var description: String { "\(self.attempts) attempts, free after \(self.freed), \(self.outcome)" }
  }

  let clock = ManualClock()
  let network: MockNetworkObserver
  let attempts = Counter()
  private let executor = SteppedExecutor()
  let body: Body

  init(_ body: Body, isOnline: Bool = true) {
    self.body = body
    self.network = MockNetworkObserver(initialStatus: isOnline ? .connected : .disconnected)
  }

  var query: QueryOperation<Int, any Error> {
    let (attempts, body) = (self.attempts, self.body)
    return QueryOperation("query") { context in
      attempts.increment()
      guard body == .slow else { throw Refused() }
      try await context.operationDeadlines.sleep(for: .seconds(30))
      return 1
    }
  }

  /// A client with the defaults of the umbrella module, except for the time and the network.
  func client(mutationRetryLimit: Int = 0) -> OperationClient {
    var context = OperationContext()
    context.use(self.clock)
    context.operationChaos = true
    context.operationTaskConfiguration.executorPreference = self.executor
    let creator = OperationClient.DefaultStoreCreator.default(
      mutationRetryLimit: mutationRetryLimit,
      delayer: self.clock,
      networkObserver: self.network,
      activityObserver: nil
    )
    return OperationClient(defaultContext: context, storeCreator: creator)
  }

  /// Runs the query until its caller is free, for at most 100 seconds of the clock.
  func experience(of query: some QueryRequest<Int, any Error>) -> Experience {
    self.experience { try await self.client().store(for: query).fetch() }
  }

  /// Runs a body until it has ended, for at most 100 seconds of the clock.
  func experience(of body: @escaping @Sendable () async throws -> Int) -> Experience {
    let outcome = Box<(String, Duration)?>(nil)
    let (clock, executor) = (self.clock, self.executor)
    let task = Task(executorPreference: executor) {
      let text: String
      do { text = "\(try await body())" } catch { text = "\(error)" }
      outcome.value = (text, clock.elapsed)
    }
    executor.runAll()
    while outcome.value == nil, clock.elapsed < .seconds(100), clock.advanceToNextSleeper() != nil { executor.runAll() }
    let (text, freed) = outcome.value ?? ("never", .seconds(100))
    let attempts = self.attempts.value
    task.cancel()
    executor.runAll()
    return Experience(attempts: attempts, freed: freed, outcome: text)
  }
}
