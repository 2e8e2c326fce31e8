import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Runs that a subscription starts, joins, keeps alive and cancels.
@Suite(.bounded, .warningsAreIssues)
struct AutomaticRunTests {
  @Test
  func `Subscribing runs a stale operation once, however many subscribe`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.automaticQuery())
    let recorders = (0..<3).map { _ in IntRecorder() }
    let subscriptions = recorders.map { store.subscribe(with: $0.handler) }
    defer { OperationSubscription.combined(subscriptions).cancel() }
    try await script.next().succeed(1)
    for recorder in recorders { try await recorder.firstState { $0.currentValue == 1 } }
    expect(script.runCount, equals: 1)
    expect(store.currentValue, equals: 1)
  }

  @Test
  func `Subscribing runs nothing unless automatic running is on`() {
    let script = IntScript(default: .value(1))
    for store in [
      IntStore.detached(query: script.query()),
      IntStore.detached(query: script.query().disableAutomaticRunning()),
      IntStore.detached(query: script.query().enableAutomaticRunning(onlyWhen: .always(false))),
    ] {
      let subscription = store.subscribe(with: IntRecorder().handler)
      defer { subscription.cancel() }
      #expect(!store.isAutomaticRunningEnabled)
      #expect(!store.isLoading)
    }
    expect(script.runCount, equals: 0)
  }

  @Test
  func `A stale store with subscribers runs when its specification becomes true`() async throws {
    let (script, specification) = (IntScript(), SwitchSpecification(false))
    let store = IntStore.detached(
      query: script.query().enableAutomaticRunning(onlyWhen: AnySendableRunSpecification(specification))
    )
    specification.set(true)
    expect(script.runCount, equals: 0)
    specification.set(false)
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    #expect(!store.isLoading)
    specification.set(true)
    try await script.next().succeed(1)
    try await recorder.first { $0.digest == .ended }
    specification.announce()
    #expect(!store.isLoading)
    expect(script.runCount, equals: 1)
  }

  @Test
  func `A value that comes while the rules of staleness are asked needs no run`() {
    let script = IntScript()
    let store = Box<IntStore?>(nil)
    let query = script.automaticQuery().staleWhen { state, _ in
      let isStale = state.currentValue == nil
      // Asked without the lock, so a run may end here. Only the first time, when a subscriber comes.
      if isStale, let current = store.value, current.subscriberCount > 0 { current.currentValue = 1 }
      return isStale
    }
    store.value = IntStore.detached(query: query)
    let subscription = store.value?.subscribe(with: IntRecorder().handler)
    expect(store.value?.isLoading, equals: false)
    expect(store.value?.currentValue, equals: 1)
    subscription?.cancel()
    store.value = nil
  }

  @Test
  func `A fresh store does not run when its specification becomes true`() {
    let (script, specification) = (IntScript(), SwitchSpecification(false))
    var store: IntStore? = .detached(
      query: script.query().enableAutomaticRunning(onlyWhen: specification).stale(after: .seconds(1_000))
    )
    store?.currentValue = 1
    let subscription = store?.subscribe(with: IntRecorder().handler)
    specification.set(true)
    expect(store?.isLoading, equals: false)
    expect(specification.observerCount, equals: 1)
    subscription?.cancel()
    store = nil
    expect(specification.observerCount, equals: 0)
  }

  @Test
  func `The second subscriber finds a stale value and starts a run`() async throws {
    let script = IntScript(default: .value(1))
    let store = IntStore.detached(query: script.automaticQuery())
    let recorder = IntRecorder()
    let first = store.subscribe(with: recorder.handler)
    try await recorder.first { $0.digest == .ended }
    expect(script.runCount, equals: 1)
    let second = store.subscribe(with: recorder.handler)
    defer { OperationSubscription.combined(first, second).cancel() }
    try await script.runs(count: 2)
  }

  @Test
  func `The second subscriber finds a fresh value and starts none`() async throws {
    let clock = ManualClock()
    let script = IntScript(default: .value(1))
    let store = IntStore.detached(query: script.automaticQuery().stale(after: .seconds(60)).manualTime(clock))
    let recorder = IntRecorder()
    let first = store.subscribe(with: recorder.handler)
    try await recorder.first { $0.digest == .ended }
    let second = store.subscribe(with: recorder.handler)
    expect(script.runCount, equals: 1)
    #expect(!store.isLoading)
    clock.advance(by: .seconds(60))
    let third = store.subscribe(with: recorder.handler)
    defer { OperationSubscription.combined(first, second, third).cancel() }
    try await script.runs(count: 2)
  }

  @Test
  func `A run that a subscription started is cancelled when the last subscriber leaves`() async throws {
    let clock = ManualClock()
    let script = IntScript()
    let store = IntStore.detached(query: script.automaticQuery().manualTime(clock), initialValue: 1)
    store.currentValue = 2
    let before = StateFacts(store.state)
    let first = store.subscribe(with: IntRecorder().handler)
    let second = store.subscribe(with: IntRecorder().handler)
    let run = try await script.next()
    clock.advance(by: .seconds(1))
    run.yield(8)
    run.yield(error: Refused())
    #expect(store.error is Refused)
    first.cancel()
    #expect(store.isLoading)
    #expect(!run.isCancelled)
    second.cancel()
    expect(StateFacts(store.state), equals: before)
    try await run.cancelled()
    try await script.noActiveRuns()
    expect(StateFacts(store.state), equals: before)
  }

  @Test
  func `A value that was set stays when the last subscriber leaves`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.automaticQuery())
    let subscription = store.subscribe(with: IntRecorder().handler)
    let run = try await script.next()
    run.yield(8)
    store.currentValue = 5
    run.yield(9)
    subscription.cancel()
    expect(store.currentValue, equals: 5)
    expect(store.valueUpdateCount, equals: 1)
    #expect(!store.isLoading)
  }

  @Test
  func `A caller that awaits the run keeps it`() async throws {
    let script = IntScript()
    let client = OperationClient()
    let query = script.automaticQuery()
    let store = client.store(for: query)
    let subscription = store.subscribe(with: IntRecorder().handler)
    let run = try await script.next()
    let waiter = Task.immediate { try await client.ensureValue(for: query) }
    subscription.cancel()
    #expect(store.isLoading)
    #expect(!run.isCancelled)
    run.succeed(4)
    try await expect(waiter.finished(), equals: 4)
    expect(script.runCount, equals: 1)
    expect(store.currentValue, equals: 4)
  }

  @Test
  func `The last waiter's cancellation ends a run whose subscribers have left`() async throws {
    let script = IntScript()
    let client = OperationClient()
    let query = script.automaticQuery()
    let store = client.store(for: query)
    let subscription = store.subscribe(with: IntRecorder().handler)
    let run = try await script.next()
    let waiter = Task.immediate { try await client.ensureValue(for: query) }
    subscription.cancel()
    waiter.cancel()
    try await run.cancelled()
    await #expect(throws: CancellationError.self) { try await waiter.finished() }
    #expect(store.status.isIdle)
  }

  @Test
  func `A subscription joins the run of a caller, and keeps it when the caller leaves`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.automaticQuery())
    let fetch = Task { try await store.fetch() }
    let run = try await script.next()
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    expect(recorder.digests, equals: [.state(nil, isLoading: true)])
    fetch.cancel()
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    #expect(!run.isCancelled)
    #expect(store.isLoading)
    run.succeed(3)
    try await recorder.first { $0.digest == .ended }
    expect(store.currentValue, equals: 3)
    expect(script.runCount, equals: 1)
    subscription.cancel()
  }

  @Test
  func `A run that was asked for and joined ends when caller and subscriber have left`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.automaticQuery())
    let fetch = Task { try await store.fetch() }
    let run = try await script.next()
    let subscription = store.subscribe(with: IntRecorder().handler)
    subscription.cancel()
    #expect(!run.isCancelled)
    fetch.cancel()
    try await run.cancelled()
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    #expect(store.status.isIdle)
  }

  @Test
  func `A subscriber without automatic running keeps nothing alive`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.query())
    let subscription = store.subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    let fetch = Task { try await store.fetch() }
    let run = try await script.next()
    fetch.cancel()
    try await run.cancelled()
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
  }

  @Test
  func `A subscriber that comes while a cancelled run is still ending starts a new one`() async throws {
    let script = IntScript(endsOnCancellation: false)
    let store = IntStore.detached(query: script.automaticQuery())
    let first = store.subscribe(with: IntRecorder().handler)
    let old = try await script.next()
    first.cancel()
    try await old.cancelled()
    #expect(!store.isLoading)
    let recorder = IntRecorder()
    let second = store.subscribe(with: recorder.handler)
    defer { second.cancel() }
    let new = try await script.next()
    expect(store.activeTasks.count, equals: 1)
    old.yield(66)
    old.succeed(77)
    try await recorder.first { $0.digest == .ended }
    expect(store.currentValue, equals: nil)
    #expect(store.isLoading)
    new.succeed(1)
    try await recorder.firstState { $0.currentValue == 1 }
    expect(store.valueUpdateCount, equals: 1)
  }

  @Test
  func `Subscribing and leaving again and again keeps the store consistent`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.automaticQuery())
    for number in 1...50 {
      let recorder = IntRecorder()
      let subscription = store.subscribe(with: recorder.handler)
      let run = try await script.next()
      if number.isMultiple(of: 2) { run.yield(number) }
      subscription.cancel()
      expect(store.valueUpdateCount, equals: 0)
      expect(store.subscriberCount, equals: 0)
      #expect(!store.isLoading)
    }
    try await script.noActiveRuns()
    expect(script.runCount, equals: 50)
  }
}
