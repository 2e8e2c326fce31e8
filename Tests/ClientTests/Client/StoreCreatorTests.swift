import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Stores that are in use before their client keeps them.
@Suite(.bounded, .warningsAreIssues)
struct StoreCreatorTests {
  @Test
  func `A store that a creator has subscribed to is in use`() {
    let creator = BusyCreator { store, subscriptions in
      subscriptions.value.append(store.subscribe(with: OpaqueOperationEventHandler()))
    }
    let client = OperationClient(
      storeCache: OperationClient.DefaultStoreCache(maximumIdleStores: 0),
      storeCreator: creator
    )
    client.store(for: NumberQuery(1)).currentValue = 4
    expect(client.store(for: NumberQuery(1)).currentValue, equals: 4)
    creator.subscriptions.value = []
    #expect(client.stores().isEmpty)
  }

  @Test
  func `A store whose controller has begun a run is in use`() async throws {
    let client = OperationClient(storeCache: OperationClient.DefaultStoreCache(maximumIdleStores: 0))
    let script = IntScript()
    let rerun = Box<Task<Int?, any Error>?>(nil)
    _ = client.store(
      for: script.query(path: ["q"]).controlled(
        by: BeginningController { controls in
          rerun.value = Task.immediate { try await controls.yieldRerun() }
        }
      )
    )
    expect(client.stores().count, equals: 1)
    try await script.next().succeed(1)
    try await expect(rerun.value?.finished(), equals: 1)
    #expect(client.stores().isEmpty)
  }

  @Test
  func `A store that its creator does not use is idle`() {
    let client = OperationClient(
      storeCache: OperationClient.DefaultStoreCache(maximumIdleStores: 0),
      storeCreator: BusyCreator { _, _ in }
    )
    _ = client.store(for: NumberQuery(1))
    #expect(client.stores().isEmpty)
  }
}

private struct BusyCreator: OperationClient.StoreCreator {
  let subscriptions = Box<[OperationSubscription]>([])
  let use: @Sendable (OpaqueOperationStore, Box<[OperationSubscription]>) -> Void

  init(_ use: @escaping @Sendable (OpaqueOperationStore, Box<[OperationSubscription]>) -> Void) {
    self.use = use
  }

  func store<Operation: StatefulOperationRequest & Sendable>(
    for operation: Operation,
    in context: OperationContext,
    with initialState: Operation.State
  ) -> OperationStore<Operation.State> {
    let store = OperationStore.detached(operation: operation, initialState: initialState, initialContext: context)
    self.use(OpaqueOperationStore(erasing: store), self.subscriptions)
    return store
  }
}

private struct BeginningController: OperationController, Sendable {
  let begin: @Sendable (OperationControls<IntState>) -> Void

  func control(with controls: OperationControls<IntState>) -> OperationSubscription {
    self.begin(controls)
    return .empty
  }
}
