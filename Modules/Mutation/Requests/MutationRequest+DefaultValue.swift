public import OperationCore

extension MutationRequest {
  /// This mutation with a default value.
  public typealias Default = DefaultStateOperation<Self>

  /// Shows a default value while no call has produced one.
  public func defaultValue(_ value: @autoclosure @escaping @Sendable () -> MutateValue) -> Default {
    DefaultStateOperation(self, base: { MutationState() }, defaultValue: value)
  }
}
