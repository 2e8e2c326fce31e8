/// An operation whose state is stored in an ``OperationStore`` and identified by its ``path``.
///
/// Conform to ``QueryRequest`` or to another refinement if one fits. To define a custom request kind, refine this
/// protocol, fix ``State``, and provide a default ``OperationRequest/run(isolation:in:with:)`` that calls the
/// requirement of your kind.
public protocol StatefulOperationRequest<State>: OperationRequest, Sendable, OperationPathable
where Value == State.OperationValue, Failure == State.Failure {
  /// The type of the state in a store of this operation.
  associatedtype State: OperationState & Sendable

  associatedtype Value = State.OperationValue

  associatedtype Failure = State.Failure

  /// The path that identifies the operation, its state and its store.
  ///
  /// The default is `[self]` for a `Hashable` operation and `[id]` for an operation that is only `Identifiable`.
  var path: OperationPath { get }

  /// Whether the operation may run without a direct call.
  ///
  /// When true, which is the default, a subscription, a run specification or an invalidation can start a run. Return
  /// false for an operation that needs arguments from its caller.
  var allowsAutomaticRuns: Bool { get }

  /// The name that debuggers show for the task of a run in `context`: `Post.Query: fetch`.
  ///
  /// The default is the name of the operation and what the run does. A name in the task's configuration replaces it.
  /// Called only when the name is needed.
  func taskName(in context: OperationContext) -> String
}

extension StatefulOperationRequest {
  @inlinable
  public var allowsAutomaticRuns: Bool { true }

  public func taskName(in context: OperationContext) -> String { "\(self.operationName): run" }
}

extension StatefulOperationRequest {
  // For the compiler's message about a type without a path.
  @available(
    *,
    unavailable,
    message: "make the type Hashable or Identifiable, or write its path: var path: OperationPath"
  )
  public var path: OperationPath { preconditionFailure("Unavailable.") }
}

extension StatefulOperationRequest where Self: Hashable {
  @inlinable
  public var path: OperationPath { [self] }
}

extension StatefulOperationRequest where Self: Identifiable, ID: Sendable {
  @inlinable
  public var path: OperationPath { [self.id] }
}

extension StatefulOperationRequest where Self: Hashable & Identifiable, ID: Sendable {
  @inlinable
  public var path: OperationPath { [self] }
}
