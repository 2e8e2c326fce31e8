public import OperationCore
internal import Synchronization

/// Finds the stores of a client by what is in their values, such as the authors of the posts in a list.
///
/// A value is found as soon as it can be read, also while the handlers of the store have not been called.
public final class ValueIndex<State: OperationState & Sendable, Key: Hashable & Sendable>: StoreValueObserver {
  /// What is released after unlocking.
  private typealias Replaced = (state: ShownState?, keys: Set<Key>?)

  private struct Content {
    /// The states whose keys were not asked for yet.
    var shown: [StoreReference: ShownState] = [:]
    var keys: [StoreReference: Set<Key>] = [:]

    mutating func replace(_ keys: Set<Key>?, of store: StoreReference) -> Replaced {
      let replaced = self.keys[store]
      self.keys[store] = keys
      return (self.shown.removeValue(forKey: store), replaced)
    }
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
    // Searched in a copy: what compares keys is the user's, and is called without the lock.
    let keys = self.content.withLock { $0.keys }
    return Set(keys.lazy.filter { $0.value.contains(key) }.map(\.key))
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
      let replaced = self.content.withLock { content -> Replaced? in
        // A later state has come meanwhile: once more.
        guard content.shown[store]?.version == shown.version else { return nil }
        return content.replace(keys.isEmpty ? nil : keys, of: store)
      }
      // Released without the lock: the state and the keys are the user's.
      _ = replaced
    }
  }

  public func receive(_ event: StoreEvent, of store: StoreReference) {
    guard case .unobserved = event.what else { return }
    let replaced = self.content.withLock { $0.replace(nil, of: store) }
    _ = replaced
  }
}
