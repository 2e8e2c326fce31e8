extension OperationClient {
  /// An idle store, as a ``StoreCache`` sees it.
  public struct IdleStore: Identifiable, Sendable {
    /// What identifies an idle store.
    public struct ID: Hashable, Sendable {
      let entry: StoreEntry

      public static func == (lhs: ID, rhs: ID) -> Bool { lhs.entry === rhs.entry }

      public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self.entry))
      }
    }

    let entry: StoreEntry

    /// What identifies the store.
    public var id: ID { ID(entry: self.entry) }

    /// The path of the operation.
    public var path: OperationPath { self.entry.runtime.path }

    /// The context of the store, with its ``OperationContext/operationCacheTime``.
    public var context: OperationContext { self.entry.runtime.context }

    /// Makes the client let the store go, if it is still idle. Those who hold the store keep it, and find it at its path
    /// as long as they do.
    public func evict() {
      self.entry.client.storage?.evict(self.entry)
    }
  }
}
