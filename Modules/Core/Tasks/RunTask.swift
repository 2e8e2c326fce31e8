/// A handle of the task of a run, which cancels it or raises its priority.
@usableFromInline
package struct RunTask: Sendable {
  private let handle: Task<Void, Never>

  /// Identifies the task among all tasks that exist at the same time.
  package var identity: UInt { unsafeBitCast(self.handle, to: UInt.self) }

  @usableFromInline
  init(_ handle: Task<Void, Never>) {
    self.handle = handle
  }

  /// The current task.
  ///
  /// A run's task calls this itself: it starts on the thread of its creator, which receives the handle only when the
  /// task suspends. Other threads may cancel the run before that.
  @usableFromInline package static var current: RunTask {
    // Both types are one reference to the task with the same behavior, but only a `Task` may be stored.
    let handle = withUnsafeCurrentTask { unsafeBitCast($0, to: Task<Void, Never>?.self) }
    guard let handle else { preconditionFailure("A shared run was executed outside of a task.") }
    return RunTask(handle)
  }

  /// The raw value of the priority of the current task.
  @usableFromInline static var currentPriority: UInt8 {
    // Not inlined: the size of a priority is known only at run time, and async functions would allocate memory for it.
    @inline(never) get { Task.currentPriority.rawValue }
  }

  /// Applies a cancellation and a priority that the run received before it had a task. Called in that task.
  @usableFromInline
  func catchUp(isCancelled: Bool, priority: UInt8) {
    if isCancelled { self.cancel() }
    if priority > 0, priority > Self.currentPriority { self.escalatePriority(to: priority) }
  }

  @usableFromInline
  package func cancel() {
    self.handle.cancel()
  }

  @usableFromInline
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
  /// executor preference. It inherits the priority and the task-local values, and not the cancellation.
  @inlinable
  package static func start(in context: OperationContext, _ work: @escaping @Sendable () async -> Void) -> RunTask {
    let depth = ThreadLocal.depth
    guard depth.pointee < ThreadLocal.maximumDepth, !context.hasTaskConfiguration else {
      return self.enqueue(context.operationTaskConfiguration.executorPreference, work)
    }
    depth.pointee += 1
    defer { depth.pointee -= 1 }
    return RunTask(Task.immediate { await work() })
  }

  @usableFromInline
  static func enqueue(
    _ executor: (any TaskExecutor)?,
    _ work: @escaping @Sendable () async -> Void
  ) -> RunTask {
    let depth = ThreadLocal.depth
    guard executor == nil, depth.pointee < ThreadLocal.maximumDepth else {
      return RunTask(Task(executorPreference: executor) { await work() })
    }
    depth.pointee += 1
    defer { depth.pointee -= 1 }
    return RunTask(Task.immediate { await work() })
  }
}
