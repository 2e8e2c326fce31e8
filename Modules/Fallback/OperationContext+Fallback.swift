public import OperationCore

extension OperationContext {
  /// Whether the result that is reported with this context is a fallback.
  ///
  /// A store sets it in the contexts of events:
  ///
  /// ```swift
  /// QueryEventHandler(onResultReceived: { result, context in
  ///   isOutdated = context.isFallback
  /// })
  /// ```
  public var isFallback: Bool {
    get { self[IsFallbackKey.self] }
    set { self[IsFallbackKey.self] = newValue }
  }
}

@usableFromInline
enum IsFallbackKey: OperationContext.Key {
  @usableFromInline static let defaultValue = false
}
