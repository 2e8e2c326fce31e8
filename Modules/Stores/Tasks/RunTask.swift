/// A handle of the task of a run, which cancels it or raises its priority.
@usableFromInline
package struct RunTask: Sendable {
  private let handle: Task<Void, Never>

  /// Identifies the task among all tasks that exist at the same time.
  // The handle is one reference to the task, which `RunTaskTests` checks.
  package var identity: UInt { unsafeBitCast(self.handle, to: UInt.self) }

  init(_ handle: Task<Void, Never>) {
    self.handle = handle
  }

  /// The current task.
  ///
  /// The task of a run calls this itself. It starts on the thread of its creator, which receives the handle only when
  /// the task suspends, and other threads may cancel the run before that.
  package static var current: RunTask {
    // Both types are one reference to the task with the same behavior, but only a `Task` may be stored. The standard
    // library converts neither into the other. With the handle that `Task.immediate` returns to the creator, a
    // cancellation from another thread would reach the task only after its first suspension, and work that does not
    // suspend would never see it. `RunTaskTests` fails with a standard library in which this no longer holds.
    let handle = withUnsafeCurrentTask { unsafeBitCast($0, to: Task<Void, Never>?.self) }
    guard let handle else { preconditionFailure("A shared run was executed outside of a task.") }
    return RunTask(handle)
  }

  /// The identity of the current task; nil outside of tasks.
  static var currentIdentity: UInt? { withUnsafeCurrentTask { $0 == nil ? nil : RunTask.current.identity } }

  /// The raw value of the priority of the current task.
  static var currentPriority: UInt8 {
    // Not inlined: the size of a priority is known only at run time, and async functions would allocate memory for it.
    @inline(never) get { Task.currentPriority.rawValue }
  }

  /// Applies a cancellation and a priority that the run received before it had a task. Called in that task.
  func catchUp(isCancelled: Bool, priority: UInt8) {
    if isCancelled { self.cancel() }
    if priority > 0, priority > Self.currentPriority { self.escalatePriority(to: priority) }
  }

  package func cancel() {
    self.handle.cancel()
  }

  func escalatePriority(to priority: UInt8) {
    self.handle.escalatePriority(to: TaskPriority(rawValue: priority))
  }

  /// Raises the priority of the task.
  package func escalatePriority(to priority: TaskPriority) {
    self.handle.escalatePriority(to: priority)
  }
}

extension RunTask {
  /// Starts a task that does a part of the work of the run with this context, on the thread of the caller.
  ///
  /// Like the task of a run, it is enqueued when runs are nested too deep on this thread, or when the context has an
  /// executor preference.
  ///
  /// - Parameters:
  ///   - context: The context of the run.
  ///   - make: Makes the task with `Task.immediate`. As the caller makes the task, the work need not be wrapped in
  ///     further closures, each of which would be an allocation.
  ///   - enqueue: Makes the task with `Task.init`, for the executor if there is one.
  /// - Returns: A handle of the task, which may have ended already.
  @usableFromInline
  package static func start(
    in context: OperationContext,
    _ make: () -> Task<Void, Never>,
    enqueuing enqueue: ((any TaskExecutor)?) -> Task<Void, Never>
  ) -> RunTask {
    let depth = ThreadLocal.depth
    if context.hasTaskConfiguration, let executor = context.operationTaskConfiguration.executorPreference {
      return RunTask(enqueue(executor))
    }
    guard depth.pointee < ThreadLocal.maximumDepth else { return RunTask(enqueue(nil)) }
    depth.pointee += 1
    defer { depth.pointee -= 1 }
    return RunTask(make())
  }
}
