import OperationCore
import OperationNetworkObserving
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// `networkMode(_:)`
@Suite(.bounded, .warningsAreIssues)
struct NetworkModeTests {
  private let network = MockNetworkObserver(initialStatus: .disconnected)
  private let script = OperationScript<Int, any Error>()

  private func store<Query: QueryRequest<Int, any Error>>(
    _ query: Query
  ) -> OperationStore<QueryState<Int, any Error>> {
    .detached(query: query.networkObserver(self.network))
  }

  @Test
  func `In the mode online, a run and each retry pause while the network is away`() async throws {
    let store = self.store(self.script.query().modifier(OneMore()).networkMode(.online))
    let fetch = Task.immediate { try await store.fetch() }
    #expect(store.isPaused && self.script.runCount == 0)
    self.network.send(status: .connected)
    let first = try await self.script.next()
    #expect(!store.isPaused)
    self.network.send(status: .disconnected)
    first.fail(Refused())
    try await store.paused()
    expect(store.attempt?.index, equals: 1)
    self.network.send(status: .connected)
    try await self.script.next().succeed(2)
    try await expect(fetch.value, equals: 2)
    expect(self.network.subscriberCount, equals: 0)
  }

  @Test
  func `In the mode offlineFirst, the first attempt runs and a retry waits for the network`() async throws {
    let store = self.store(self.script.query().modifier(OneMore()).networkMode(.offlineFirst))
    let fetch = Task.immediate { try await store.fetch() }
    let first = try await self.script.next()
    #expect(!store.isPaused)
    first.fail(Refused())
    try await store.paused()
    #expect(self.script.runCount == 1 && store.attempt?.index == 1)
    self.network.send(status: .requiresConnection)
    #expect(store.isPaused)
    self.network.send(status: .connected)
    let second = try await self.script.next()
    expect(store.attempt?.index, equals: 2)
    second.succeed(1)
    try await expect(fetch.value, equals: 1)
  }

  @Test
  func `In the mode always, no observer is used`() async throws {
    let store = self.store(self.script.query().modifier(OneMore()).networkMode(.always))
    self.script.enqueue(.error(Refused()), .value(4))
    try await expect(store.fetch(), equals: 4)
    expect(self.network.subscriberCount, equals: 0)
  }

  @Test
  func `The mode nearest to the operation applies, wherever the observer is set`() async throws {
    self.script.enqueue(.value(1), .value(2))
    let always = OperationStore.detached(
      query: self.script.query().networkMode(.always).networkObserver(self.network).networkMode(.online)
    )
    try await expect(always.fetch(), equals: 1)
    let online = OperationStore.detached(
      query: self.script.query().networkObserver(self.network).networkMode(.online).networkMode(.always)
    )
    let fetch = Task.immediate { try await online.fetch() }
    #expect(online.isPaused)
    self.network.send(status: .connected)
    try await expect(fetch.value, equals: 2)
    expect(online.context.operationNetworkMode, equals: .online)
    expect(OperationContext().operationNetworkMode, equals: .always)
  }

  @Test
  func `A run waits only for the status that its operation needs`() async throws {
    self.script.enqueue(.value(1), .value(2))
    let offline = self.store(self.script.query().completelyOffline().networkMode(.online))
    try await expect(offline.fetch(), equals: 1)
    self.network.send(status: .requiresConnection)
    let modest = self.store(self.script.query().networkMode(.online).satisfiedConnectionStatus(.requiresConnection))
    try await expect(modest.fetch(), equals: 2)
  }

  @Test
  func `A run that is cancelled while it waits for the network leaves nothing`() async throws {
    let store = self.store(self.script.query().networkMode(.online))
    let fetch = Task.immediate { try await store.fetch() }
    expect(self.network.subscriberCount, equals: 1)
    fetch.cancel()
    await #expect(throws: CancellationError.self) { try await fetch.value }
    expect(self.network.subscriberCount, equals: 0)
    #expect(!store.isPaused && !store.isLoading && self.script.runCount == 0)
  }

  @Test
  func `A run may use the mode always although its operation does not`() async throws {
    let store = self.store(self.script.query().networkMode(.online))
    var context = OperationContext()
    context.operationNetworkMode = .always
    self.script.enqueue(.value(3))
    try await expect(store.fetch(using: context), equals: 3)
  }
}

extension OperationStore {
  /// Waits until the state is paused.
  fileprivate func paused() async throws {
    let recorder = EventRecorder<State>()
    let subscription = self.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    try await recorder.firstState(where: { $0.isPaused })
  }
}

/// A modifier of a user that retries once.
private struct OneMore<Operation: OperationRequest>: OperationModifier {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    do throws(Operation.Failure) {
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    } catch {
      context.attemptFailed(with: error)
      guard await context.pauseBeforeNextAttempt() else { throw error }
      var context = context
      context.beginNextAttempt(after: error)
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    }
  }
}
