/// A rule by which callers of a store share a run that does the same work.
///
/// `.deduplicated()` sets it. A caller may join a run when both this rule and ``OperationRequest/isSameRun(in:as:)`` of
/// the operation return true.
public struct OperationRunSharing: Sendable {
  /// Returns whether a call with the first context may join a run with the second.
  public let isSameRun: @Sendable (OperationContext, OperationContext) -> Bool

  /// The modifier that has set the rule; nil for a rule of the public initializer.
  let modifier: (any AnyObject & Sendable)?

  /// Creates a rule.
  ///
  /// - Parameter isSameRun: Returns whether a call with the first context may join a run with the second. Called with
  ///   no lock held. By default always true.
  public init(
    isSameRun: @escaping @Sendable (OperationContext, OperationContext) -> Bool = { _, _ in true }
  ) {
    self.isSameRun = isSameRun
    self.modifier = nil
  }

  /// Creates the rule of a modifier. The modifier does not hold up the run of a store: see
  /// ``OperationContext/enterSharingModifier(_:)``.
  @usableFromInline
  package init(
    of modifier: any AnyObject & Sendable,
    isSameRun: @escaping @Sendable (OperationContext, OperationContext) -> Bool
  ) {
    self.isSameRun = isSameRun
    self.modifier = modifier
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
  /// Enters the modifier by which the callers of a store share the run with this context.
  ///
  /// The store has decided which callers share the run, so the modifier lets it through.
  ///
  /// - Parameter modifier: The modifier, as in ``OperationRunSharing/init(of:isSameRun:)``.
  /// - Returns: The object by which the caller leaves the modifier after the operation. Nil if the run does not come
  ///   from a store with this rule, or if it has entered the modifier before.
  @usableFromInline
  package func enterSharingModifier(_ modifier: AnyObject) -> RunWaits? {
    guard let waits = self.run.waits, waits.run == self.run.taskIdentifier,
      self.operationRunSharing?.modifier === modifier, waits.enterSharingModifier()
    else { return nil }
    return waits
  }
}
