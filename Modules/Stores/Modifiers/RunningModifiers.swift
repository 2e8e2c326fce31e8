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
  ///
  /// ```swift
  /// let query = PostQuery(id: 1).rerunOnChange(of: .applicationIsActive(observer: activity), after: .seconds(300))
  /// ```
  ///
  /// - Parameters:
  ///   - specification: The condition.
  ///   - absence: For how long it must not have been satisfied before, by the deadlines of the context; zero by
  ///     default, for any time. A negative duration is reported and counts as zero.
  /// - Returns: The operation, whose stores rerun it.
  public func rerunOnChange(
    of specification: some OperationRunSpecification & Sendable,
    after absence: Duration = .zero
  ) -> ContextModifiedOperation<Self> {
    let absence = absence.reportedIfNegative(in: "rerunOnChange(of:after:)")
    return self.controlled(by: RerunOnChange<State, _>(specification: specification, absence: absence))
      .written(
        ".rerunOnChange(of: \(type(of: specification))\(absence > .zero ? ", after: \(absence.roundedText)" : ""))"
      )
  }

  /// Reruns the operation at an interval while its store has subscribers.
  ///
  /// - Parameters:
  ///   - interval: The time between reruns. It must be greater than zero.
  ///   - jitter: The largest share that is taken away from each interval, so that many programs do not poll together:
  ///     with 0.1 and ten seconds, a rerun follows after nine to ten seconds. A number outside 0 to 1 is reported.
  ///   - specification: A rerun is skipped when this is not satisfied.
  ///   - generator: The source of random numbers for the jitter. All stores share it.
  /// - Returns: The operation, whose stores rerun it.
  public func rerun(
    every interval: Duration,
    jitter: Double = 0,
    onlyWhen specification: some OperationRunSpecification & Sendable = .always(true),
    using generator: some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) -> ContextModifiedOperation<Self> {
    let jitter = PollingJitter(jitter, generator)
    return self.controlled(by: Polling<State, _>(interval: interval, jitter: jitter, specification: specification))
      .written(".rerun(every: \(interval.roundedText))")
  }

  /// Reruns the operation while its store has subscribers, after the time that the state says.
  ///
  /// ```swift
  /// let job = JobQuery(id: 7).rerun(every: { state in state.currentValue?.isDone == true ? nil : .seconds(2) })
  /// ```
  ///
  /// The time counts from the end of a run, whoever has started it, and it is asked for anew after each: the state has
  /// its value or its error. It is also asked for when the first subscriber comes, and when a value is set; the time that
  /// is under way then goes on if it is the same. A rerun is skipped while a run is under way.
  ///
  /// - Parameters:
  ///   - interval: Returns the time until the next rerun; nil for none until the state changes. Called with no lock
  ///     held. A duration of zero or less is reported, and counts as nil.
  ///   - jitter: The largest share that is taken away from each time. A number outside 0 to 1 is reported.
  ///   - specification: A rerun is skipped when this is not satisfied.
  ///   - generator: The source of random numbers for the jitter. All stores share it.
  /// - Returns: The operation, whose stores rerun it.
  public func rerun(
    every interval: @escaping @Sendable (State) -> Duration?,
    jitter: Double = 0,
    onlyWhen specification: some OperationRunSpecification & Sendable = .always(true),
    using generator: some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) -> ContextModifiedOperation<Self> {
    self.rerun(every: { state, _ in interval(state) }, jitter: jitter, onlyWhen: specification, using: generator)
  }

  /// Reruns the operation while its store has subscribers, after the time that the state and the context say.
  ///
  /// It is the method above for a closure that also reads the context.
  ///
  /// - Parameters:
  ///   - interval: Returns the time until the next rerun; nil for none until the state changes. Called with no lock
  ///     held. A duration of zero or less is reported, and counts as nil.
  ///   - jitter: The largest share that is taken away from each time. A number outside 0 to 1 is reported.
  ///   - specification: A rerun is skipped when this is not satisfied.
  ///   - generator: The source of random numbers for the jitter. All stores share it.
  /// - Returns: The operation, whose stores rerun it.
  public func rerun(
    every interval: @escaping @Sendable (State, OperationContext) -> Duration?,
    jitter: Double = 0,
    onlyWhen specification: some OperationRunSpecification & Sendable = .always(true),
    using generator: some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) -> ContextModifiedOperation<Self> {
    let jitter = PollingJitter(jitter, generator)
    return self.controlled(by: ValuePolling(interval: interval, jitter: jitter, specification: specification))
      .written(".rerun(every: { … })")
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
