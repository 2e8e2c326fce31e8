public import OperationCore

extension OperationScheduler {
  /// Schedules an operation as a barrier.
  ///
  /// It begins after everything that was scheduled before it has ended, and before anything that is scheduled later
  /// begins. What an earlier operation schedules in its run counts as earlier, too. A barrier that is cancelled holds
  /// nothing back. `addBarrierBlock(_:)` of Foundation's `OperationQueue` does the same.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - priority: The priority of the operation, which what it waits for receives, too.
  ///   - name: The name of the operation in messages; nil for its own name.
  ///   - context: Entries that take precedence over the scheduler's initial context.
  ///   - configure: Receives the operation before it can begin, to add dependencies and observers.
  /// - Returns: The scheduled operation.
  /// - Complexity: O(1), for any number of operations that wait.
  @discardableResult
  public func scheduleBarrier<Operation: OperationRequest & Sendable>(
    _ operation: Operation,
    priority: TaskPriority? = nil,
    named name: String? = nil,
    in context: OperationContext? = nil,
    configure: (ScheduledOperation<Operation.Value>) -> Void = { _ in }
  ) -> ScheduledOperation<Operation.Value> where Operation.Value: Sendable {
    let request = ScheduleRequest(isBarrier: true, priority: priority, name: name, context: context)
    return self.core.schedule(operation, request, configure)
  }

  /// Schedules a closure as a barrier: see ``scheduleBarrier(_:priority:named:in:configure:)``.
  ///
  /// ```swift
  /// for file in files { scheduler.schedule(Download(file)) }
  /// scheduler.addBarrier { try await index.rebuild() }
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name of the operation in messages.
  ///   - priority: The priority of the operation, which what it waits for receives, too.
  ///   - body: The work.
  /// - Returns: The scheduled operation.
  @discardableResult
  public func addBarrier<Value: Sendable>(
    named name: String = "barrier",
    priority: TaskPriority? = nil,
    _ body: @escaping @Sendable () async throws -> Value
  ) -> ScheduledOperation<Value> {
    self.scheduleBarrier(ClosureOperation(name) { _ in try await body() }, priority: priority)
  }
}

extension OperationGroup {
  /// Schedules an operation of the group as a barrier between the other ones.
  ///
  /// See ``OperationScheduler/scheduleBarrier(_:priority:named:in:configure:)``.
  @discardableResult
  public func scheduleBarrier<Operation: OperationRequest & Sendable>(
    _ operation: Operation,
    priority: TaskPriority? = nil,
    named name: String? = nil,
    in context: OperationContext? = nil,
    configure: (ScheduledOperation<Operation.Value>) -> Void = { _ in }
  ) -> ScheduledOperation<Operation.Value> where Operation.Value: Sendable {
    let request = ScheduleRequest(isBarrier: true, priority: priority, name: name, context: context)
    return self.core.schedule(operation, request, configure)
  }

  /// Schedules a closure of the group as a barrier: see ``OperationScheduler/addBarrier(named:priority:_:)``.
  @discardableResult
  public func addBarrier<Value: Sendable>(
    named name: String = "barrier",
    priority: TaskPriority? = nil,
    _ body: @escaping @Sendable () async throws -> Value
  ) -> ScheduledOperation<Value> {
    self.scheduleBarrier(ClosureOperation(name) { _ in try await body() }, priority: priority)
  }
}
