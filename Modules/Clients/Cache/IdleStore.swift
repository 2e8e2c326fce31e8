extension OperationClient {
  /// An idle store of a client, as a ``StoreCache`` receives it.
  public struct IdleStore: Identifiable, Sendable {
    /// The identifier of an idle store.
    public struct ID: Hashable, Sendable {
      let entry: StoreEntry

      public static func == (lhs: ID, rhs: ID) -> Bool { lhs.entry === rhs.entry }

      public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self.entry))
      }
    }

    let entry: StoreEntry

    /// The identifier of the store.
    public var id: ID { ID(entry: self.entry) }

    /// The path of the operation.
    public var path: OperationPath { self.entry.runtime.path }

    /// The context of the store, with its ``OperationContext/operationCacheTime``.
    public var context: OperationContext { self.entry.runtime.context }

    /// Evicts the store from the client if it is still idle.
    ///
    /// Other owners keep their references, and while they do, the store can be found at its path.
    public func evict() {
      self.evict(because: .storeCache)
    }

    func evict(because cause: OperationRunCause) {
      self.entry.client.storage?.evict(self.entry, because: cause)
    }
  }
}
