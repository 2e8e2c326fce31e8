/// Adds behaviour to an operation, around its runs or in its context.
///
/// ```swift
/// struct Logged<Operation: OperationRequest>: OperationModifier {
///   func run(
///     isolation: isolated (any Actor)?,
///     in context: OperationContext,
///     using operation: Operation,
///     with continuation: OperationContinuation<Operation.Value, Operation.Failure>
///   ) async throws(Operation.Failure) -> Operation.Value {
///     log("begins")
///     defer { log("ends") }
///     return try await operation.run(isolation: isolation, in: context, with: continuation)
///   }
/// }
/// ```
///
/// A modifier that is applied later is outside of the earlier ones. A modified query is a query unless the modifier
/// changes the value or failure type.
public protocol OperationModifier<Operation, Value, Failure>: Sendable {
  /// The type of the modified operation.
  associatedtype Operation: OperationRequest

  /// The value type after the modification.
  associatedtype Value = Operation.Value

  /// The failure type after the modification.
  associatedtype Failure: Error = Operation.Failure

  /// Configures the context, once for each store or runner that is created for the operation.
  ///
  /// An implementation must call `operation.setup(context:)`. By convention it does so after its own changes, so that
  /// the operation inside can override them. The default implementation only makes this call.
  func setup(context: inout OperationContext, using operation: Operation)

  /// How the modifier is written, with its values: `.retry(limit: 3)`.
  ///
  /// Debug builds compare these texts when an operation is requested at a path that has a store. They report modifiers
  /// without effect, because the store was made with others. The default is the name of the type: `.modifier(Logged)`.
  var sourceText: String { get }

  /// Whether a run passes through the modifier without a wait, until the operation begins for the first time.
  ///
  /// A call can then take its place in a queue inside of the modifier when its caller begins it, and not when it comes
  /// there: the calls of a scope are in the order in which they were made. The default is false. State true only if the
  /// modifier waits for nothing before it begins the operation: no condition, no permit, no other call. Calls with a
  /// place would otherwise wait for a call that waits for them.
  static var beginsAtOnce: Bool { get }

  /// Runs the operation with the modifier's behaviour.
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Value, Failure>
  ) async throws(Failure) -> Value
}

extension OperationModifier {
  @inlinable
  public func setup(context: inout OperationContext, using operation: Operation) {
    operation.setup(context: &context)
  }

  public static var beginsAtOnce: Bool { false }

  public var sourceText: String { ".modifier(\("\(Self.self)".prefix { $0 != "<" }))" }
}

extension OperationRequest {
  /// Returns this operation with a modifier around it.
  @inlinable
  public func modifier<Modifier: OperationModifier>(
    _ modifier: Modifier
  ) -> ModifiedOperation<Self, Modifier> where Modifier.Operation == Self {
    ModifiedOperation(operation: self, modifier: modifier)
  }
}
