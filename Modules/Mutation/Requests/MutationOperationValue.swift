/// The value of a call of a mutation, with the arguments of the call.
public struct MutationOperationValue<Arguments: Sendable, Value: Sendable>: Sendable {
  /// The arguments of the call.
  public let arguments: Arguments

  /// The value that the call returned.
  public let returnValue: Value

  /// Creates a value.
  public init(arguments: Arguments, returnValue: Value) {
    self.arguments = arguments
    self.returnValue = returnValue
  }
}

extension MutationOperationValue: Equatable where Arguments: Equatable, Value: Equatable {}

extension MutationOperationValue: Hashable where Arguments: Hashable, Value: Hashable {}
