/// Lets the callers of a store share a run that does the same: what `.deduplicated()` configures.
///
/// A run is shared when the operation says that both runs do the same, see
/// ``OperationRequest/isSameRun(in:as:)``, and this rule agrees.
public struct OperationRunSharing: Sendable {
  /// Whether a run in the first context may be served by the one in the second.
  public let isSameRun: @Sendable (OperationContext, OperationContext) -> Bool

  /// Creates a rule.
  @inlinable
  public init(
    isSameRun: @escaping @Sendable (OperationContext, OperationContext) -> Bool = { _, _ in true }
  ) {
    self.isSameRun = isSameRun
  }
}

extension OperationContext {
  /// How the callers of a store share runs; nil, the default, when each call runs the operation.
  @inlinable
  public var operationRunSharing: OperationRunSharing? {
    get { self[RunSharingKey.self] }
    set { self[RunSharingKey.self] = newValue }
  }

  @usableFromInline
  enum RunSharingKey: Key {
    @usableFromInline static let defaultValue: OperationRunSharing? = nil
  }
}
