/// One run of an operation, started by its first caller and shared by all of its callers.
///
/// Copies of a task are the same run. A task that is never run has no effect. The task is cancelled when its last
/// caller is cancelled.
public struct OperationTask<Value: Sendable, Failure: Error>: Sendable, Identifiable {
  /// The context that the run receives.
  ///
  /// Changes after the start of the task have no effect.
  public var context: OperationContext {
    get { self.erased.context }
    set { self.erased.context = newValue }
  }

  @usableFromInline package var erased: ErasedTask
  package var sharedRun: SharedRun { self.erased.sharedRun }

  /// Creates a task.
  ///
  /// - Parameters:
  ///   - context: The context of the work. Its `operationTaskConfiguration` configures the task.
  ///   - work: The work of the task, called at most once with the identifier of the task and the context. It does not
  ///     inherit the actor of the caller. The task throws its errors.
  public init(
    context: OperationContext = OperationContext(),
    work: @escaping @Sendable (OperationTaskIdentifier, OperationContext) async throws(Failure) -> Value
  ) {
    self.init(context: context) { id, context async -> RunOutcome in
      // The context may come from another run and then contains the identifier of that run's task.
      var context = context
      context.operationRunningTaskIdentifier = id
      do throws(Failure) { return RunSuccess(try await work(id, context)) } catch { return RunFailure(error) }
    }
  }

  private init(
    context: OperationContext,
    source: TaskLink? = nil,
    outcome: @escaping @Sendable (OperationTaskIdentifier, OperationContext) async -> RunOutcome
  ) {
    let sharedRun = SharedRun(delegate: ClosureRunDelegate(outcome), failure: Failure.self, source: source)
    self.init(ErasedTask(sharedRun: sharedRun, context: context))
  }

  /// Creates a task with its types, which must be those that its run was made with.
  @inlinable
  package init(_ erased: ErasedTask) {
    self.erased = erased
  }
}

extension OperationTask {
  /// The identifier of the task.
  public var id: OperationTaskIdentifier { self.sharedRun.id }

  /// The configuration of the task: its name, priority and executor.
  ///
  /// Without a name in its context, a task of a store is named by its operation while that exists: see
  /// ``StatefulOperationRequest/taskName(in:)``.
  public var configuration: OperationTaskConfiguration {
    get {
      var configuration = self.context.operationTaskConfiguration
      if configuration.name == nil { configuration.name = self.context.defaultTaskName }
      return configuration
    }
    set {
      var configuration = newValue
      // A default name that was only read is not stored.
      if self.context.operationTaskConfiguration.name == nil, newValue.name == self.context.defaultTaskName {
        configuration.name = nil
      }
      self.context.operationTaskConfiguration = configuration
    }
  }

  /// The identifier and the configuration of the task.
  public var info: OperationTaskInfo { OperationTaskInfo(id: self.id, configuration: self.configuration) }

  /// Whether the task has started.
  public var hasStarted: Bool { self.sharedRun.hasStarted }

  /// Whether the task has started and not finished.
  public var isRunning: Bool { self.sharedRun.isRunning }

  /// Whether the task has finished.
  public var isFinished: Bool { self.sharedRun.finishedOutcome != nil }

  /// Whether the task was cancelled.
  public var isCancelled: Bool { self.sharedRun.isCancelled }

  /// The outcome of the task; nil until the task has finished.
  public var finishedResult: Result<Value, Failure>? { self.sharedRun.finishedOutcome?.result() }
}

extension OperationTask: Hashable {
  /// Returns whether both tasks are the same run.
  ///
  /// A task that transforms the value or error of another task is a run of its own.
  public static func == (lhs: OperationTask, rhs: OperationTask) -> Bool { lhs.sharedRun === rhs.sharedRun }

  public func hash(into hasher: inout Hasher) { hasher.combine(self.id) }
}

extension OperationTask {
  /// Starts the task if it has not started, and waits for its outcome.
  ///
  /// A cancelled caller leaves at once with a `CancellationError` while other callers wait. The last caller cancels the
  /// task when it is cancelled, and receives the outcome of the task. If `Failure` cannot represent a
  /// `CancellationError`, a cancelled caller always waits for the outcome. The last caller of a task whose operation
  /// shares runs, as by `.deduplicated()`, leaves at once, too.
  ///
  /// - Returns: The value that the work returns.
  /// - Throws: The error that the work throws, or a `CancellationError` if `Failure` can represent it.
  @discardableResult
  public func runIfNeeded() async throws(Failure) -> Value {
    if EnclosingRun.notesWaits { EnclosingRun.note(awaited: self.sharedRun) }
    return try await self.sharedRun.startAndWait(in: self.context, leaving: self.sharedRun.leaving)
      .get(Value.self, Failure.self)
  }

  /// Cancels the task for all of its callers.
  ///
  /// A task that has not started never does its work, if `Failure` can represent a `CancellationError`. Otherwise it
  /// does its work in a cancelled task.
  public func cancel() {
    self.sharedRun.cancel()
  }
}

extension OperationTask {
  /// Makes this task wait for another task before it does its work.
  ///
  /// The other task is started if it has not started. This task runs whatever the outcome of the other is. A call after
  /// the start of this task has no effect. A call that would make tasks wait for each other in a cycle is ignored and
  /// reported as ``OperationWarning/Code/taskCycle``.
  ///
  /// - Parameter task: The task to wait for.
  /// - Complexity: O(1) if no other task was made to wait for this one. Otherwise O(*n*) in the number of tasks that
  ///   `task` waits for, directly or through others.
  public func schedule<OtherValue, OtherFailure>(after task: OperationTask<OtherValue, OtherFailure>) {
    self.sharedRun.depend(on: TaskDependency(on: task))
  }

  /// Makes this task wait for several tasks before it does its work.
  ///
  /// - Parameter tasks: The tasks to wait for: see ``schedule(after:)-(OperationTask<OtherValue,OtherFailure>)``.
  /// - Complexity: That of one call for each task.
  public func schedule<OtherValue, OtherFailure>(
    after tasks: some Sequence<OperationTask<OtherValue, OtherFailure>>
  ) {
    for task in tasks { self.schedule(after: task) }
  }
}

extension OperationTask {
  /// Returns a task that waits for this one and transforms its value.
  ///
  /// The returned task is a run of its own. It starts this task if that has not started.
  ///
  /// - Parameter transform: Returns the new value, or throws. It is called at most once, and not if this task fails.
  /// - Returns: A task with the context of this one.
  public func map<NewValue: Sendable>(
    _ transform: @escaping @Sendable (Value) throws(Failure) -> NewValue
  ) -> OperationTask<NewValue, Failure> {
    self.transformed { result throws(Failure) in try transform(try result.get()) }
  }

  /// Returns a task that waits for this one and transforms its error.
  ///
  /// The returned task is a run of its own. It starts this task if that has not started.
  ///
  /// - Parameter transform: Returns the new error. It is called at most once, and not if this task succeeds.
  /// - Returns: A task with the context of this one.
  public func mapError<NewFailure: Error>(
    _ transform: @escaping @Sendable (Failure) -> NewFailure
  ) -> OperationTask<Value, NewFailure> {
    self.transformed { result throws(NewFailure) in try result.mapError(transform).get() }
  }

  private func transformed<NewValue: Sendable, NewFailure: Error>(
    _ transform: @escaping @Sendable (Result<Value, Failure>) throws(NewFailure) -> NewValue
  ) -> OperationTask<NewValue, NewFailure> {
    let link = TaskLink(self.sharedRun)
    return OperationTask<NewValue, NewFailure>(context: self.context, source: link) { _, context async -> RunOutcome in
      let outcome = await link.node.startAndWait(in: context)
      do throws(NewFailure) {
        return RunSuccess(try transform(outcome.result()))
      } catch {
        return RunFailure(error)
      }
    }
  }
}
