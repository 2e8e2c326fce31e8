/// The base class of ``OperationStorage``, which does not depend on the type of the operation.
///
/// Its members are rarely called. The subclass overrides all of them.
@usableFromInline
package class AnyOperationStorage: @unchecked Sendable {
  // Unchecked because the compiler checks only final classes; the one subclass holds an immutable Sendable value.
  init() {}

  package var anyOperation: any OperationRequest { preconditionFailure("Overridden by OperationStorage.") }
  var operationType: any OperationRequest.Type { preconditionFailure("Overridden by OperationStorage.") }
  var unmodifiedType: any OperationRequest.Type { preconditionFailure("Overridden by OperationStorage.") }
  var valueType: any Sendable.Type { preconditionFailure("Overridden by OperationStorage.") }
  var failureType: any Error.Type { preconditionFailure("Overridden by OperationStorage.") }
  var allowsAutomaticRuns: Bool { preconditionFailure("Overridden by OperationStorage.") }
  var operationName: String { preconditionFailure("Overridden by OperationStorage.") }

  func isSameRun(_ context: OperationContext, _ other: OperationContext) -> Bool {
    preconditionFailure("Overridden by OperationStorage.")
  }

  func taskName(in context: OperationContext) -> String { preconditionFailure("Overridden by OperationStorage.") }
}

/// The object that stores an operation of one type.
@usableFromInline
final class OperationStorage<Operation: StatefulOperationRequest>: AnyOperationStorage, @unchecked Sendable {
  // Unchecked because its base class is; it adds only this immutable Sendable value.
  @usableFromInline let operation: Operation

  @usableFromInline
  init(_ operation: Operation) {
    self.operation = operation
    super.init()
  }

  override var anyOperation: any OperationRequest { self.operation }
  override var operationType: any OperationRequest.Type { Operation.self }
  override var unmodifiedType: any OperationRequest.Type { Operation.unmodifiedType }
  override var valueType: any Sendable.Type { Operation.Value.self }
  override var failureType: any Error.Type { Operation.Failure.self }
  override var allowsAutomaticRuns: Bool { self.operation.allowsAutomaticRuns }
  override var operationName: String { self.operation.operationName }

  override func isSameRun(_ context: OperationContext, _ other: OperationContext) -> Bool {
    self.operation.isSameRun(in: context, as: other)
  }

  override func taskName(in context: OperationContext) -> String { self.operation.taskName(in: context) }
}
