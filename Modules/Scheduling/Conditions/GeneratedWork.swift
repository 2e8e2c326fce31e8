public import OperationCore

extension OperationContext {
  /// The error of the work that a condition has generated; nil if it generated none, or the work has succeeded.
  ///
  /// Set while ``OperationCondition/evaluate(in:)`` of that condition runs, so that a denial can tell the cause:
  /// `.denied(NotLoggedIn(cause: context.generatedWorkError))`. A condition that combines others gets the first error.
  public fileprivate(set) var generatedWorkError: (any Error)? {
    get { self[GeneratedWorkErrorKey.self] }
    set { self[GeneratedWorkErrorKey.self] = newValue }
  }

  private enum GeneratedWorkErrorKey: Key {
    static let defaultValue: (any Error)? = nil
  }
}

extension OperationNotice.Name {
  /// The work that a condition has generated has failed. The notice names that work, and the condition in
  /// `condition.name`.
  public static let generatedWorkFailed = Self("condition.work_failed")
}

/// The errors of the work that the conditions of one run have generated.
struct GeneratedWorkErrors {
  /// The errors by the indices of the conditions.
  private var byIndex: [Int: any Error] = [:]

  /// Keeps the error of a condition's work for the condition, for callers of a scheduled operation, and tells observers.
  mutating func add(
    _ error: any Error,
    of work: any OperationRequest & Sendable,
    for condition: any OperationCondition,
    at index: Int,
    in context: OperationContext
  ) {
    self.byIndex[index] = error
    if let node = context.scheduledStart?.node {
      SchedulingLock.withLock { node.state.generatedWorkErrors.append(error) }
    }
    let attributes = ["condition.name": OperationNotice.Value.string(condition.conditionName)]
    context.send(
      OperationNotice(.generatedWorkFailed, ofOperationNamed: work.operationName, attributes: attributes)
    )
  }

  /// The context in which the condition with an index is evaluated.
  func context(_ context: OperationContext, at index: Int) -> OperationContext {
    // A condition of generated work does not get the error of another condition.
    guard context.generatedWorkError != nil || !self.byIndex.isEmpty else { return context }
    var own = context
    own.generatedWorkError = self.byIndex[index]
    return own
  }
}

extension AnyScheduledOperation {
  /// The errors of the work that the conditions of the operation have generated, in the order in which it has failed.
  ///
  /// The operation itself throws the denial of the condition as it is; this is its cause.
  public var generatedWorkErrors: [any Error] { SchedulingLock.withLock { self.node.state.generatedWorkErrors } }
}

extension ScheduledOperation {
  /// The errors of the work that the conditions of the operation have generated, in the order in which it has failed.
  ///
  /// The operation itself throws the denial of the condition as it is; this is its cause.
  public var generatedWorkErrors: [any Error] { self.erased.generatedWorkErrors }
}
