/// An operation whose state an ``OperationStore`` keeps, found by its ``path``.
///
/// Conform to ``QueryRequest`` or to another refinement where one fits. To write a request kind of your own, refine this
/// protocol, fix ``State``, and provide a default ``OperationRequest/run(isolation:in:with:)`` that calls the requirement
/// of your kind.
public protocol StatefulOperationRequest<State>: OperationRequest, Sendable, OperationPathable
where Value == State.OperationValue, Failure == State.Failure {
  /// The state that a store keeps for this operation.
  associatedtype State: OperationState & Sendable

  associatedtype Value = State.OperationValue

  associatedtype Failure = State.Failure

  /// What identifies the operation, its state and its store.
  ///
  /// It is `[self]` for a `Hashable` operation and `[id]` for an `Identifiable` one unless you say otherwise.
  var path: OperationPath { get }

  /// Whether runs may be started by anything but a direct call: by a subscription, a run specification, or an
  /// invalidation. True unless the operation needs arguments that only its caller has.
  var canRunUnasked: Bool { get }

  /// What the task of a run in `context` is called in debuggers, unless its configuration has a name: `Post.Query: fetch`.
  ///
  /// By default the name of the operation and what the run does. It is only asked for when somebody looks.
  func taskName(in context: OperationContext) -> String
}

extension StatefulOperationRequest {
  @inlinable
  public var canRunUnasked: Bool { true }

  public func taskName(in context: OperationContext) -> String { "\(self.operationName): run" }
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
