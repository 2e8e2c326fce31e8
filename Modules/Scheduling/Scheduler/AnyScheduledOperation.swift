public import OperationCore

/// An operation of a scheduler, without the type of its value.
public struct AnyScheduledOperation: Sendable, Hashable {
  let node: ScheduledNode

  public static func == (lhs: Self, rhs: Self) -> Bool { lhs.node === rhs.node }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self.node))
  }

  /// The scheduled operation whose run the current task belongs to; nil in other tasks.
  public static var current: AnyScheduledOperation? {
    var scope = RunScope.current
    while let current = scope {
      if let node = current.node { return AnyScheduledOperation(node: node) }
      scope = current.parent
    }
    return nil
  }

  /// The name that the operation was scheduled with, or else its own name.
  ///
  /// Its own name is ``/OperationCore/OperationRequest/operationName``.
  public var name: String { self.node.name }

  /// The type of the operation without its modifiers.
  ///
  /// Enqueuing modules use it to select operations: `operation.operationType is any NetworkOperation.Type`.
  public var operationType: any OperationRequest.Type { self.node.operationType.unmodifiedType }

  /// Whether the operation is vital for its scheduler.
  public var isVital: Bool { self.node.isVital }

  /// Whether the operation is a barrier: see ``OperationScheduler/scheduleBarrier(_:priority:named:in:configure:)``.
  public var isBarrier: Bool { self.node.isBarrier }

  /// Whether the operation was cancelled. Its body may still run.
  public var isCancelled: Bool { SchedulingLock.withLock { self.node.state.isCancelled } }

  /// Whether the operation has ended.
  public var isFinished: Bool { SchedulingLock.withLock { self.node.isEnded } }

  /// How the operation has ended; nil before. Set when its observers are notified, which is before ``isFinished``.
  public var outcome: OperationOutcome? { SchedulingLock.withLock { self.node.state.outcome } }

  /// The operations that this one was made to wait for, and how they have ended. Empty before it begins.
  ///
  /// Conditions read it: `AnyScheduledOperation.current?.dependencies`.
  public var dependencies: [FinishedDependency] { SchedulingLock.withLock { self.node.state.dependencies } }

  /// Cancels the operation. One that has not begun ends at once, without running; its dependencies are ignored.
  public func cancel() {
    self.node.cancel()
  }

  /// Waits until the operation has ended, in whatever way.
  ///
  /// - Throws: `CancellationError` at once when the current task is cancelled; ``/OperationCore/OperationCycleError``
  ///   when the operation waits for the operation that calls this.
  public func finished(isolation: isolated (any Actor)? = #isolation) async throws {
    try await self.node.ended(isolation: isolation)
    if !self.isFinished { throw CancellationError() }
  }

  /// Makes the operation begin after another one, of any scheduler, has ended, however that one ends.
  ///
  /// A cycle is reported as ``/OperationCore/OperationWarning/Code/taskCycle``, and the operation fails with
  /// ``/OperationCore/OperationCycleError``. A dependency of an operation that has begun is reported and ignored.
  ///
  /// - Parameter other: The operation to wait for.
  public func addDependency(_ other: AnyScheduledOperation) {
    self.node.addDependency(other.node)
  }

  /// Makes the operation begin after another one, of any scheduler, has ended, however that one ends.
  ///
  /// - Parameter other: The operation to wait for.
  public func addDependency<Value>(_ other: ScheduledOperation<Value>) {
    self.node.addDependency(other.node)
  }

  /// Lets the operation begin without waiting for another one that it was made to wait for.
  ///
  /// It has no effect once the operation has begun.
  ///
  /// - Parameter other: The operation that is not waited for anymore.
  /// - Complexity: O(*n*) in the operations that depend on the other one.
  public func removeDependency(_ other: AnyScheduledOperation) {
    self.node.removeDependency(other.node)
  }

  /// Lets the operation begin without waiting for another one that it was made to wait for.
  ///
  /// - Parameter other: The operation that is not waited for anymore.
  public func removeDependency<Value>(_ other: ScheduledOperation<Value>) {
    self.node.removeDependency(other.node)
  }

  /// The priority of the operation, or the higher one of an operation that waits for it.
  ///
  /// It can be changed until the operation ends. It decides which operation gets a place first, and what this operation
  /// waits for receives it, too. The task of an operation that runs is escalated; its priority cannot be lowered.
  public var priority: TaskPriority {
    get { TaskPriority(rawValue: SchedulingLock.withLock { self.node.state.priority }) }
    nonmutating set { self.node.setPriority(newValue.rawValue) }
  }

  /// Adds a condition, which is prepared and evaluated together with the operation's conditions, before them.
  ///
  /// It has no effect once the operation has begun: call it in an enqueuing module.
  ///
  /// - Parameter condition: The condition.
  public func addCondition(_ condition: some OperationCondition) {
    SchedulingLock.withLock {
      if !self.node.hasBegun { self.node.state.conditions.append(condition) }
    }
  }

  /// Adds an observer.
  ///
  /// - Parameter observer: The observer, which the operation keeps until it has ended.
  public func addObserver(_ observer: some OperationObserver) {
    self.node.addObserver(observer)
  }

  /// Adds an observer that calls closures: see ``ScheduledOperation/observe(_:)``.
  ///
  /// - Parameter build: Adds the closures.
  public func observe(_ build: (inout OperationObservation<any Sendable>) -> Void) {
    var observation = OperationObservation<any Sendable>()
    build(&observation)
    let node = self.node
    self.node.addObserver(
      ClosureObserver(observation) { outcome in
        if let error = outcome.error { return .failure(error) }
        let value = SchedulingLock.withLock { node.value }
        return .success(value ?? ())
      }
    )
  }

  /// Schedules an operation in the same scheduler as a product of this one, and notifies the observers of this one.
  ///
  /// The product is not held back by vital operations that came after this one. This operation does not wait for it,
  /// but a group that this one is part of does. If this operation has ended, that is reported as
  /// ``OperationCore/OperationWarning/Code/addedAfterEnd``, and the product fails.
  ///
  /// - Parameters:
  ///   - operation: The product.
  ///   - vital: Whether the product holds back operations that are scheduled later until it has ended.
  ///   - priority: The priority of the product; nil for the one in the context's task configuration. One without a
  ///     priority counts as medium where it waits for a place, and runs with the caller's.
  ///   - name: The name of the product in messages; nil for its own name.
  /// - Returns: The scheduled product.
  @discardableResult
  public func produce<Operation: OperationRequest & Sendable>(
    _ operation: Operation,
    vital: Bool = false,
    priority: TaskPriority? = nil,
    named name: String? = nil
  ) -> ScheduledOperation<Operation.Value> where Operation.Value: Sendable {
    let request = ScheduleRequest(isVital: vital, priority: priority, name: name, producer: self.node)
    return self.node.core.schedule(operation, request) { _ in }
  }
}
