public import OperationCore

/// A state of an operation with arguments: ``MutationState``, with or without a default value.
public protocol MutationStateProtocol<Arguments>: OperationState {
  /// The arguments of a call.
  associatedtype Arguments: Sendable

  /// The arguments of the newest call in the history. Nil if the history is empty.
  var latestArguments: Arguments? { get }
}

extension DefaultOperationState: MutationStateProtocol where Base: MutationStateProtocol {
  public typealias Arguments = Base.Arguments

  public var latestArguments: Base.Arguments? { self.base.latestArguments }
}

extension MutationState: DefaultableOperationState {
  public func defaultValue(for value: Value?, using defaultValue: Value) -> Value { value ?? defaultValue }

  public func stateValue(for defaultValue: Value) -> Value? { defaultValue }
}
