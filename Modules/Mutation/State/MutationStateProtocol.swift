public import OperationCore

/// A state of an operation with arguments: ``MutationState``, with or without a default value.
public protocol MutationStateProtocol<Arguments>: OperationState {
  /// The arguments of a call.
  associatedtype Arguments: Sendable

  /// The arguments of the newest call in the history. Nil if the history is empty.
  var latestArguments: Arguments? { get }
}

extension DefaultOperationState: MutationStateProtocol where Base: MutationStateProtocol {
  /// The arguments of a call.
  public typealias Arguments = Base.Arguments

  /// The arguments of the newest call in the history. Nil if the history is empty.
  public var latestArguments: Base.Arguments? { self.base.latestArguments }
}

extension MutationState: DefaultableOperationState {
  /// Returns the value, or the default if there is none.
  public func defaultValue(for value: Value?, using defaultValue: Value) -> Value { value ?? defaultValue }

  /// Returns the value that was set.
  public func stateValue(for defaultValue: Value) -> Value? { defaultValue }

  /// Whether there is no value.
  public func isMissing(_ value: Value?) -> Bool { if case .none = value { true } else { false } }
}
