/// A description of asynchronous work, as a value.
///
/// Conform to ``QueryRequest`` for work that reads. Conform to this protocol for work without stored state, and run it
/// with an ``OperationRunner``. Add behaviour with modifiers: see ``OperationModifier``.
public protocol OperationRequest<Value, Failure>: SendableMetatype {
  /// The type of value that a run returns.
  associatedtype Value

  /// The type of error that a run throws.
  associatedtype Failure: Error

  /// Configures the context, once for each store or runner that is created for the operation.
  func setup(context: inout OperationContext)

  /// Performs the work.
  ///
  /// - Parameters:
  ///   - isolation: The actor to run on; nil to run on no actor.
  ///   - context: The configuration and dependencies of this run.
  ///   - continuation: Receives the results that are yielded before the returned one.
  /// - Returns: The final value of the run.
  /// - Throws: The error with which the run fails.
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Value, Failure>
  ) async throws(Failure) -> Value

  /// Whether runs in `context` and in `other` do the same work, so that they can share one run.
  ///
  /// Called only for operations that share runs. The default returns true: all runs of one operation value do the same
  /// work. If the work of an operation depends on its context, implement it, and compare the entries that the work
  /// reads.
  func isSameRun(in context: OperationContext, as other: OperationContext) -> Bool

  /// The type of the operation without its modifiers.
  ///
  /// A client uses it to detect different operations with the same path.
  static var unmodifiedType: any OperationRequest.Type { get }

  /// The name of the operation in logs, metrics and traces.
  ///
  /// The default is the type of the operation without its modifiers, with the types that it is nested in: `Post.Query`.
  /// The name must not contain user data, because metrics record a separate series for each name.
  var operationName: String { get }
}

extension OperationRequest {
  public func setup(context: inout OperationContext) {}

  public func isSameRun(in context: OperationContext, as other: OperationContext) -> Bool { true }

  public static var unmodifiedType: any OperationRequest.Type { Self.self }
}
