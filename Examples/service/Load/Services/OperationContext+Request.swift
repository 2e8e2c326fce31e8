import Operation

extension OperationContext {
  /// The tenant whose request it is.
  var tenant: String {
    get { self[TenantKey.self] }
    set { self[TenantKey.self] = newValue }
  }

  /// The number of the visitor's request.
  var requestID: String {
    get { self[RequestIDKey.self] }
    set { self[RequestIDKey.self] = newValue }
  }

  private enum TenantKey: Key {
    static let defaultValue = ""
  }

  private enum RequestIDKey: Key {
    static let defaultValue = ""
  }
}
