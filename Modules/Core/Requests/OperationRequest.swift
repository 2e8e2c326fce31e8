/// A description of asynchronous work, as a value.
///
/// Conform to ``QueryRequest`` for work that reads, or to this protocol for work whose state nobody keeps, and run the
/// latter with an ``OperationRunner``. Compose behaviour with modifiers: see ``OperationModifier``.
public protocol OperationRequest<Value, Failure>: SendableMetatype {
  /// What a run produces.
  associatedtype Value

  /// What a run can throw.
  associatedtype Failure: Error

  /// Writes the configuration of the operation to the context, once, when a store or runner is made for it.
  func setup(context: inout OperationContext)

  /// Does the work.
  ///
  /// - Parameters:
  ///   - isolation: The actor to run on; nil to run on no actor.
  ///   - context: The configuration and dependencies of this run.
  ///   - continuation: Takes results ahead of the returned one.
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Value, Failure>
  ) async throws(Failure) -> Value

  /// Whether a run in `context` would do the same work as the run in `other`, so that both can share one.
  ///
  /// Only asked where runs are shared at all. The default says that every run of one operation value does the same; an
  /// operation whose work depends on its context compares what it reads there.
  func isSameRun(in context: OperationContext, as other: OperationContext) -> Bool

  /// The type of the operation without its modifiers, which tells apart operations that claim one path.
  static var unmodifiedType: any OperationRequest.Type { get }

  /// What the operation is called in logs, metrics and traces.
  ///
  /// By default the type of the operation without its modifiers, with the types that it is nested in: `Post.Query`. Make it no
  /// part of a user's data: metrics keep a series for each name.
  var operationName: String { get }
}

extension OperationRequest {
  public func setup(context: inout OperationContext) {}

  public func isSameRun(in context: OperationContext, as other: OperationContext) -> Bool { true }

  public static var unmodifiedType: any OperationRequest.Type { Self.self }
}
