extension OperationClient {
  /// An idle store, as a ``StoreCache`` sees it.
  public struct IdleStore: Identifiable, Sendable {
    /// What identifies an idle store.
    public struct ID: Hashable, Sendable {
      let client: ObjectIdentifier
      let entry: StoreEntryIdentifier
    }

    /// What identifies the store.
    public let id: ID

    private let runtime: any ErasedRuntime
    private weak let storage: ClientStorage?

    init(entry: StoreEntryIdentifier, runtime: any ErasedRuntime, storage: ClientStorage) {
      self.id = ID(client: ObjectIdentifier(storage), entry: entry)
      self.runtime = runtime
      self.storage = storage
    }

    /// The path of the operation.
    public var path: OperationPath { self.runtime.path }

    /// The context of the store, with its ``OperationContext/operationCacheTime``.
    public var context: OperationContext { self.runtime.context }

    /// Makes the client let the store go, if it is still idle. Those who hold the store keep it, and find it at its path
    /// as long as they do.
    public func evict() {
      self.storage?.evict(self.id.entry, at: self.path)
    }
  }
}
