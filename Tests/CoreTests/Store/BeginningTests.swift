import CoreFixtures
import OperationCore
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// When runs begin for subscribers, and when they do not.
@Suite(.bounded, .warningsAreIssues)
struct BeginningTests {
  private let script = IntScript(endsOnCancellation: false)

  @Test
  func `A subscriber that comes after a reset gets a run, though the old one is not cancelled yet`() async throws {
    let store = IntStore.detached(query: self.script.automaticQuery())
    let first = store.subscribe(with: IntRecorder().handler)
    defer { first.cancel() }
    let old = try await self.script.next()
    let recorder = IntRecorder()
    let second = store.withExclusiveAccess { store in
      store.resetState()
      return store.subscribe(with: recorder.handler)
    }
    defer { second.cancel() }
    try await old.cancelled()
    let new = try await self.script.next()
    old.succeed(1)
    new.succeed(2)
    try await recorder.firstState { $0.currentValue == 2 && !$0.isLoading }
    expect(self.script.runCount, equals: 2)
  }

  @Test
  func `A handler that receives a reset may subscribe, and gets a run`() async throws {
    let store = IntStore.detached(query: self.script.automaticQuery())
    let added = Box<OperationSubscription?>(nil)
    let recorder = IntRecorder()
    let subscription = store.subscribe(
      with: QueryEventHandler { [weak store] state, _ in
        guard let store, state.valueUpdateCount == 0, !state.isLoading, store.subscriberCount == 1 else { return }
        if self.script.runCount > 0 { added.value = store.subscribe(with: recorder.handler) }
      }
    )
    defer { subscription.cancel() }
    let old = try await self.script.next()
    store.resetState()
    let new = try await self.script.next()
    old.succeed(1)
    new.succeed(2)
    try await recorder.firstState { $0.currentValue == 2 && !$0.isLoading }
    added.value?.cancel()
  }

  @Test @MainActor
  func `A subscription that is cancelled at once on the main actor runs nothing and reports no run`() async throws {
    let script = IntScript(default: .value(1))
    // Nothing starts before the cancellation, however slow this thread is.
    let executor = HoldingExecutor()
    let held = script.automaticQuery().taskConfiguration { $0.executorPreference = executor }
    let store = IntStore.detached(query: held)
    let recorder = IntRecorder()
    let listener = IntRecorder()
    let query = held.handleEvents(
      with: QueryEventHandler<IntState>(
        onFetchingStarted: { _ in Issue.record("A run has started that was cancelled before.") },
        onFetchingEnded: { _ in Issue.record("A run has ended that never started.") }
      )
    )
    let watched = IntStore.detached(query: query)
    store.subscribe(with: recorder.handler).cancel()
    watched.subscribe(with: listener.handler).cancel()
    executor.release()
    await store.settled()
    await watched.settled()
    expect(script.runCount, equals: 0)
    #expect(!recorder.digests.contains(.started))
    #expect(!recorder.digests.contains(.ended))
    expect(StateFacts(watched.state), equals: StateFacts(QueryState(initialValue: nil)))
  }

  @Test
  func `A task that is cancelled while it waits for another one reports no run`() async throws {
    let store = IntStore.detached(query: self.script.query())
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    let gate = Gate()
    let before = OperationTask<Void, any Error> { _, _ in await gate.waitIgnoringCancellation() }
    let task = store.fetchTask()
    task.schedule(after: before)
    let fetch = Task.immediate { try await task.runIfNeeded() }
    task.cancel()
    gate.open()
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    await store.settled()
    expect(self.script.runCount, equals: 0)
    #expect(!recorder.digests.contains(.started))
    #expect(!recorder.digests.contains(.ended))
    #expect(!store.isLoading)
  }
}

/// The sequences of a store that was released.
@Suite(.bounded, .warningsAreIssues)
struct ClosedStoreTests {
  @Test(arguments: [false, true])
  func `The states of a released store end, and run nothing`(hadSubscribers: Bool) async throws {
    let script = IntScript(default: .value(1))
    var store: IntStore? = IntStore.detached(
      query: script.automaticQuery().disableAutomaticRunning(false),
      initialValue: 5
    )
    if hadSubscribers {
      store?.subscribe(with: IntRecorder().handler).cancel()
      await store?.settled()
    }
    let runs = script.runCount
    let states = try #require(store?.states)
    store = nil
    let values = try await withTimeLimit("the states to end") {
      var values: [Int?] = []
      for await element in states { values.append(element.state.currentValue) }
      return values
    }
    #expect(values.count <= 1)
    expect(script.runCount, equals: runs)
  }
}
