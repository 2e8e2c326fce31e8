public import OperationCore

extension OperationContext {
  /// The storage of persisted operations, and of the client's journal if none was set; nil by default.
  ///
  /// Set it in the context of the client, before stores are made:
  ///
  /// ```swift
  /// client.defaultContext.operationStorage = storage
  /// ```
  public var operationStorage: (any PersistentStorage)? {
    get { self[StorageKey.self] }
    set {
      self[StorageKey.self] = newValue
      // Its values are of the user, whether this start of the program has used them or not.
      self.addClearing(of: ClientPersistence.self) { _ = $0.persistence }
    }
  }

  /// How long after a change a persisted value is written; 100 ms by default.
  ///
  /// The deadlines of the context measure it. All changes of a store within that time cost one write.
  public var operationPersistenceDelay: Duration {
    get { self[PersistenceDelayKey.self] }
    set { self[PersistenceDelayKey.self] = newValue }
  }

  private enum StorageKey: Key {
    static let defaultValue: (any PersistentStorage)? = nil
  }

  private enum PersistenceDelayKey: Key {
    static let defaultValue = Duration.milliseconds(100)
  }
}
