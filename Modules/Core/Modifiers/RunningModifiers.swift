extension StatefulOperationRequest {
  /// Allows automatic runs, such as on a new subscription, while `specification` is satisfied.
  ///
  /// When `specification` becomes satisfied, the operation runs if its value is stale and the store has subscribers.
  public func enableAutomaticRunning(
    onlyWhen specification: some OperationRunSpecification & Sendable
  ) -> ContextModifiedOperation<Self> {
    self.context { $0.automaticRunningSpecification = specification }
      .written(".enableAutomaticRunning(onlyWhen: \(type(of: specification)))")
  }

  /// Disables automatic runs of the operation, or enables them when `isDisabled` is false.
  public func disableAutomaticRunning(_ isDisabled: Bool = true) -> ContextModifiedOperation<Self> {
    self.enableAutomaticRunning(onlyWhen: .always(!isDisabled)).written(".disableAutomaticRunning(\(isDisabled))")
  }

  /// Reruns a stale operation for its subscribers when `specification` becomes satisfied.
  ///
  /// A run that is already under way continues. If it fails, perhaps because it started before the change, the
  /// operation runs once more.
  public func rerunOnChange(
    of specification: some OperationRunSpecification & Sendable
  ) -> ContextModifiedOperation<Self> {
    self.controlled(by: RerunOnChange<State, _>(specification: specification))
      .written(".rerunOnChange(of: \(type(of: specification)))")
  }

  /// Reruns the operation at an interval while its store has subscribers.
  ///
  /// - Parameters:
  ///   - interval: The time between reruns. It must be greater than zero.
  ///   - specification: A rerun is skipped when this is not satisfied.
  /// - Returns: The operation, whose stores rerun it.
  public func rerun(
    every interval: Duration,
    onlyWhen specification: some OperationRunSpecification & Sendable = .always(true)
  ) -> ContextModifiedOperation<Self> {
    self.controlled(by: Polling<State, _>(interval: interval, specification: specification))
      .written(".rerun(every: \(interval.roundedText))")
  }

  /// Attaches `controller` to the stores of the operation.
  public func controlled<Controller: OperationController & Sendable>(
    by controller: Controller
  ) -> ContextModifiedOperation<Self> where Controller.State == State {
    self.adding { $0.operationControllers.append(controller) }.written(".controlled(by: \(Controller.self))")
  }

  /// Calls `handler` for all events of the operation's stores.
  public func handleEvents(with handler: OperationEventHandler<State>) -> ContextModifiedOperation<Self> {
    self.adding { $0.addEventHandler(handler) }.written(".handleEvents(with:)")
  }
}

extension StatefulOperationRequest where State: QueryStateProtocol {
  /// Calls `handler` for all events of the query's stores.
  public func handleEvents(with handler: QueryEventHandler<State>) -> ContextModifiedOperation<Self> {
    self.handleEvents(with: OperationEventHandler(handler))
  }
}

/// An operation with a controller, as ``StatefulOperationRequest/controlled(by:)`` returns it.
public typealias ControlledOperation<Operation: StatefulOperationRequest> = ContextModifiedOperation<Operation>
