import OperationActivityObserving
import OperationCore
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct ApplicationIsActiveRunSpecificationTests {
  private let observer = MockApplicationActivityObserver(isActive: false)
  private var specification: ApplicationIsActiveRunSpecification { .applicationIsActive(observer: self.observer) }

  @Test func `It holds while the application is active`() {
    let specification = self.specification
    #expect(!specification.isSatisfied(in: OperationContext()))
    self.observer.send(isActive: true)
    #expect(specification.isSatisfied(in: OperationContext()))
    expect(self.observer.subscriberCount, equals: 0)
  }

  @Test func `It never holds for an operation that disables it`() {
    var context = OperationContext()
    #expect(context.isApplicationActiveRerunningEnabled)
    context.isApplicationActiveRerunningEnabled = false
    self.observer.send(isActive: true)
    #expect(!self.specification.isSatisfied(in: context))
  }

  @Test func `It reports each change until it is cancelled, but not the initial value`() {
    let specification = self.specification
    let satisfied = Log<Bool>()
    let subscription = specification.subscribe(in: OperationContext()) {
      satisfied.append(specification.isSatisfied(in: OperationContext()))
    }
    expect(satisfied.all, equals: [])
    self.observer.send(isActive: true)
    self.observer.send(isActive: false)
    expect(satisfied.all, equals: [true, false])
    subscription.cancel()
    self.observer.send(isActive: true)
    expect(satisfied.all, equals: [true, false])
    expect(self.observer.subscriberCount, equals: 0)
  }

  @Test func `It holds while the observer has reported nothing`() {
    let specification = ApplicationIsActiveRunSpecification.applicationIsActive(observer: SilentObserver())
    #expect(specification.isSatisfied(in: OperationContext()))
  }

  @Test func `All copies follow an observer that reports changes only, from the first check on`() async throws {
    let observer = ChangesOnlyObserver()
    let specification = ApplicationIsActiveRunSpecification.applicationIsActive(observer: observer)
    let copy = specification
    #expect(specification.isSatisfied(in: OperationContext()))
    observer.source.send(false)
    #expect(!specification.isSatisfied(in: OperationContext()))
    let changes = Log<Bool>()
    let subscription = copy.subscribe(in: OperationContext()) {
      changes.append(specification.isSatisfied(in: OperationContext()))
    }
    #expect(!copy.isSatisfied(in: OperationContext()))
    observer.source.send(true)
    observer.source.send(false)
    expect(changes.all, equals: [true, false])
    expect(observer.source.subscriberCount, equals: 1)
    subscription.cancel()
    expect(observer.source.subscriberCount, equals: 0)
  }

  @Test func `A store reruns its query when an observer that reports changes only becomes active`() async throws {
    let observer = ChangesOnlyObserver()
    let script = OperationScript<Int, any Error>(default: .value(1))
    let query = ScriptedQuery(script)
      .rerunOnChange(of: .applicationIsActive(observer: observer))
      .enableAutomaticRunning(onlyWhen: .always(true))
      .stale(after: .zero)
    let store = OperationStore.detached(query: query)
    let subscription = store.subscribe(with: OperationEventHandler())
    try await script.runs(count: 1)
    try await script.noActiveRuns()
    observer.source.send(false)
    observer.source.send(true)
    try await script.runs(count: 2)
    try await script.noActiveRuns()
    subscription.cancel()
  }

  @Test func `The modifier nearest to the operation applies`() {
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
    expect(script.runCount, equals: (isDisabled ? 1 : 2))
    subscription.cancel()
  }
}

/// An observer that reports changes only.
private struct ChangesOnlyObserver: ApplicationActivityObserver, Sendable {
  let source = ChangeSource<Bool>()

  func subscribe(_ handler: @escaping @Sendable (Bool) -> Void) -> OperationSubscription {
    self.source.subscribe(handler)
  }
}

/// An observer that reports nothing.
private struct SilentObserver: ApplicationActivityObserver, Sendable {
  func subscribe(_ handler: @escaping @Sendable (Bool) -> Void) -> OperationSubscription { .empty }
}
