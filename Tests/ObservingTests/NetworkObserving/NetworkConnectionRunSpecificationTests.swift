import OperationCore
import OperationNetworkObserving
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct NetworkConnectionRunSpecificationTests {
  private let observer = MockNetworkObserver(initialStatus: .disconnected)
  private var specification: NetworkConnectionRunSpecification { .connected(to: self.observer) }

  @Test func `It holds while the network is connected as well as the context requires`() {
    let specification = self.specification
    for required in NetworkConnectionStatus.allCases {
      var context = OperationContext()
      context.satisfiedConnectionStatus = required
      for status in NetworkConnectionStatus.allCases {
        self.observer.send(status: status)
        expect(specification.isSatisfied(in: context), equals: (status >= required))
      }
    }
    expect(OperationContext().satisfiedConnectionStatus, equals: .connected)
  }

  @Test func `It reports each change, but not the initial status`() {
    let specification = self.specification
    let satisfied = Log<Bool>()
    let subscription = specification.subscribe(in: OperationContext()) {
      satisfied.append(specification.isSatisfied(in: OperationContext()))
    }
    expect(satisfied.all, equals: [])
    self.observer.send(status: .connected)
    self.observer.send(status: .disconnected)
    expect(satisfied.all, equals: [true, false])
    subscription.cancel()
    self.observer.send(status: .connected)
    expect(satisfied.all, equals: [true, false])
  }

  @Test func `No subscription is left after a check, a cancellation or a release`() {
    let specification = self.specification
    _ = specification.isSatisfied(in: OperationContext())
    expect(self.observer.subscriberCount, equals: 0)
    let subscription = specification.subscribe(in: OperationContext()) {}
    expect(self.observer.subscriberCount, equals: 1)
    subscription.cancel()
    expect(self.observer.subscriberCount, equals: 0)
    _ = specification.subscribe(in: OperationContext()) {}
    expect(self.observer.subscriberCount, equals: 0)
  }

  @Test func `A change while the subscription is made is not missed`() {
    let changes = Log<Void>()
    let observer = EagerObserver(statuses: [.disconnected, .connected])
    let specification = NetworkConnectionRunSpecification.connected(to: observer)
    let subscription = specification.subscribe(in: OperationContext()) { changes.append(()) }
    expect(changes.count, equals: 1)
    #expect(specification.isSatisfied(in: OperationContext()))
    subscription.cancel()
  }

  @Test func `It holds while the observer has reported nothing`() {
    let specification = NetworkConnectionRunSpecification.connected(to: EagerObserver(statuses: []))
    #expect(specification.isSatisfied(in: OperationContext()))
  }

  @Test func `It takes any observer, and can be combined`() {
    let observer: any NetworkObserver & Sendable = self.observer
    let specification = !NetworkConnectionRunSpecification.connected(to: observer)
    #expect(specification.isSatisfied(in: OperationContext()))
    self.observer.send(status: .connected)
    #expect(!specification.isSatisfied(in: OperationContext()))
  }

  @Test func `Modifiers set the status that an operation needs, and the nearest one applies`() {
    let query = ScriptedQuery(OperationScript<Int, any Error>())
    func status(_ operation: some OperationRequest) -> NetworkConnectionStatus {
      OperationRunner(operation: operation).context.satisfiedConnectionStatus
    }
    expect(status(query), equals: .connected)
    expect(status(query.satisfiedConnectionStatus(.requiresConnection)), equals: .requiresConnection)
    expect(status(query.completelyOffline()), equals: .disconnected)
    expect(status(query.completelyOffline(false)), equals: .connected)
    expect(status(query.completelyOffline().satisfiedConnectionStatus(.connected)), equals: .disconnected)
  }

  @Test func `A store reruns its query when the network is back`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(1))
    let store = OperationStore.detached(
      query: ScriptedQuery(script).enableAutomaticRunning(onlyWhen: self.specification).rerunOnChange(
        of: self.specification
      )
    )
    let subscription = store.subscribe(with: OperationEventHandler())
    expect(script.runCount, equals: 0)
    self.observer.send(status: .requiresConnection)
    expect(script.runCount, equals: 0)
    self.observer.send(status: .connected)
    try await script.runs(count: 1)
    self.observer.send(status: .connected)
    self.observer.send(status: .disconnected)
    try await script.noActiveRuns()
    expect(script.runCount, equals: 1)
    subscription.cancel()
  }

  @Test func `A store that is released cancels its subscription to the observer`() {
    do {
      let script = OperationScript<Int, any Error>(default: .value(1))
      let store = OperationStore.detached(query: ScriptedQuery(script).rerunOnChange(of: self.specification))
      expect(self.observer.subscriberCount, equals: 1)
      _ = store.path
    }
    expect(self.observer.subscriberCount, equals: 0)
  }
}

/// An observer of a user that reports changes only.
@Suite(.bounded, .warningsAreIssues) struct ChangesOnlyTests {
  private let observer = ChangesOnlyObserver()
  private let context = OperationContext()

  @Test func `It counts as connected until the first status, which is stored from the first check on`() {
    let specification = NetworkConnectionRunSpecification.connected(to: self.observer)
    let copy = specification
    #expect(specification.isSatisfied(in: self.context))
    self.observer.source.send(.requiresConnection)
    #expect(!specification.isSatisfied(in: self.context))
    #expect(!copy.isSatisfied(in: self.context))
    var easy = self.context
    easy.satisfiedConnectionStatus = .requiresConnection
    #expect(copy.isSatisfied(in: easy))
    expect(self.observer.source.subscriberCount, equals: 1)
    self.observer.source.send(.connected)
    #expect(copy.isSatisfied(in: self.context))
  }

  @Test func `Copies share the status that one of them has received, and nothing is left after the last subscription`()
  {
    let specification = NetworkConnectionRunSpecification.connected(to: self.observer)
    let copy = specification
    let (first, second) = (Log<Bool>(), Log<Bool>())
    let subscriptions = [
      specification.subscribe(in: self.context) { first.append(copy.isSatisfied(in: OperationContext())) },
      copy.subscribe(in: self.context) { second.append(specification.isSatisfied(in: OperationContext())) },
    ]
    expect(self.observer.source.subscriberCount, equals: 1)
    self.observer.source.send(.disconnected)
    self.observer.source.send(.connected)
    expect(first.all, equals: [false, true])
    expect(second.all, equals: [false, true])
    subscriptions[0].cancel()
    self.observer.source.send(.disconnected)
    expect(first.all, equals: [false, true])
    expect(second.all, equals: [false, true, false])
    subscriptions[1].cancel()
    expect(self.observer.source.subscriberCount, equals: 0)
  }

  @Test func `The subscription that a specification keeps for its checks is cancelled with it`() {
    do {
      let specification = NetworkConnectionRunSpecification.connected(to: self.observer)
      _ = specification.isSatisfied(in: self.context)
      expect(self.observer.source.subscriberCount, equals: 1)
    }
    expect(self.observer.source.subscriberCount, equals: 0)
  }

  @Test func `A store runs while connected, and reruns when the network is back`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(1))
    let specification = NetworkConnectionRunSpecification.connected(to: AnySendableNetworkObserver(self.observer))
    let store = OperationStore.detached(
      query: ScriptedQuery(script)
        .enableAutomaticRunning(onlyWhen: specification)
        .rerunOnChange(of: specification)
        .stale(after: .zero)
    )
    self.observer.source.send(.disconnected)
    let subscription = store.subscribe(with: OperationEventHandler())
    expect(script.runCount, equals: 0)
    self.observer.source.send(.requiresConnection)
    expect(script.runCount, equals: 0)
    self.observer.source.send(.connected)
    try await script.runs(count: 1)
    try await script.noActiveRuns()
    subscription.cancel()
  }

  @Test func `After checks, subscriptions and changes on many threads, the last status holds`() async throws {
    let specification = NetworkConnectionRunSpecification.connected(to: self.observer)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask { [source = self.observer.source] in
          let copy = specification
          for round in 0..<200 {
            let subscription = copy.subscribe(in: OperationContext()) {}
            _ = copy.isSatisfied(in: OperationContext())
            source.send(round.isMultiple(of: 2) ? .connected : .disconnected)
            subscription.cancel()
          }
        }
      }
    }
    #expect(specification.isSatisfied(in: self.context))
    self.observer.source.send(.disconnected)
    #expect(!specification.isSatisfied(in: self.context))
    self.observer.source.send(.connected)
    #expect(specification.isSatisfied(in: self.context))
  }
}

/// An observer that reports changes only.
private struct ChangesOnlyObserver: NetworkObserver, Sendable {
  let source = ChangeSource<NetworkConnectionStatus>()

  func subscribe(with handler: @escaping @Sendable (NetworkConnectionStatus) -> Void) -> OperationSubscription {
    self.source.subscribe(handler)
  }
}

/// An observer that reports some statuses at once, and none later.
private struct EagerObserver: NetworkObserver, Sendable {
  let statuses: [NetworkConnectionStatus]

  func subscribe(with handler: @escaping @Sendable (NetworkConnectionStatus) -> Void) -> OperationSubscription {
    for status in self.statuses { handler(status) }
    return .empty
  }
}
