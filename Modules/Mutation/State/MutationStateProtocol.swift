public import OperationCore

/// A state whose operation is called with arguments: ``MutationState``, also under a default value.
public protocol MutationStateProtocol<Arguments>: OperationState {
  /// What a call brings.
  associatedtype Arguments: Sendable

  /// What the newest call in the history brought; nil when there is none.
  var latestArguments: Arguments? { get }
}

extension DefaultOperationState: MutationStateProtocol where Base: MutationStateProtocol {
  public typealias Arguments = Base.Arguments

  public var latestArguments: Base.Arguments? { self.base.latestArguments }
}
