extension OperationContext {
  /// A change of the context of a new store, for stores at paths with a prefix.
  package typealias PathDefault = @Sendable (inout OperationContext) -> Void

  private enum PathDefaultsKey: Key {
    static let defaultValue: [PathDefault] = []
  }

  /// Marks the context as the one of a store that a client is about to make.
  package mutating func noteNewStore() { self.event.isOfNewStore = true }

  /// Adds the edits that are applied once the creator of the store has added its own entries.
  package mutating func addPathDefaults(_ edits: [PathDefault]) {
    self[PathDefaultsKey.self] = edits
  }

  /// Applies the edits, which go with that.
  @usableFromInline
  mutating func applyPathDefaults() {
    guard self.isSet(PathDefaultsKey.self) else { return }
    let edits = self[PathDefaultsKey.self]
    self.unset(PathDefaultsKey.self)
    for edit in edits { edit(&self) }
  }
}
