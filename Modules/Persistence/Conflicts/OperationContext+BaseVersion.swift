public import OperationCore

extension OperationContext {
  /// The version that a call of a mutation is based on, such as an entity tag; nil by default.
  ///
  /// Set it in the context of a call, and send it to the server, for instance as `If-Match`. A journal stores it with
  /// the call, so that all attempts have it, also after a restart. If a call is merged with an earlier one, the version
  /// of the earlier call applies.
  public var operationBaseVersion: String? {
    get { self[BaseVersionKey.self] }
    set { self[BaseVersionKey.self] = newValue }
  }

  private enum BaseVersionKey: Key {
    static let defaultValue: String? = nil
  }
}
