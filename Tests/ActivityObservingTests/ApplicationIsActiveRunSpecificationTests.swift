import OperationActivityObserving
import OperationCore
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@Suite(.warningsAreIssues) struct ApplicationIsActiveRunSpecificationTests {
  private let observer = MockApplicationActivityObserver(isActive: false)
  private var specification: ApplicationIsActiveRunSpecification { .applicationIsActive(observer: self.observer) }

  @Test func `It holds while the application is active`() {
    let specification = self.specification
    #expect(!specification.isSatisfied(in: OperationContext()))
    self.observer.send(isActive: true)
    #expect(specification.isSatisfied(in: OperationContext()))
    #expect(self.observer.subscriberCount == 0)
  }

  @Test func `It never holds for an operation that disables it`() {
    var context = OperationContext()
    #expect(context.isApplicationActiveRerunningEnabled)
    context.isApplicationActiveRerunningEnabled = false
    self.observer.send(isActive: true)
    #expect(!self.specification.isSatisfied(in: context))
  }

  @Test func `It calls for each change until it is cancelled, not for the value it begins with`() {
    let specification = self.specification
    let satisfied = Log<Bool>()
    let subscription = specification.subscribe(in: OperationContext()) {
      satisfied.append(specification.isSatisfied(in: OperationContext()))
    }
    #expect(satisfied.all == [])
    self.observer.send(isActive: true)
    self.observer.send(isActive: false)
    #expect(satisfied.all == [true, false])
    subscription.cancel()
    self.observer.send(isActive: true)
    #expect(satisfied.all == [true, false])
    #expect(self.observer.subscriberCount == 0)
  }

  @Test func `An observer that reports nothing delays no run`() {
    let specification = ApplicationIsActiveRunSpecification.applicationIsActive(observer: SilentObserver())
    #expect(specification.isSatisfied(in: OperationContext()))
  }

  @Test func `All copies follow an observer that reports changes alone, from the first question on`() async throws {
    let observer = ChangesAloneObserver()
    let specification = ApplicationIsActiveRunSpecification.applicationIsActive(observer: observer)
    let copy = specification
    #expect(specification.isSatisfied(in: OperationContext()))
    observer.send(false)
    #expect(!specification.isSatisfied(in: OperationContext()))
    let changes = Log<Bool>()
    let subscription = copy.subscribe(in: OperationContext()) {
      changes.append(specification.isSatisfied(in: OperationContext()))
    }
    #expect(!copy.isSatisfied(in: OperationContext()))
    observer.send(true)
    observer.send(false)
    #expect(changes.all == [true, false])
    #expect(observer.subscriberCount == 1)
    subscription.cancel()
    #expect(observer.subscriberCount == 0)
  }

  @Test func `A store reruns its query when an observer that reports changes alone becomes active`() async throws {
    let observer = ChangesAloneObserver()
    let script = OperationScript<Int, any Error>(default: .value(1))
    let query = ScriptedQuery(script)
      .rerunOnChange(of: .applicationIsActive(observer: observer))
      .enableAutomaticRunning(onlyWhen: .always(true))
      .stale(after: .zero)
    let store = OperationStore.detached(query: query)
    let subscription = store.subscribe(with: OperationEventHandler())
    try await script.runs(count: 1)
    try await script.noActiveRuns()
    observer.send(false)
    observer.send(true)
    try await script.runs(count: 2)
    try await script.noActiveRuns()
    subscription.cancel()
  }

  @Test func `The modifier nearest to the operation wins`() {
    let query = ScriptedQuery(OperationScript<Int, any Error>())
    func isEnabled(_ operation: some OperationRequest) -> Bool {
      OperationRunner(operation: operation).context.isApplicationActiveRerunningEnabled
    }
    #expect(isEnabled(query))
    #expect(!isEnabled(query.disableApplicationActiveRerunning()))
    #expect(isEnabled(query.disableApplicationActiveRerunning(false)))
    #expect(!isEnabled(query.disableApplicationActiveRerunning().disableApplicationActiveRerunning(false)))
  }

  @Test(arguments: [true, false])
  func `A store reruns its query when the application is active again, unless it is disabled`(
    isDisabled: Bool
  ) async throws {
    let observer: any ApplicationActivityObserver & Sendable = self.observer
    let script = OperationScript<Int, any Error>(default: .value(1))
    let query = ScriptedQuery(script)
      .disableApplicationActiveRerunning(isDisabled)
      .rerunOnChange(of: .applicationIsActive(observer: observer))
      .enableAutomaticRunning(onlyWhen: .always(true))
    let store = OperationStore.detached(query: query)
    let subscription = store.subscribe(with: OperationEventHandler())
    try await script.runs(count: 1)
    try await script.noActiveRuns()
    self.observer.send(isActive: true)
    if !isDisabled { try await script.runs(count: 2) }
    try await script.noActiveRuns()
    #expect(script.runCount == (isDisabled ? 1 : 2))
    subscription.cancel()
  }
}

/// Calls handlers when it is told to, and not before.
private final class ChangesAloneObserver: ApplicationActivityObserver, Sendable {
  private let handlers = Mutex<[Int: @Sendable (Bool) -> Void]>([:])
  private let lastID = Atomic(0)

  var subscriberCount: Int { self.handlers.withLock { $0.count } }

  func send(_ isActive: Bool) {
    for handler in self.handlers.withLock({ Array($0.values) }) { handler(isActive) }
  }

  func subscribe(_ handler: @escaping @Sendable (Bool) -> Void) -> OperationSubscription {
    let id = self.lastID.add(1, ordering: .relaxed).newValue
    self.handlers.withLock { $0[id] = handler }
    return OperationSubscription {
      let handler = self.handlers.withLock { $0.removeValue(forKey: id) }
      _ = consume handler
    }
  }
}

/// Tells nothing.
private struct SilentObserver: ApplicationActivityObserver, Sendable {
  func subscribe(_ handler: @escaping @Sendable (Bool) -> Void) -> OperationSubscription { .empty }
}
