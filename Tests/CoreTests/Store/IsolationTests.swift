import CoreFixtures
import Foundation
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// The body of an operation leaves its caller's actor.
@Suite(.bounded, .warningsAreIssues)
struct IsolationTests {
  @Test @MainActor
  func `A fetch from the main actor leaves it`() async throws {
    let query = WhereaboutsQuery()
    let store = OperationStore<QueryState<Bool, any Error>>.detached(query: query)
    try await expect(store.fetch(), equals: false)
    try await expect(store.run(), equals: false)
    try await expect(store.fetchTask().runIfNeeded(), equals: false)
    try await expect(OpaqueOperationStore(erasing: store).fetch() as? Bool, equals: false)
  }

  @Test @MainActor
  func `A subscription from the main actor leaves it`() async throws {
    let gate = Gate()
    let query = WhereaboutsQuery(gate: gate).enableAutomaticRunning(onlyWhen: .always(true))
    let store = OperationStore<QueryState<Bool, any Error>>.detached(query: query)
    let recorder = EventRecorder<QueryState<Bool, any Error>>()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    gate.open()
    let state = try await recorder.firstState { $0.currentValue != nil }
    expect(state.currentValue, equals: false)
  }

  @Test @MainActor
  func `Runs that a client starts for the main actor leave it`() async throws {
    let client = OperationClient()
    let query = WhereaboutsQuery().enableAutomaticRunning(onlyWhen: .always(true))
    try await expect(client.ensureValue(for: query), equals: false)
    await client.prefetch(for: query)
    let store = client.store(for: query)
    expect(store.currentValue, equals: false)
    let recorder = EventRecorder<QueryState<Bool, any Error>>()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    try await recorder.firstState { $0.valueUpdateCount == 3 }
    let invalidateNow = { @MainActor () -> Void in client.invalidate() }
    invalidateNow()
    let state = try await recorder.firstState { $0.valueUpdateCount == 4 }
    expect(state.currentValue, equals: false)
    await client.invalidate().settled()
    expect(store.valueUpdateCount, equals: 5)
    expect(store.currentValue, equals: false)
  }

  @Test @MainActor
  func `A subscription that a function without an actor makes for the main actor leaves it too`() async throws {
    let query = WhereaboutsQuery().enableAutomaticRunning(onlyWhen: .always(true))
    let store = OperationStore<QueryState<Bool, any Error>>.detached(query: query)
    let recorder = EventRecorder<QueryState<Bool, any Error>>()
    let subscription = subscribeWithoutActor(store, recorder)
    defer { subscription.cancel() }
    let state = try await recorder.firstState { $0.currentValue != nil }
    expect(state.currentValue, equals: false)
  }

  @Test
  func `A fetch from any actor leaves it`() async throws {
    let store = OperationStore<QueryState<Bool, any Error>>.detached(query: WhereaboutsQuery())
    try await expect(Bystander().fetch(store), equals: true)
  }

  @Test @MainActor
  func `A handler is called on the thread that made the change`() {
    let store = IntStore.detached(query: IntScript().query())
    let calls = Counter()
    let subscription = store.subscribe(
      with: QueryEventHandler { _, _ in MainActor.assumeIsolated { _ = calls.increment() } }
    )
    defer { subscription.cancel() }
    store.currentValue = 1
    expect(calls.value, equals: 2)
  }
}

/// Returns whether its body ran on the main thread.
private struct WhereaboutsQuery: QueryRequest {
  var gate: Gate?

  var path: OperationPath { ["whereabouts"] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Bool, any Error>
  ) async throws -> Bool {
    let isOnMainThread = isCurrentThreadMain()
    try await self.gate?.wait()
    return isOnMainThread || isCurrentThreadMain() || isolation != nil
  }
}

private func subscribeWithoutActor(
  _ store: OperationStore<QueryState<Bool, any Error>>,
  _ recorder: EventRecorder<QueryState<Bool, any Error>>
) -> OperationSubscription {
  store.subscribe(with: recorder.handler)
}

private func isCurrentThreadMain() -> Bool { Thread.isMainThread }

private actor Bystander {
  private var isBusy = false

  /// Whether the body of the store's operation could run while this actor was asked something else.
  func fetch(_ store: OperationStore<QueryState<Bool, any Error>>) async throws -> Bool {
    _ = try await store.fetch()
    return !self.isBusy
  }
}
