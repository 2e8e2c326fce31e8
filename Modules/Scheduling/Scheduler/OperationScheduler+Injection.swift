public import OperationCore

extension OperationScheduler {
  /// Schedules an operation that is made from the value of another one, of any scheduler.
  ///
  /// ```swift
  /// let list = scheduler.schedule(FetchList())
  /// let files = scheduler.schedule(injecting: list) { list in DownloadFiles(list.files) }
  /// ```
  ///
  /// If the other operation does not succeed, the new one does not run. It is cancelled if the other one was cancelled,
  /// and fails with ``OperationDependencyFailed`` otherwise.
  ///
  /// - Parameters:
  ///   - input: The operation whose value is used.
  ///   - vital: Whether the operation holds back operations that are scheduled later until it has ended.
  ///   - priority: The priority of the operation.
  ///   - name: The name of the operation in messages.
  ///   - make: Makes the operation. An error that it throws is the error of the operation.
  /// - Returns: The scheduled operation.
  @discardableResult
  public func schedule<Input: Sendable, Operation: OperationRequest & Sendable>(
    injecting input: ScheduledOperation<Input>,
    vital: Bool = false,
    priority: TaskPriority? = nil,
    named name: String? = nil,
    _ make: @escaping @Sendable (Input) throws -> Operation
  ) -> ScheduledOperation<Operation.Value> where Operation.Value: Sendable {
    let request = ScheduleRequest(isVital: vital, priority: priority, name: name)
    return self.core.schedule(InjectedOperation(input: input, make: make), request)
  }
}

extension ScheduledOperation {
  /// Schedules an operation that is made from the value of this one, in the same scheduler.
  ///
  /// See ``OperationScheduler/schedule(injecting:vital:priority:named:_:)``.
  ///
  /// - Parameters:
  ///   - name: The name of the operation in messages.
  ///   - make: Makes the operation. An error that it throws is the error of the operation.
  /// - Returns: The scheduled operation.
  @discardableResult
  public func then<Operation: OperationRequest & Sendable>(
    named name: String? = nil,
    _ make: @escaping @Sendable (Value) throws -> Operation
  ) -> ScheduledOperation<Operation.Value> where Operation.Value: Sendable {
    self.node.core.schedule(InjectedOperation(input: self, make: make), ScheduleRequest(name: name))
  }
}

extension SchedulerCore {
  fileprivate func schedule<Input: Sendable, Operation: OperationRequest & Sendable>(
    _ operation: InjectedOperation<Input, Operation>,
    _ request: ScheduleRequest
  ) -> ScheduledOperation<Operation.Value> where Operation.Value: Sendable {
    self.schedule(operation.condition(InputSucceeded(input: operation.input)), request) {
      $0.addDependency(operation.input)
    }
  }
}

/// An operation that is made from the value of another one.
private struct InjectedOperation<Input: Sendable, Operation: OperationRequest & Sendable>: FailureErasingOperation,
  Sendable
where Operation.Value: Sendable {
  let input: ScheduledOperation<Input>
  let make: @Sendable (Input) throws -> Operation

  static var unmodifiedType: any OperationRequest.Type { Operation.unmodifiedType }

  static var erasedOperation: any OperationRequest.Type { Operation.self }

  var operationName: String { OperationName.of(Operation.unmodifiedType) }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Operation.Value, any Error>
  ) async throws -> Operation.Value {
    let operation = try self.make(try await self.input.value)
    return try await OperationRunner(operation: operation, initialContext: context).run(
      isolation: isolation,
      with: OperationContinuation { continuation.yield(with: $0.mapError { $0 as any Error }, using: $1) }
    )
  }
}

/// Denies an operation whose input has not succeeded.
private struct InputSucceeded<Input: Sendable>: OperationCondition {
  let input: ScheduledOperation<Input>

  func evaluate(in context: OperationContext) async -> OperationConditionResult {
    switch self.input.erased.outcome {
    case .succeeded, nil:
      return .satisfied
    case .cancelled:
      return .denied(CancellationError())
    case .failed(let error):
      return .denied(FinishedDependency(name: self.input.name, outcome: .failed(error)).failure(error))
    }
  }
}
