/// A rule by which callers of a store share a run that does the same work.
///
/// `.deduplicated()` sets it. A caller may join a run when both this rule and ``OperationRequest/isSameRun(in:as:)`` of
/// the operation return true.
public struct OperationRunSharing: Sendable {
  /// Returns whether a call with the first context may join a run with the second.
  public let isSameRun: @Sendable (OperationContext, OperationContext) -> Bool

  /// The object that shares runs outside of stores for the modifier that has set the rule; nil for none.
  public let registry: (any AnyObject & Sendable)?

  /// Creates a rule.
  ///
  /// - Parameters:
  ///   - registry: The object that shares the runs of the modifier outside of stores; nil for a rule of stores alone. By it,
  ///     the modifier knows its rule in a context that other code has passed on.
  ///   - isSameRun: Returns whether a call with the first context may join a run with the second. Called with no lock
  ///     held. By default always true.
  public init(
    registry: (any AnyObject & Sendable)? = nil,
    isSameRun: @escaping @Sendable (OperationContext, OperationContext) -> Bool = { _, _ in true }
  ) {
    self.isSameRun = isSameRun
    self.registry = registry
  }
}

extension OperationContext {
  /// The rule by which callers of a store share runs; nil, the default, to run the operation for each call.
  public var operationRunSharing: OperationRunSharing? {
    get { self[RunSharingKey.self] }
    set { self[RunSharingKey.self] = newValue }
  }

  enum RunSharingKey: Key {
    static let defaultValue: OperationRunSharing? = nil
  }
}

extension OperationContext {
  /// Whether a store has decided, by ``operationRunSharing``, which callers share the run with this context.
  ///
  /// A modifier that shares runs outside of stores lets such a run pass. It is false in the context of a runner, of a store
  /// whose callers share no runs, and once the context was handed to another operation by a runner, a retry or a fallback.
  public var isAdmittedByStore: Bool { self.run.isAdmitted && !self.run.hidesProgress }
}
