internal import OperationCore

/// The work of a scheduled operation.
final class OperationJob<Operation: OperationRequest & Sendable>: ScheduledJob where Operation.Value: Sendable {
  private let operation: Operation
  private let context: OperationContext
  /// The object that keeps the value.
  private let handle: ScheduledOperation<Operation.Value>

  init(operation: Operation, context: OperationContext, handle: ScheduledOperation<Operation.Value>) {
    self.operation = operation
    self.context = context
    self.handle = handle
  }

  var name: String { self.operation.operationName }

  var erasedValue: (any Sendable)? {
    SchedulingLock.withLock { self.handle.storedValue }
  }

  func run(for node: ScheduledNode) async -> OperationOutcome {
    let conditions = SchedulingLock.withLock { node.state.conditions }
    var result: Result<Operation.Value, any Error>
    if conditions.isEmpty {
      result = await self.run(self.operation, for: node)
    } else {
      // They are prepared and evaluated together with the operation's own ones.
      result = await self.run(self.operation.preparedAsAnyFailure(after: conditions), for: node)
    }
    switch result {
    case .success(let value):
      SchedulingLock.withLock { self.handle.storedValue = value }
      return .succeeded
    case .failure(let error):
      let isCancelled = SchedulingLock.withLock { node.state.isCancelled }
      return isCancelled || error is CancellationError || error is OperationSkipped ? .cancelled(error) : .failed(error)
    }
  }

  private func run<Request: OperationRequest & Sendable>(
    _ request: Request,
    for node: ScheduledNode
  ) async -> Result<Request.Value, any Error> {
    var context = self.context
    if OperationTraits.of(Request.self).hasPreparation {
      // The innermost preparation notes the start of the body.
      context.scheduledStart = ScheduledStart(node: node)
    } else {
      node.start()
    }
    do {
      return .success(try await OperationRunner(operation: request, initialContext: context).run(isolation: nil))
    } catch {
      return .failure(error)
    }
  }
}
