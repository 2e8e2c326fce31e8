public import OperationCore

extension OperationRequest {
  /// Keeps the operation from being rerun because the application has become active.
  ///
  /// - Parameter isDisabled: With false, it is rerun, as it is by default.
  public func disableApplicationActiveRerunning(_ isDisabled: Bool = true) -> ContextModifiedOperation<Self> {
    self.context { $0.isApplicationActiveRerunningEnabled = !isDisabled }
  }
}

extension OperationContext {
  /// Whether the operation is rerun when the application becomes active. True by default.
  public var isApplicationActiveRerunningEnabled: Bool {
    get { self[IsApplicationActiveRerunningEnabledKey.self] }
    set { self[IsApplicationActiveRerunningEnabledKey.self] = newValue }
  }

  private enum IsApplicationActiveRerunningEnabledKey: Key {
    static let defaultValue = true
  }
}
