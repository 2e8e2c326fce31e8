// Names of other libraries. Without these declarations the compiler finds a function, or a member of this module.

extension OperationState {
  /// The value is ``currentValue``.
  @available(*, unavailable, renamed: "currentValue")
  public var value: StateValue { preconditionFailure("Unavailable.") }

  /// The value is ``currentValue``.
  @available(*, unavailable, renamed: "currentValue")
  public var data: StateValue { preconditionFailure("Unavailable.") }
}
