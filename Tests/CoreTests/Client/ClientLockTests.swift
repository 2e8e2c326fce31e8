import OperationCore
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// What goes with a store, or works on it, may use the client: no lock of that is held.
@Suite(.timeLimit(.minutes(10)), .warningsAreIssues)
struct ClientLockTests {
  /// A store that one client has let go and another has taken out, and of which the first still has what works behind it.
  private func abandonStore(in client: OperationClient, whenValueGoes goes: @escaping @Sendable () -> Void) {
    let other = OperationClient()
    let store = client.store(for: LoudQuery())
    store.currentValue = Loud(goes)
    other.withStores(of: LoudQuery.State.self) { stores, _ in stores.update(store) }
    other.clearStores()
  }

  @Test
  func `A value goes with the entry of a store that is gone, when another takes its path`() {
    let client = OperationClient(storeCache: EvictingCache())
    let uses = Box(0)
    self.abandonStore(in: client) { uses.value += client.stores().count + 1 }
    _ = client.store(for: LoudQuery())
    #expect(uses.value > 0)
  }

  @Test
  func `A value goes with the entry of a store that is gone, when the client is cleared`() {
    let client = OperationClient(storeCache: EvictingCache())
    let uses = Box(0)
    self.abandonStore(in: client) { uses.value += client.stores().count + 1 }
    client.clearStores()
    #expect(uses.value == 1)
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
    #expect(store.currentValue == 5)
    #expect(calls.value < 10)
  }
}

/// Tells that it goes.
private final class Loud: Sendable {
  private let onDeath: @Sendable () -> Void

  init(_ onDeath: @escaping @Sendable () -> Void) {
    self.onDeath = onDeath
  }

  deinit { self.onDeath() }
}

private struct LoudQuery: QueryRequest, Hashable {
  typealias State = QueryState<Loud, any Error>

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Loud, any Error>
  ) async throws -> Loud {
    Loud {}
  }
}

/// Lets go of each store at once.
private struct EvictingCache: OperationClient.StoreCache {
  func storeDidBecomeIdle(_ store: OperationClient.IdleStore) {
    store.evict()
  }

  func storeDidBecomeActive(_ id: OperationClient.IdleStore.ID) {}
}
