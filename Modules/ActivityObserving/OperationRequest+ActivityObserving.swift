public import OperationCore

extension OperationRequest {
  /// Keeps the operation from being rerun when the application becomes active.
  ///
  /// - Parameter isDisabled: Pass false to rerun the operation, which is the default.
  /// - Returns: The operation with the setting in its context.
  public func disableApplicationActiveRerunning(_ isDisabled: Bool = true) -> ContextModifiedOperation<Self> {
    self.context { $0.isApplicationActiveRerunningEnabled = !isDisabled }
      .written(".disableApplicationActiveRerunning(\(isDisabled))")
  }
}

extension OperationContext {
  /// Whether the operation is rerun when the application becomes active. The default is true.
  public var isApplicationActiveRerunningEnabled: Bool {
    get { self[IsApplicationActiveRerunningEnabledKey.self] }
    set { self[IsApplicationActiveRerunningEnabledKey.self] = newValue }
  }

  private enum IsApplicationActiveRerunningEnabledKey: Key {
    static let defaultValue = true
  }
}
