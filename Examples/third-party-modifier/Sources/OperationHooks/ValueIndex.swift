public import OperationCore
internal import Synchronization

/// Finds the stores of a client by what is in their values, such as the authors of the posts in a list.
///
/// A value is found as soon as it can be read, also while the handlers of the store have not been called.
public final class ValueIndex<State: OperationState & Sendable, Key: Hashable & Sendable>: StoreValueObserver {
  private struct Content {
    /// The states whose keys were not asked for yet.
    var shown: [StoreReference: ShownState] = [:]
    var keys: [StoreReference: Set<Key>] = [:]
  }

  private let content = Mutex(Content())
  private let keys: @Sendable (State) -> Set<Key>

  /// Creates an index of the stores with a type of state.
  ///
  /// - Parameter keys: Returns what a state is found by. Called with no lock held.
  public init(_ keys: @escaping @Sendable (State) -> Set<Key>) {
    self.keys = keys
  }

  /// The stores of clients whose state has a key.
  public func stores(with key: Key) -> Set<StoreReference> {
    for store in self.content.withLock({ Array($0.shown.keys) }) { self.storeHasSettled(store) }
    return self.content.withLock { content in Set(content.keys.filter { $0.value.contains(key) }.map(\.key)) }
  }

  public var observedEvents: StoreEvent.Kinds { [] }

  /// Only notes the state: the lock of the store is held.
  public func storeShows(_ shown: ShownState, of store: StoreReference) -> (any Sendable)? {
    self.content.withLock { $0.shown.updateValue(shown, forKey: store) }
  }

  public func storeHasSettled(_ store: StoreReference) {
    while let shown = self.content.withLock({ $0.shown[store] }) {
      let state = shown.isInClient ? shown.state(as: State.self) : nil
      let keys = state.map(self.keys) ?? []
      let done = self.content.withLock { content -> ShownState? in
        // A later state has come meanwhile: once more.
        guard content.shown[store]?.version == shown.version else { return nil }
        content.keys[store] = keys.isEmpty ? nil : keys
        return content.shown.removeValue(forKey: store)
      }
      // Released without the lock: the state is the user's.
      _ = done
    }
  }

  public func receive(_ event: StoreEvent, of store: StoreReference) {
    guard case .unobserved = event.what else { return }
    let gone = self.content.withLock { content in
      content.keys[store] = nil
      return content.shown.removeValue(forKey: store)
    }
    _ = gone
  }
}
