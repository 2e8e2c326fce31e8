public import OperationCore

/// The work of a scheduled operation.
@usableFromInline
protocol ScheduledJob: AnyObject, Sendable {
  /// The value of the operation; nil before it has succeeded. Read under the scheduling lock.
  var erasedValue: (any Sendable)? { get }
  /// Sets up a context as the operation does.
  func setUp(_ context: inout OperationContext)
  /// Runs the operation, and keeps its value. Returns the error of an operation that has not succeeded.
  func run(in context: OperationContext) async -> (any Error)?
  /// Runs the operation with further conditions before its own ones.
  func run(in context: OperationContext, after conditions: [any OperationCondition]) async -> (any Error)?
}

/// The work of a scheduled operation of a given type.
@usableFromInline
final class OperationJob<Operation: OperationRequest & Sendable>: ScheduledJob where Operation.Value: Sendable {
  @usableFromInline let operation: Operation
  /// The object that has the value for users.
  @usableFromInline let handle: ScheduledOperation<Operation.Value>

  @inlinable
  init(operation: Operation, handle: ScheduledOperation<Operation.Value>) {
    self.operation = operation
    self.handle = handle
  }

  @usableFromInline var erasedValue: (any Sendable)? { self.handle.storedValue }

  @inlinable
  func setUp(_ context: inout OperationContext) {
    self.operation.setup(context: &context)
  }

  @inlinable
  func run(in context: OperationContext) async -> (any Error)? {
    do {
      let runner = OperationRunner(operation: self.operation, initialContext: context)
      self.handle.keep(try await runner.run(isolation: nil))
      return nil
    } catch {
      return error
    }
  }

  @usableFromInline
  func run(in context: OperationContext, after conditions: [any OperationCondition]) async -> (any Error)? {
    // The conditions are prepared and evaluated together with the operation's own.
    let operation = self.operation.preparedAsAnyFailure(after: conditions)
    do {
      self.handle.keep(try await OperationRunner(operation: operation, initialContext: context).run(isolation: nil))
      return nil
    } catch {
      return error
    }
  }
}
