extension StatefulOperationRequest {
  /// Lets the store run the operation unasked, as when somebody subscribes, while `specification` is satisfied.
  ///
  /// When that comes to be satisfied, the operation is run if the value is stale and somebody subscribes.
  public func enableAutomaticRunning(
    onlyWhen specification: some OperationRunSpecification & Sendable
  ) -> ContextModifiedOperation<Self> {
    self.context { $0.automaticRunningSpecification = specification }
  }

  /// Forbids the store to run the operation unasked; with `false`, allows it.
  public func disableAutomaticRunning(_ isDisabled: Bool = true) -> ContextModifiedOperation<Self> {
    self.enableAutomaticRunning(onlyWhen: .always(!isDisabled))
  }

  /// Reruns the operation when `specification` comes to be satisfied, if the value is stale and somebody subscribes.
  ///
  /// A run that is there already is left to end. Where it fails, perhaps for the want of what has changed, the operation is
  /// rerun then.
  public func rerunOnChange(
    of specification: some OperationRunSpecification & Sendable
  ) -> ContextModifiedOperation<Self> {
    self.controlled(by: RerunOnChange<State, _>(specification: specification))
  }

  /// Reruns the operation at an interval while somebody subscribes.
  ///
  /// - Parameters:
  ///   - interval: The time between reruns; it must be greater than zero.
  ///   - specification: An interval that finds it unsatisfied is skipped.
  public func rerun(
    every interval: Duration,
    onlyWhen specification: some OperationRunSpecification & Sendable = .always(true)
  ) -> ContextModifiedOperation<Self> {
    self.controlled(by: Polling<State, _>(interval: interval, specification: specification))
  }

  /// Lets `controller` work on the stores of the operation.
  public func controlled<Controller: OperationController & Sendable>(
    by controller: Controller
  ) -> ContextModifiedOperation<Self> where Controller.State == State {
    self.adding { $0.operationControllers.append(controller) }
  }

  /// Tells `handler` of all events in the stores of the operation.
  public func handleEvents(with handler: OperationEventHandler<State>) -> ContextModifiedOperation<Self> {
    self.adding { $0.operationEventHandlers.append(handler) }
  }
}

extension StatefulOperationRequest where State: QueryStateProtocol {
  /// Tells `handler` of all events in the stores of the query.
  public func handleEvents(with handler: QueryEventHandler<State>) -> ContextModifiedOperation<Self> {
    self.handleEvents(with: OperationEventHandler(handler))
  }
}

/// An operation with a controller: what ``StatefulOperationRequest/controlled(by:)`` makes.
public typealias ControlledOperation<Operation: StatefulOperationRequest> = ContextModifiedOperation<Operation>
