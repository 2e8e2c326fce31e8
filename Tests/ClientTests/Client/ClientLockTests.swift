import OperationCore
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// User code that a client calls or releases may use the client, because no lock is held.
@Suite(.bounded, .warningsAreIssues)
struct ClientLockTests {
  /// Makes and evicts a store that another client keeps and then removes: the client still has the entry of the store.
  private func abandonStore(in client: OperationClient, onRelease: @escaping @Sendable () -> Void) {
    let other = OperationClient()
    let store = client.store(for: CallbackQuery())
    store.currentValue = ReleaseCallback(onRelease)
    other.withStores(of: CallbackQuery.State.self) { stores, _ in stores.update(store) }
    other.clearStores()
  }

  @Test
  func `The value of a released store goes with its entry when another store takes the path`() {
    let client = OperationClient(storeCache: EvictingCache())
    let uses = Box(0)
    self.abandonStore(in: client) { uses.value += client.stores().count + 1 }
    _ = client.store(for: CallbackQuery())
    #expect(uses.value > 0)
  }

  @Test
  func `The value of a released store goes with its entry when the client is cleared`() {
    let client = OperationClient(storeCache: EvictingCache())
    let uses = Box(0)
    self.abandonStore(in: client) { uses.value += client.stores().count + 1 }
    client.clearStores()
    expect(uses.value, equals: 1)
  }

  @Test
  func `A layer may look its own store up, which makes that active and idle`() {
    let client = OperationClient(storeCache: OperationClient.DefaultStoreCache(maximumIdleStores: 0))
    let store = client.store(for: NumberQuery(1))
    let calls = Box(0)
    store.addLayer(StateLayerIdentifier()) { value in
      calls.value += 1
      _ = client.store(with: NumberQuery(1).path)
      value = 5
    }
    expect(store.currentValue, equals: 5)
    #expect(calls.value < 10)
  }
}

private struct CallbackQuery: QueryRequest, Hashable {
  typealias State = QueryState<ReleaseCallback, any Error>

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<ReleaseCallback, any Error>
  ) async throws -> ReleaseCallback {
    ReleaseCallback {}
  }
}

/// Evicts each store at once.
private struct EvictingCache: OperationClient.StoreCache {
  func storeDidBecomeIdle(_ store: OperationClient.IdleStore) {
    store.evict()
  }

  func storeDidBecomeActive(_ id: OperationClient.IdleStore.ID) {}
}
