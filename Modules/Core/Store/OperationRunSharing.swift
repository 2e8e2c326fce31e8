/// A rule by which callers of a store share a run that does the same work.
///
/// `.deduplicated()` sets it. A caller may join a run when both this rule and ``OperationRequest/isSameRun(in:as:)`` of
/// the operation return true.
public struct OperationRunSharing: Sendable {
  /// Returns whether a call with the first context may join a run with the second.
  public let isSameRun: @Sendable (OperationContext, OperationContext) -> Bool

  /// Creates a rule.
  ///
  /// - Parameter isSameRun: Returns whether a call with the first context may join a run with the second. Called with
  ///   no lock held. By default always true.
  @inlinable
  public init(
    isSameRun: @escaping @Sendable (OperationContext, OperationContext) -> Bool = { _, _ in true }
  ) {
    self.isSameRun = isSameRun
  }
}

extension OperationContext {
  /// The rule by which callers of a store share runs; nil, the default, to run the operation for each call.
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
