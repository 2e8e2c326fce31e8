import CoreFixtures
import FoundationEssentials
import OperationCore
import OperationEvents
import OperationTesting
import TestFixtures
import Testing

/// `.rerunOnChange(of:)`: a rerun when a condition becomes true.
@Suite(.bounded, .warningsAreIssues)
struct RerunOnChangeTests {
  private let script = IntScript()
  private let specification = SwitchSpecification(false)

  @Test
  func `A stale store with subscribers runs when the condition becomes true`() async throws {
    let store = IntStore.detached(query: self.script.query().rerunOnChange(of: self.specification))
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    expect(self.script.runCount, equals: 0)
    self.specification.set(true)
    try await self.script.next().succeed(1)
    try await recorder.first { $0.digest == .ended }
    self.specification.set(false)
    self.specification.announce()
    #expect(!store.isLoading)
    self.specification.set(true)
    self.specification.announce()
    try await self.script.next().succeed(2)
    try await recorder.firstState { $0.currentValue == 2 }
    expect(self.script.runCount, equals: 2)
  }

  @Test
  func `A fresh store does not run`() {
    let query = self.script.query().stale(after: .seconds(1_000)).rerunOnChange(of: self.specification)
    let store = IntStore.detached(query: query)
    store.currentValue = 1
    let subscription = store.subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    self.specification.set(true)
    #expect(!store.isLoading)
  }

  @Test
  func `With a duration, it runs only after an absence of that length`() async throws {
    let clock = ManualClock()
    let query = self.script.query().rerunOnChange(of: self.specification, after: .seconds(300)).manualTime(clock)
    let store = IntStore.detached(query: query)
    let subscription = store.subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    // It was absent from the beginning.
    clock.advance(by: .seconds(299))
    self.specification.set(true)
    #expect(!store.isLoading)
    // Several absences do not add up, and the time of presence does not count.
    clock.advance(by: .seconds(1000))
    self.specification.set(false)
    clock.advance(by: .seconds(10))
    self.specification.set(true)
    #expect(!store.isLoading && self.script.runCount == 0)
    self.specification.set(false)
    clock.advance(by: .seconds(200))
    self.specification.announce()
    clock.advance(by: .seconds(100))
    self.specification.set(true)
    try await self.script.next().succeed(1)
    await store.settled()
    expect(self.script.runCount, equals: 1)
    // A clock of dates that is set has no part in it.
    self.specification.set(false)
    clock.setDate(clock.now().addingTimeInterval(10_000))
    self.specification.set(true)
    #expect(!store.isLoading)
    #expect(store.explain().modifiers.contains(".rerunOnChange(of: SwitchSpecification, after: 5 min)"))
    _ = expectWarning(.invalidArgument) {
      self.script.query().rerunOnChange(of: self.specification, after: .seconds(-1))
    }
  }

  @Test
  func `A store without subscribers does not run`() {
    let store = IntStore.detached(query: self.script.query().rerunOnChange(of: self.specification))
    self.specification.set(true)
    #expect(!store.isLoading)
    expect(self.script.runCount, equals: 0)
  }

  @Test
  func `A store does not run where automatic running is disabled`() {
    let query = self.script.query().rerunOnChange(of: self.specification).disableAutomaticRunning()
    let store = IntStore.detached(query: query)
    let subscription = store.subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    self.specification.set(true)
    #expect(!store.isLoading)
  }

  @Test
  func `A run under way is joined, and kept for the subscribers`() async throws {
    let store = IntStore.detached(query: self.script.query().rerunOnChange(of: self.specification))
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    let fetch = Task { try await store.fetch() }
    let run = try await self.script.next()
    self.specification.set(true)
    fetch.cancel()
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    #expect(!run.isCancelled)
    run.succeed(3)
    try await recorder.first { $0.digest == .ended }
    expect(self.script.runCount, equals: 1)
    expect(store.currentValue, equals: 3)
  }

  @Test
  func `A run that began too early is followed by one more when it fails`() async throws {
    let early = try await self.earlyRun(in: self.script.query())
    early.run.fail(Refused())
    await #expect(throws: Refused.self) { try await early.fetch.finished() }
    let rerun = try #require(early.store.activeTasks.first)
    try await self.script.next().fail(Refused())
    await #expect(throws: Refused.self) { try await rerun.runIfNeeded() }
    #expect(!early.store.isLoading)
    expect(self.script.runCount, equals: 2)
  }

  @Test
  func `A run that began too early is followed by one more below a default value, too`() async throws {
    let query = self.script.query().rerunOnChange(of: self.specification).defaultValue(0)
    let store = OperationStore.detached(query: query)
    let subscription = store.subscribe(with: QueryEventHandler())
    defer { subscription.cancel() }
    let fetch = Task { try await store.fetch() }
    let run = try await self.script.next()
    self.specification.set(true)
    run.fail(Refused())
    await #expect(throws: Refused.self) { try await fetch.finished() }
    try await self.script.next().succeed(1)
  }

  @Test
  func `A run that began too early and succeeds is enough`() async throws {
    let early = try await self.earlyRun(in: self.script.query())
    early.run.succeed(1)
    try await expect(early.fetch.finished(), equals: 1)
    #expect(!early.store.isLoading)
  }

  @Test
  func `A run that began too early and is cancelled is not followed by another`() async throws {
    let early = try await self.earlyRun(in: self.script.query())
    for task in early.store.activeTasks { task.cancel() }
    await #expect(throws: CancellationError.self) { try await early.fetch.finished() }
    #expect(!early.store.isLoading)
  }

  @Test
  func `A run that began too early is not followed by another without subscribers`() async throws {
    let early = try await self.earlyRun(in: self.script.query())
    early.subscription.cancel()
    early.run.fail(Refused())
    await #expect(throws: Refused.self) { try await early.fetch.finished() }
    #expect(!early.store.isLoading)
  }

  @Test
  func `A run that began too early is not followed by another when the value has become fresh`() async throws {
    let early = try await self.earlyRun(in: self.script.query().stale(after: .seconds(1_000)))
    early.store.currentValue = 1
    early.run.fail(Refused())
    await #expect(throws: Refused.self) { try await early.fetch.finished() }
    #expect(!early.store.isLoading)
  }

  @Test
  func `Several runs that began too early are followed by one when the last has failed`() async throws {
    let early = try await self.earlyRun(in: self.script.query(), count: 2)
    early.run.fail(Refused())
    await #expect(throws: Refused.self) { try await early.fetch.finished() }
    expect(early.store.activeTasks.count, equals: 1)
    expect(self.script.runCount, equals: 2)
    early.all[1].run.fail(Refused())
    await #expect(throws: Refused.self) { try await early.all[1].fetch.finished() }
    _ = try await self.script.next()
    expect(early.store.activeTasks.count, equals: 1)
    expect(self.script.runCount, equals: 3)
  }

  @Test
  func `A condition that becomes false and true on other threads while it is evaluated has become true`() async throws {
    let specification = PausingSpecification()
    let store = IntStore.detached(query: self.script.query().rerunOnChange(of: specification))
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    specification.set(true)
    try await self.script.next().succeed(1)
    try await recorder.first { $0.digest == .ended }
    try await offThePool {
      // One thread finds the condition true. Before it returns that, the condition becomes false on another thread.
      specification.onNextEvaluation {
        _ = onAnotherThread { specification.set(false) }
      }
      specification.announce()
    }
    #expect(!store.isLoading)
    specification.set(true)
    try await self.script.next().succeed(2)
    expect(self.script.runCount, equals: 2)
  }

  @Test
  func `The condition is followed while the store lives, and no longer`() {
    var store: IntStore? = .detached(query: self.script.query().rerunOnChange(of: self.specification))
    expect(self.specification.observerCount, equals: 1)
    #expect(store?.path != nil)
    store = nil
    expect(self.specification.observerCount, equals: 0)
  }

  /// Subscribes to a store, fetches, and makes the condition true while the runs are under way.
  private func earlyRun(
    in query: some QueryRequest<Int, any Error> & Sendable,
    count: Int = 1
  ) async throws -> EarlyRuns {
    let store = IntStore.detached(query: query.rerunOnChange(of: self.specification))
    let subscription = store.subscribe(with: IntRecorder().handler)
    var runs: [EarlyRuns.Fetched] = []
    for _ in 0..<count {
      let fetch = Task { try await store.fetch() }
      runs.append(EarlyRuns.Fetched(fetch: fetch, run: try await self.script.next()))
    }
    self.specification.set(true)
    expect(self.script.runCount, equals: count)
    return EarlyRuns(store: store, subscription: subscription, all: runs)
  }
}

/// A condition that performs an action between its evaluation and the result.
private final class PausingSpecification: OperationRunSpecification, Sendable {
  private let specification = SwitchSpecification(false)
  private let pause = Box<(@Sendable () -> Void)?>(nil)

  func onNextEvaluation(_ action: @escaping @Sendable () -> Void) {
    self.pause.value = action
  }

  func set(_ isOn: Bool) {
    self.specification.set(isOn)
  }

  func announce() {
    self.specification.announce()
  }

  func isSatisfied(in context: OperationContext) -> Bool {
    let isSatisfied = self.specification.isSatisfied(in: context)
    self.pause.replace(with: nil)?()
    return isSatisfied
  }

  func subscribe(
    in context: OperationContext,
    onChange: @escaping @Sendable () -> Void
  ) -> OperationSubscription {
    self.specification.subscribe(in: context, onChange: onChange)
  }
}

/// Runs that were under way when the condition became true.
private struct EarlyRuns {
  struct Fetched {
    let fetch: Task<Int, any Error>
    let run: ScriptedRun<Int, any Error>
  }

  let store: IntStore
  let subscription: OperationSubscription
  let all: [Fetched]

  var fetch: Task<Int, any Error> { self.all[0].fetch }
  var run: ScriptedRun<Int, any Error> { self.all[0].run }
}
