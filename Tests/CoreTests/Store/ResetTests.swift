import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// `resetState`: back to the initial state, all tasks cancelled, their outcomes not shown.
@Suite(.bounded, .warningsAreIssues)
struct ResetTests {
  @Test
  func `A reset goes back to the initial state`() {
    let store = IntStore.detached(query: IntScript().query(), initialValue: 1)
    let initial = StateFacts(store.state)
    store.currentValue = 2
    store.setResult(to: .failure(Refused()))
    store.resetState()
    expect(StateFacts(store.state), equals: initial)
  }

  @Test
  func `A reset cancels all runs, and shows the outcome of none`() async throws {
    let script = IntScript(endsOnCancellation: false)
    let store = IntStore.detached(query: script.query(), initialValue: 1)
    let initial = StateFacts(store.state)
    let first = Task { try await store.fetch() }
    let firstRun = try await script.next()
    let second = Task { try await store.fetch() }
    let secondRun = try await script.next()
    firstRun.yield(10)
    store.resetState()
    expect(StateFacts(store.state), equals: initial)
    try await firstRun.cancelled()
    try await secondRun.cancelled()
    secondRun.yield(20)
    firstRun.succeed(30)
    secondRun.fail(Refused())
    _ = try? await first.finished()
    await #expect(throws: Refused()) { try await second.finished() }
    expect(StateFacts(store.state), equals: initial)
  }

  @Test
  func `A value that is set after a reset stays when the old runs end`() async throws {
    let script = IntScript(endsOnCancellation: false)
    let store = IntStore.detached(query: script.query(), initialValue: 1)
    let old = Task { try await store.fetch() }
    let oldRun = try await script.next()
    oldRun.yield(10)
    store.resetState()
    store.currentValue = 2
    let new = Task { try await store.fetch() }
    let newRun = try await script.next()
    newRun.yield(3)
    oldRun.succeed(30)
    _ = try? await old.finished()
    expect(store.currentValue, equals: 3)
    #expect(store.isLoading)
    new.cancel()
    try await newRun.cancelled()
    newRun.succeed(4)
    _ = try? await new.finished()
    expect(store.currentValue, equals: 2)
    expect(store.valueUpdateCount, equals: 1)
  }

  @Test
  func `Subscribers receive a reset, and the ends of the runs`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.query(), initialValue: 1)
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    let fetch = Task { try await store.fetch() }
    _ = try await script.next()
    store.resetState()
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    expect(recorder.digests, equals: [.state(1), .state(1, isLoading: true), .started, .state(1), .ended])
  }

  @Test
  func `Resetting the stores of a client resets those that match`() async throws {
    let client = OperationClient()
    let script = IntScript()
    let inside = client.store(for: script.query(path: ["a", 1]), initialValue: 1)
    let outside = client.store(for: script.query(path: ["b", 1]), initialValue: 1)
    inside.currentValue = 2
    outside.currentValue = 2
    let fetch = Task { try await inside.fetch() }
    let run = try await script.next()
    client.resetStores(matching: ["a"])
    try await run.cancelled()
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    expect(inside.currentValue, equals: 1)
    expect(inside.valueUpdateCount, equals: 0)
    expect(outside.currentValue, equals: 2)
    client.resetStores()
    expect(outside.currentValue, equals: 1)
  }

  @Test
  func `A subscriber that the handler of a reset adds starts a run`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.automaticQuery(), initialValue: 1)
    let added = Box<OperationSubscription?>(nil)
    let isReset = Box(false)
    let first = store.subscribe(
      with: OperationEventHandler(onStateChanged: { state, _ in
        guard isReset.value, added.value == nil, !state.isLoading else { return }
        added.value = store.subscribe(with: OperationEventHandler())
      })
    )
    defer { OperationSubscription.combined([first, added.value].compactMap(\.self)).cancel() }
    let run = try await script.next()
    isReset.value = true

    store.resetState()

    try await run.cancelled()
    let next = try await script.next()
    next.succeed(2)
    try await store.reached { $0.currentValue == 2 && !$0.isLoading }
  }
}
