/// One run of an operation, which starts when it is first asked for and is shared by all who ask.
///
/// Copies of a task are the same run. A task that is never run leaves no trace; one whose last caller is cancelled, and
/// which nobody else awaits, is cancelled too.
public struct OperationTask<Value: Sendable, Failure: Error>: Sendable, Identifiable {
  /// The context that the run gets. Changing it has no effect once the task has started.
  public var context: OperationContext

  @usableFromInline package let sharedRun: SharedRun<Value, Failure>

  /// Creates a task.
  ///
  /// - Parameters:
  ///   - context: The context that the work gets; its `operationTaskConfiguration` says how the task is made.
  ///   - work: The work, which gets the identifier of the task and the context.
  public init(
    context: OperationContext = OperationContext(),
    work: @escaping @Sendable (OperationTaskIdentifier, OperationContext) async throws(Failure) -> Value
  ) {
    let delegate = ClosureRunDelegate<Value, Failure> { id, context throws(Failure) in
      // It may come from a run, whose task is another.
      var context = context
      context.operationRunningTaskIdentifier = id
      return try await work(id, context)
    }
    self.init(sharedRun: SharedRun(delegate: delegate), context: context)
  }

  @inlinable
  package init(sharedRun: SharedRun<Value, Failure>, context: OperationContext) {
    self.sharedRun = sharedRun
    self.context = context
  }
}

extension OperationTask {
  /// The identifier of the task.
  @inlinable
  public var id: OperationTaskIdentifier { self.sharedRun.id }

  /// How the task is made.
  ///
  /// Where nothing names it, a task of a store has the name that its operation gives it, for as long as that is there:
  /// ``StatefulOperationRequest/taskName(in:)``.
  public var configuration: OperationTaskConfiguration {
    get {
      var configuration = self.context.operationTaskConfiguration
      if configuration.name == nil { configuration.name = self.context.defaultTaskName }
      return configuration
    }
    set {
      var configuration = newValue
      // What is only looked at is not written.
      if self.context.operationTaskConfiguration.name == nil, newValue.name == self.context.defaultTaskName {
        configuration.name = nil
      }
      self.context.operationTaskConfiguration = configuration
    }
  }

  /// What identifies and configures the task.
  public var info: OperationTaskInfo { OperationTaskInfo(id: self.id, configuration: self.configuration) }

  /// Whether somebody has run the task.
  public var hasStarted: Bool { self.sharedRun.hasStarted }

  /// Whether the task has started and not finished.
  public var isRunning: Bool { self.sharedRun.isRunning }

  /// Whether the task has ended.
  public var isFinished: Bool { self.sharedRun.finishedOutcome != nil }

  /// Whether the task was cancelled.
  public var isCancelled: Bool { self.sharedRun.isCancelled }

  /// The outcome, once the task has ended.
  public var finishedResult: Result<Value, Failure>? { self.sharedRun.finishedOutcome }
}

extension OperationTask: Hashable {
  /// Whether both are the same run. One with a transformed value or error is another.
  public static func == (lhs: OperationTask, rhs: OperationTask) -> Bool { lhs.sharedRun === rhs.sharedRun }

  public func hash(into hasher: inout Hasher) { hasher.combine(self.id) }
}

extension OperationTask {
  /// Runs the task if nobody has, and waits for its outcome.
  ///
  /// A caller that is cancelled leaves while others wait; when it is the last one the task is cancelled, and the caller
  /// gets the failure with which it ends.
  ///
  /// - Throws: What the work throws, or `CancellationError` where `Failure` has room for it.
  @inlinable
  @discardableResult
  public func runIfNeeded() async throws(Failure) -> Value {
    try await self.sharedRun.outcome(in: self.context).get()
  }

  /// Cancels the task, whoever awaits it. A task that has not started then never does its work, where `Failure` has room
  /// for a `CancellationError`.
  public func cancel() {
    self.sharedRun.cancel()
  }
}

extension OperationTask {
  /// Makes this task wait until another has ended, however it ends; the other is run if nobody has run it.
  ///
  /// Has no effect once this task has started. A call that would make tasks wait for each other in a circle is reported
  /// and adds nothing.
  public func schedule<OtherValue, OtherFailure>(after task: OperationTask<OtherValue, OtherFailure>) {
    self.sharedRun.depend(on: TaskDependency(on: task))
  }

  /// Makes this task wait until all of `tasks` have ended: see ``schedule(after:)-(OperationTask<OtherValue,OtherFailure>)``.
  public func schedule<OtherValue, OtherFailure>(
    after tasks: some Sequence<OperationTask<OtherValue, OtherFailure>>
  ) {
    for task in tasks { self.schedule(after: task) }
  }
}

extension OperationTask {
  /// The same run with its value transformed.
  public func map<NewValue: Sendable>(
    _ transform: @escaping @Sendable (Value) throws(Failure) -> NewValue
  ) -> OperationTask<NewValue, Failure> {
    self.transformed { result throws(Failure) in try transform(try result.get()) }
  }

  /// The same run with its error transformed.
  public func mapError<NewFailure: Error>(
    _ transform: @escaping @Sendable (Failure) -> NewFailure
  ) -> OperationTask<Value, NewFailure> {
    self.transformed { result throws(NewFailure) in try result.mapError(transform).get() }
  }

  private func transformed<NewValue: Sendable, NewFailure: Error>(
    _ transform: @escaping @Sendable (Result<Value, Failure>) throws(NewFailure) -> NewValue
  ) -> OperationTask<NewValue, NewFailure> {
    let link = TaskLink(self.sharedRun)
    let delegate = ClosureRunDelegate<NewValue, NewFailure> { _, context throws(NewFailure) in
      try transform(await link.typedNode.outcome(in: context))
    }
    return OperationTask<NewValue, NewFailure>(
      sharedRun: SharedRun(delegate: delegate, source: link),
      context: self.context
    )
  }
}
