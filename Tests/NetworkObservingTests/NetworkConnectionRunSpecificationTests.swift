import OperationCore
import OperationNetworkObserving
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@Suite(.warningsAreIssues) struct NetworkConnectionRunSpecificationTests {
  private let observer = MockNetworkObserver(initialStatus: .disconnected)
  private var specification: NetworkConnectionRunSpecification { .connected(to: self.observer) }

  @Test func `It holds while the network is connected as well as the context asks for`() {
    let specification = self.specification
    for required in NetworkConnectionStatus.allCases {
      var context = OperationContext()
      context.satisfiedConnectionStatus = required
      for status in NetworkConnectionStatus.allCases {
        self.observer.send(status: status)
        #expect(specification.isSatisfied(in: context) == (status >= required))
      }
    }
    #expect(OperationContext().satisfiedConnectionStatus == .connected)
  }

  @Test func `It calls for each change, not for the status it begins with`() {
    let specification = self.specification
    let satisfied = Log<Bool>()
    let subscription = specification.subscribe(in: OperationContext()) {
      satisfied.append(specification.isSatisfied(in: OperationContext()))
    }
    #expect(satisfied.all == [])
    self.observer.send(status: .connected)
    self.observer.send(status: .disconnected)
    #expect(satisfied.all == [true, false])
    subscription.cancel()
    self.observer.send(status: .connected)
    #expect(satisfied.all == [true, false])
  }

  @Test func `Nothing is left of it when it is asked, cancelled or dropped`() {
    let specification = self.specification
    _ = specification.isSatisfied(in: OperationContext())
    #expect(self.observer.subscriberCount == 0)
    let subscription = specification.subscribe(in: OperationContext()) {}
    #expect(self.observer.subscriberCount == 1)
    subscription.cancel()
    #expect(self.observer.subscriberCount == 0)
    _ = specification.subscribe(in: OperationContext()) {}
    #expect(self.observer.subscriberCount == 0)
  }

  @Test func `A change while the subscription is made is not missed`() {
    let changes = Log<Void>()
    let observer = EagerObserver(statuses: [.disconnected, .connected])
    let specification = NetworkConnectionRunSpecification.connected(to: observer)
    let subscription = specification.subscribe(in: OperationContext()) { changes.append(()) }
    #expect(changes.count == 1)
    #expect(specification.isSatisfied(in: OperationContext()))
    subscription.cancel()
  }

  @Test func `An observer that reports nothing delays no run`() {
    let specification = NetworkConnectionRunSpecification.connected(to: EagerObserver(statuses: []))
    #expect(specification.isSatisfied(in: OperationContext()))
  }

  @Test func `It takes any observer, and combines`() {
    let observer: any NetworkObserver & Sendable = self.observer
    let specification = !NetworkConnectionRunSpecification.connected(to: observer)
    #expect(specification.isSatisfied(in: OperationContext()))
    self.observer.send(status: .connected)
    #expect(!specification.isSatisfied(in: OperationContext()))
  }

  @Test func `Modifiers say what an operation needs, and the nearest one wins`() {
    let query = ScriptedQuery(OperationScript<Int, any Error>())
    func status(_ operation: some OperationRequest) -> NetworkConnectionStatus {
      OperationRunner(operation: operation).context.satisfiedConnectionStatus
    }
    #expect(status(query) == .connected)
    #expect(status(query.satisfiedConnectionStatus(.requiresConnection)) == .requiresConnection)
    #expect(status(query.completelyOffline()) == .disconnected)
    #expect(status(query.completelyOffline(false)) == .connected)
    #expect(status(query.completelyOffline().satisfiedConnectionStatus(.connected)) == .disconnected)
  }

  @Test func `A store reruns its query when the network is back`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(1))
    let store = OperationStore.detached(
      query: ScriptedQuery(script).enableAutomaticRunning(onlyWhen: self.specification).rerunOnChange(
        of: self.specification
      )
    )
    let subscription = store.subscribe(with: OperationEventHandler())
    #expect(script.runCount == 0)
    self.observer.send(status: .requiresConnection)
    #expect(script.runCount == 0)
    self.observer.send(status: .connected)
    try await script.runs(count: 1)
    self.observer.send(status: .connected)
    self.observer.send(status: .disconnected)
    try await script.noActiveRuns()
    #expect(script.runCount == 1)
    subscription.cancel()
  }

  @Test func `A store that goes takes its subscription to the observer with it`() {
    do {
      let script = OperationScript<Int, any Error>(default: .value(1))
      let store = OperationStore.detached(query: ScriptedQuery(script).rerunOnChange(of: self.specification))
      #expect(self.observer.subscriberCount == 1)
      _ = store.path
    }
    #expect(self.observer.subscriberCount == 0)
  }
}

/// An observer that tells changes alone, as a user may write one.
@Suite(.warningsAreIssues) struct ChangesAloneTests {
  private let observer = ChangesAloneObserver()
  private let context = OperationContext()

  @Test func `It counts as connected until the first status, which is remembered from the first question on`() {
    let specification = NetworkConnectionRunSpecification.connected(to: self.observer)
    let copy = specification
    #expect(specification.isSatisfied(in: self.context))
    self.observer.send(.requiresConnection)
    #expect(!specification.isSatisfied(in: self.context))
    #expect(!copy.isSatisfied(in: self.context))
    var easy = self.context
    easy.satisfiedConnectionStatus = .requiresConnection
    #expect(copy.isSatisfied(in: easy))
    #expect(self.observer.subscriberCount == 1)
    self.observer.send(.connected)
    #expect(copy.isSatisfied(in: self.context))
  }

  @Test func `Copies share the status that one of them has received, and nothing is left after the last user`() {
    let specification = NetworkConnectionRunSpecification.connected(to: self.observer)
    let copy = specification
    let (first, second) = (Log<Bool>(), Log<Bool>())
    let subscriptions = [
      specification.subscribe(in: self.context) { first.append(copy.isSatisfied(in: OperationContext())) },
      copy.subscribe(in: self.context) { second.append(specification.isSatisfied(in: OperationContext())) },
    ]
    #expect(self.observer.subscriberCount == 1)
    self.observer.send(.disconnected)
    self.observer.send(.connected)
    #expect(first.all == [false, true])
    #expect(second.all == [false, true])
    subscriptions[0].cancel()
    self.observer.send(.disconnected)
    #expect(first.all == [false, true])
    #expect(second.all == [false, true, false])
    subscriptions[1].cancel()
    #expect(self.observer.subscriberCount == 0)
  }

  @Test func `The subscription that a specification keeps for its questions is cancelled with it`() {
    do {
      let specification = NetworkConnectionRunSpecification.connected(to: self.observer)
      _ = specification.isSatisfied(in: self.context)
      #expect(self.observer.subscriberCount == 1)
    }
    #expect(self.observer.subscriberCount == 0)
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
    self.observer.send(.disconnected)
    let subscription = store.subscribe(with: OperationEventHandler())
    #expect(script.runCount == 0)
    self.observer.send(.requiresConnection)
    #expect(script.runCount == 0)
    self.observer.send(.connected)
    try await script.runs(count: 1)
    try await script.noActiveRuns()
    subscription.cancel()
  }

  @Test func `Questions, subscriptions and changes on many threads leave the last status`() async throws {
    let specification = NetworkConnectionRunSpecification.connected(to: self.observer)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask { [observer = self.observer] in
          let copy = specification
          for round in 0..<200 {
            let subscription = copy.subscribe(in: OperationContext()) {}
            _ = copy.isSatisfied(in: OperationContext())
            observer.send(round.isMultiple(of: 2) ? .connected : .disconnected)
            subscription.cancel()
          }
        }
      }
    }
    #expect(specification.isSatisfied(in: self.context))
    self.observer.send(.disconnected)
    #expect(!specification.isSatisfied(in: self.context))
    self.observer.send(.connected)
    #expect(specification.isSatisfied(in: self.context))
  }
}

/// Calls handlers when it is told to, and not before.
private final class ChangesAloneObserver: NetworkObserver, Sendable {
  private let handlers = Mutex<[Int: @Sendable (NetworkConnectionStatus) -> Void]>([:])
  private let lastID = Atomic(0)

  var subscriberCount: Int { self.handlers.withLock { $0.count } }

  func send(_ status: NetworkConnectionStatus) {
    for handler in self.handlers.withLock({ Array($0.values) }) { handler(status) }
  }

  func subscribe(with handler: @escaping @Sendable (NetworkConnectionStatus) -> Void) -> OperationSubscription {
    let id = self.lastID.add(1, ordering: .relaxed).newValue
    self.handlers.withLock { $0[id] = handler }
    return OperationSubscription {
      let handler = self.handlers.withLock { $0.removeValue(forKey: id) }
      _ = consume handler
    }
  }
}

/// Tells some statuses at once, and nothing later.
private struct EagerObserver: NetworkObserver, Sendable {
  let statuses: [NetworkConnectionStatus]

  func subscribe(with handler: @escaping @Sendable (NetworkConnectionStatus) -> Void) -> OperationSubscription {
    for status in self.statuses { handler(status) }
    return .empty
  }
}
