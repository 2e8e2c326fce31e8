public import OperationCore

/// Runs operations in the order that their dependencies, priorities and the width of the scheduler allow.
///
/// ```swift
/// let scheduler = OperationScheduler(maximumConcurrentOperations: 4)
/// let list = scheduler.schedule(FetchList())
/// let index = scheduler.schedule(WriteIndex()) { $0.addDependency(list) }
/// try await index.value
/// ```
///
/// For one operation, the order is: its dependencies, the work that its conditions generate, its conditions, its
/// categories, `didStart` of its observers, its body. An operation takes a place of the scheduler when its dependencies
/// have ended, and keeps it until it ends, except while it waits for a category or for another operation. Its task is
/// created when it is scheduled, and inherits the task-local values of the caller.
///
/// The scheduled operations run even if nothing refers to the scheduler. A scheduler that is released while it is
/// suspended cancels the operations that wait, as nothing could resume it.
public final class OperationScheduler: Sendable {
  @usableFromInline let core: SchedulerCore

  /// The initial context of the operations.
  public let initialContext: OperationContext

  /// Creates a scheduler.
  ///
  /// - Parameters:
  ///   - maximumConcurrentOperations: The number of operations that may run at a time. A number below 1 is reported,
  ///     and counts as 1.
  ///   - name: The name of the scheduler in messages.
  ///   - initialContext: The initial context of the operations.
  public convenience init(
    maximumConcurrentOperations: Int = .max,
    name: String = "An operation scheduler",
    initialContext: OperationContext = OperationContext()
  ) {
    let width = maximumConcurrentOperations.validWidth
    self.init(core: SchedulerCore(width: width, name: name, isSuspended: false, initialContext: initialContext))
  }

  init(core: SchedulerCore) {
    self.core = core
    self.initialContext = core.initialContext
    SchedulingLock.withLock { core.machine.handleCount += 1 }
  }

  deinit {
    SchedulingLock.perform { actions in
      self.core.machine.handleCount -= 1
      guard self.core.machine.isAbandoned else { return }
      for node in self.core.machine.members.all where !node.hasBegun { node.cancel(&actions) }
    }
  }
}

extension Int {
  /// The number as the width of a scheduler.
  var validWidth: Int {
    guard self < 1 else { return self }
    OperationWarning(
      code: .invalidArgument,
      message: "A scheduler for \(self) operations at a time would run nothing. It runs 1 at a time; pass 1 or more."
    ).report()
    return 1
  }
}

// MARK: - Scheduling

extension OperationScheduler {
  /// Schedules an operation.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - vital: Whether the operation holds back operations that are scheduled later until it has ended.
  ///   - priority: The priority of the operation; nil for the one in the context's task configuration. Operations of
  ///     higher priority get a place first. One without a priority counts as medium there, and runs with the
  ///     caller's.
  ///   - name: The name of the operation in messages; nil for its own name.
  ///   - context: Entries that take precedence over the scheduler's initial context.
  ///   - configure: Receives the operation before it can begin, to add dependencies and observers.
  /// - Returns: The scheduled operation.
  /// - Complexity: O(1), for any number of operations that wait.
  @discardableResult
  @inlinable
  public func schedule<Operation: OperationRequest & Sendable>(
    _ operation: Operation,
    vital: Bool = false,
    priority: TaskPriority? = nil,
    named name: String? = nil,
    in context: OperationContext? = nil,
    configure: (ScheduledOperation<Operation.Value>) -> Void = { _ in }
  ) -> ScheduledOperation<Operation.Value> where Operation.Value: Sendable {
    self.core.schedule(operation, ScheduleRequest(vital, priority, name, context), configure)
  }

  /// Schedules a closure.
  ///
  /// - Parameters:
  ///   - name: The name of the operation in messages.
  ///   - vital: Whether the operation holds back operations that are scheduled later until it has ended.
  ///   - priority: The priority of the operation. One without a priority counts as medium where it waits for a place,
  ///     and runs with the caller's.
  ///   - body: The work, which receives the context of the operation.
  /// - Returns: The scheduled operation.
  @discardableResult
  public func schedule<Value: Sendable>(
    named name: String,
    vital: Bool = false,
    priority: TaskPriority? = nil,
    _ body: @escaping @Sendable (OperationContext) async throws -> Value
  ) -> ScheduledOperation<Value> {
    self.schedule(ClosureOperation(name, body), vital: vital, priority: priority)
  }

  /// Holds back operations that are scheduled later until an operation, of any scheduler, has ended.
  ///
  /// Operations that are scheduled already are not held back.
  ///
  /// - Parameter operation: The operation to wait for.
  public func addDependency<Value>(_ operation: ScheduledOperation<Value>) {
    self.core.addDependency(operation.node)
  }

  /// Holds back operations that are scheduled later until an operation, of any scheduler, has ended.
  ///
  /// - Parameter operation: The operation to wait for.
  public func addDependency(_ operation: AnyScheduledOperation) {
    self.core.addDependency(operation.node)
  }

  /// Ends what `addDependency(_:)` has begun: the operation holds back nothing of this scheduler anymore.
  ///
  /// - Parameter operation: The operation that is not waited for anymore.
  public func removeDependency<Value>(_ operation: ScheduledOperation<Value>) {
    self.core.removeDependency(operation.node)
  }

  /// Ends what `addDependency(_:)` has begun: the operation holds back nothing of this scheduler anymore.
  ///
  /// - Parameter operation: The operation that is not waited for anymore.
  public func removeDependency(_ operation: AnyScheduledOperation) {
    self.core.removeDependency(operation.node)
  }

  /// Calls `module` for each operation that is scheduled later, before the operation can begin.
  ///
  /// A module may add observers, dependencies and conditions, and cancel the operation. Modules are called on the
  /// thread that schedules, in the order in which they were added.
  ///
  /// - Parameter module: Receives the operation and the scheduler.
  public func addEnqueuingModule(
    _ module: @escaping @Sendable (AnyScheduledOperation, OperationScheduler) -> Void
  ) {
    SchedulingLock.withLock { self.core.machine.modules.append(module) }
    _ = self.core.hasModules.set(true)
  }
}

// MARK: - Controlling

extension OperationScheduler {
  /// The name of the scheduler in messages.
  public var name: String { self.core.name }

  /// The number of operations that have not ended.
  public var operationCount: Int { SchedulingLock.withLock { self.core.machine.members.count } }

  /// The operations that have not ended, in the order in which they were scheduled, and what each of them waits for.
  ///
  /// ```swift
  /// for operation in scheduler.operations { print(operation) }
  /// // WriteIndex waits for dependencies: FetchList
  /// ```
  ///
  /// - Complexity: O(*n*) in the operations.
  public var operations: [ScheduledOperationSnapshot] { self.core.snapshots }

  /// Whether the scheduler is suspended.
  public var isSuspended: Bool { SchedulingLock.withLock { self.core.machine.isSuspended } }

  /// The number of operations that may run at a time.
  ///
  /// More operations begin at once when it is raised. When it is lowered, those that run continue, and others begin when
  /// fewer run. A number below 1 is reported, and counts as 1.
  public var maximumConcurrentOperations: Int {
    get { SchedulingLock.withLock { self.core.machine.width } }
    set { self.core.setWidth(newValue.validWidth) }
  }

  /// Lets no further operation begin. Those that have begun continue.
  ///
  /// None begins after this returns: one that had a place, but had not begun, waits for a place again.
  public func suspend() {
    SchedulingLock.withLock { self.core.machine.isSuspended = true }
  }

  /// Lets operations begin again.
  public func resume() {
    self.core.resume()
  }

  /// Cancels all operations that are scheduled now. Those that have not begun end at once.
  public func cancelAll() {
    self.core.cancelAll()
  }

  /// Waits until all operations have ended, including those that are scheduled meanwhile.
  ///
  /// It returns at once when the current task is cancelled. Called by an operation of the scheduler, which would wait
  /// for itself, it reports that as ``/OperationCore/OperationWarning/Code/taskCycle`` and returns at once.
  public func waitUntilEmpty(isolation: isolated (any Actor)? = #isolation) async {
    await self.core.waitUntilEmpty(isolation: isolation)
  }

  /// How many operations the scheduler has, and how many of them have ended.
  public var progress: OperationProgress { self.core.progress }
}
