/// What a call of a mutation produced, with what the call had brought.
public struct MutationOperationValue<Arguments: Sendable, Value: Sendable>: Sendable {
  /// What the call brought.
  public let arguments: Arguments

  /// What the call produced.
  public let returnValue: Value

  /// Creates a value.
  public init(arguments: Arguments, returnValue: Value) {
    self.arguments = arguments
    self.returnValue = returnValue
  }
}

extension MutationOperationValue: Equatable where Arguments: Equatable, Value: Equatable {}

extension MutationOperationValue: Hashable where Arguments: Hashable, Value: Hashable {}
