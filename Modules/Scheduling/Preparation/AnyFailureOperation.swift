internal import OperationCore

/// An operation that runs another one, and whose failure can be any error.
protocol FailureErasingOperation: OperationRequest {
  /// The type of the other operation.
  static var erasedOperation: any OperationRequest.Type { get }
}

/// Runs another operation, and can fail with any error, such as the error of a condition which a module has added.
struct AnyFailureOperation<Operation: OperationRequest & Sendable>: FailureErasingOperation, Sendable {
  let operation: Operation

  var operationName: String { self.operation.operationName }

  static var unmodifiedType: any OperationRequest.Type { Operation.unmodifiedType }

  static var erasedOperation: any OperationRequest.Type { Operation.self }

  func setup(context: inout OperationContext) {
    self.operation.setup(context: &context)
  }

  func isSameRun(in context: OperationContext, as other: OperationContext) -> Bool {
    self.operation.isSameRun(in: context, as: other)
  }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Operation.Value, any Error>
  ) async throws -> Operation.Value {
    try await self.operation.run(
      isolation: isolation,
      in: context,
      with: OperationContinuation { continuation.yield(with: $0.mapError { $0 as any Error }, using: $1) }
    )
  }
}

extension OperationRequest where Self: Sendable {
  /// The operation with further conditions before its own ones.
  func preparedAsAnyFailure(
    after conditions: [any OperationCondition]
  ) -> Modified<OperationPreparation<AnyFailureOperation<Self>>> {
    var preparation = OperationPreparation<AnyFailureOperation<Self>>()
    for condition in conditions { preparation.append(condition) { $0 } }
    var operation = self
    if let inner = self as? any PreparedOperation { operation = preparation.takeOver(erasing: inner) ?? self }
    return Modified(operation: AnyFailureOperation(operation: operation), modifier: preparation)
  }
}

extension OperationPreparation {
  /// Takes over the contents of the preparation of `inner`, and returns `inner` without it, if that is a `Rest`.
  fileprivate mutating func takeOver<Inner: PreparedOperation, Rest: OperationRequest>(erasing inner: Inner) -> Rest?
  where Operation.Failure == any Error {
    guard let rest = inner.unprepared as? Rest else { return nil }
    for failure in inner.preparationFailures {
      self.failures.append(PreparationFailure { failure.map($0) })
    }
    for condition in inner.preparationSteps.conditions { self.steps = self.steps.adding(condition) }
    self.steps = self.steps.adding(inner.preparationSteps.lanes)
    return rest
  }
}
