import CoreFixtures
import FoundationEssentials
import OperationCore
import OperationPausing
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// `waits(until:)`: runs that wait for a condition.
@Suite(.bounded, .warningsAreIssues)
struct WaitingTests {
  private let condition = SwitchSpecification(false)
  private let script = IntScript()
  private let clock = ManualClock(date: Date(timeIntervalSinceReferenceDate: 0))

  private var query: some QueryRequest<Int, any Error> {
    self.script.query().waits(until: self.condition).manualTime(self.clock)
  }

  @Test
  func `A run pauses before its body while the condition does not hold, and resumes by itself`() async throws {
    let store = OperationStore.detached(query: self.query)
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    let fetch = Task.immediate { try await store.fetch() }
    #expect(store.isPaused && store.isLoading)
    expect(self.script.runCount, equals: 0)
    expect(recorder.states.map(\.isPaused), equals: [false, false, true])
    self.condition.set(true)
    let run = try await self.script.next()
    #expect(!store.isPaused && store.isLoading)
    run.succeed(3)
    try await expect(fetch.finished(), equals: 3)
    expect(recorder.states.map(\.isPaused), equals: [false, false, true, false, false])
    expect(self.condition.observerCount, equals: 0)
    subscription.cancel()
  }

  @Test
  func `A run whose condition holds begins at once and subscribes to nothing`() async throws {
    self.condition.set(true)
    let store = OperationStore.detached(query: self.query)
    self.script.enqueue(.value(1))
    try await expect(store.fetch(), equals: 1)
    expect(self.condition.observerCount, equals: 0)
  }

  enum Ending: CaseIterable { case caller, reset, client }

  @Test(arguments: Ending.allCases)
  func `Cancelled, a paused run ends at once and leaves the state as it was`(_ ending: Ending) async throws {
    let client = OperationClient()
    let store = client.store(for: self.query)
    store.currentValue = 4
    store.setResult(to: .failure(Refused(code: 2)))
    let before = StateFacts(store.state)
    let fetch = Task.immediate { try await store.fetch() }
    #expect(store.isPaused)
    switch ending {
    case .caller: fetch.cancel()
    case .reset: store.resetState()
    case .client: await client.cancel(matching: store.path)
    }
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    #expect(!store.isPaused && !store.isLoading)
    if ending != .reset { expect(StateFacts(store.state), equals: before) }
    expect(self.script.runCount, equals: 0)
    expect(self.condition.observerCount, equals: 0)
  }

  @Test
  func `A run that is cancelled before it pauses does not begin`() async throws {
    let store = OperationStore.detached(query: self.query)
    let task = store.fetchTask()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.runIfNeeded() }
    expect(self.condition.observerCount, equals: 0)
  }

  @Test
  func `After its time limit a run fails with the duration, and a run in time leaves no deadline`() async throws {
    let query = self.script.query().waits(until: self.condition, timeout: .seconds(5)).manualTime(self.clock)
    let store = OperationStore.detached(query: query)
    let late = Task.immediate { try await store.fetch() }
    expect(self.clock.remainingTimes(), equals: [.seconds(5)])
    self.clock.advance(by: .seconds(5))
    await #expect(throws: OperationWaitTimedOut(after: .seconds(5))) { try await late.finished() }
    expect(store.error as? OperationWaitTimedOut, equals: OperationWaitTimedOut(after: .seconds(5)))
    #expect(!store.isPaused)
    let inTime = Task.immediate { try await store.fetch() }
    self.condition.set(true)
    try await self.script.next().succeed(1)
    try await expect(inTime.finished(), equals: 1)
    expect(self.clock.sleeperCount(), equals: 0)
    expect(self.condition.observerCount, equals: 0)
  }

  @Test
  func `An error for the time limit is needed only with a time limit`() async throws {
    let script = OperationScript<Int, Refused>()
    let limited = script.query()
      .waits(until: self.condition, timeout: .seconds(2), else: { Refused(code: Int($0.duration.components.seconds)) })
      .manualTime(self.clock)
    let fetch = Task.immediate { await OperationStore.detached(query: limited).fetchResult() }
    self.clock.advance(by: .seconds(2))
    guard case .failure(Refused(code: 2)) = try await fetch.finished() else {
      Issue.record("The run did not time out.")
      return
    }
    let plain = OperationStore.detached(query: script.query().waits(until: self.condition))
    let waiting = Task.immediate { await plain.fetchResult() }
    #expect(plain.isPaused)
    self.condition.set(true)
    try await script.next().succeed(7)
    guard case .success(7) = try await waiting.finished() else {
      Issue.record("The run did not resume.")
      return
    }
  }

  @Test
  func `An operation whose failure cannot be a cancellation runs in its cancelled task`() async throws {
    let query = QueryOperation<Bool, Never>("never") { _ in Task.isCancelled }.waits(until: self.condition)
    let store = OperationStore.detached(query: query)
    let fetch = Task.immediate { await store.fetch() }
    #expect(store.isPaused)
    fetch.cancel()
    #expect(try await fetch.finished())
    #expect(store.currentValue == nil && !store.isPaused)
  }

  @Test
  func `Extreme time limits neither trap nor pass early`() async throws {
    for limit in [Duration.seconds(Int64.max), .zero] {
      let query = self.script.query().waits(until: self.condition, timeout: limit)
      let store = OperationStore.detached(query: query)
      let fetch = Task.immediate { try await store.fetch() }
      if limit == .zero {
        await #expect(throws: OperationWaitTimedOut(after: .zero)) { try await fetch.finished() }
      } else {
        #expect(store.isPaused)
        fetch.cancel()
        _ = await fetch.result
      }
    }
    _ = expectWarning(.invalidArgument) { self.script.query().waits(until: self.condition, timeout: .seconds(-1)) }
  }

  @Test
  func `A condition that becomes false before the run has resumed pauses it again`() async throws {
    let flicker = FlickeringSpecification()
    let store = OperationStore.detached(query: self.script.query().waits(until: flicker))
    let fetch = Task.immediate { try await store.fetch() }
    #expect(store.isPaused)
    flicker.flicker()
    #expect(store.isPaused)
    flicker.set(true)
    try await self.script.next().succeed(1)
    try await expect(fetch.finished(), equals: 1)
  }

  @Test
  func `Opaque, default and snapshot states show a pause`() async throws {
    let client = OperationClient()
    let store = client.store(for: self.query.defaultValue(1))
    let fetch = Task.immediate { try await store.fetch() }
    let opaque = OpaqueOperationStore(erasing: store)
    #expect(store.state.isPaused && opaque.isPaused && opaque.state.isPaused)
    expect(client.snapshot().stores.first?.isPaused, equals: true)
    #expect(client.snapshot().description.contains("loading (paused)"))
    fetch.cancel()
    _ = await fetch.result
    expect(client.snapshot().stores.first?.isPaused, equals: false)
  }

  @Test
  func `A modifier that makes several attempts waits before the next one, and the wait is no attempt`() async throws {
    let query = self.script.query().modifier(TryingAgain(limit: 3)).manualTime(self.clock)
      .context { [condition] in $0.operationNextAttemptSpecification = condition }
    let store = OperationStore.detached(query: query)
    self.script.enqueue(.error(Refused(code: 1)))
    let fetch = Task { try await store.fetch() }
    try await self.clock.sleepers(count: 1)
    #expect(!store.isPaused && store.attempt?.nextBegins != nil)
    self.clock.advance(by: .seconds(3))
    try await store.reached { $0.isPaused }
    expect(store.attempt?.index, equals: 1)
    expect(store.attempt?.lastFailure as? Refused, equals: Refused(code: 1))
    expect(store.attempt?.nextBegins, equals: nil)
    self.condition.set(true)
    let run = try await self.script.next()
    #expect(!store.isPaused && store.attempt?.index == 2)
    run.succeed(2)
    try await expect(fetch.finished(), equals: 2)
  }

  @Test
  func `An operation without a store waits, too`() async throws {
    let task = Task.immediate { try await OperationRunner(operation: self.query).run() }
    expect(self.condition.observerCount, equals: 1)
    self.condition.set(true)
    try await self.script.next().succeed(5)
    try await expect(task.finished(), equals: 5)
  }
}

extension OperationStore where State: QueryStateProtocol {
  fileprivate func fetchResult() async -> Result<State.OperationValue, State.Failure> {
    do throws(State.Failure) { return .success(try await self.fetch()) } catch { return .failure(error) }
  }
}

/// A condition that can be true while it reports its change, and false afterwards.
private final class FlickeringSpecification: OperationRunSpecification, Sendable {
  private struct State {
    /// The answers to come, the last of which stays.
    var answers = [false]
    var observer: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  func flicker() {
    self.announce([true, false])
  }

  func set(_ isOn: Bool) {
    self.announce([isOn])
  }

  private func announce(_ answers: [Bool]) {
    let observer = self.state.withLock { state in
      state.answers = answers
      return state.observer
    }
    observer?()
  }

  func isSatisfied(in context: OperationContext) -> Bool {
    self.state.withLock { $0.answers.count > 1 ? $0.answers.removeFirst() : $0.answers[0] }
  }

  func subscribe(
    in context: OperationContext,
    onChange: @escaping @Sendable () -> Void
  ) -> OperationSubscription {
    self.state.withLock { $0.observer = onChange }
    return OperationSubscription { self.state.withLock { $0.observer = nil } }
  }
}
