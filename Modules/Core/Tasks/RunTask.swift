/// The task of a run, as others reach it: to cancel it, or to raise its priority.
@usableFromInline
package struct RunTask: Sendable {
  private let handle: Task<Void, Never>

  /// What no other task has that is there at the same time.
  var identity: UInt { unsafeBitCast(self.handle, to: UInt.self) }

  init(_ handle: Task<Void, Never>) {
    self.handle = handle
  }

  /// The task that calls.
  ///
  /// It has to find itself: it begins on the thread of the one who makes it, who gets its handle only when it suspends, and
  /// others may want to cancel it by then.
  @usableFromInline package static var current: RunTask {
    // Both types are one reference to the task, and do the same with it; but only a `Task` may be kept.
    let handle = withUnsafeCurrentTask { unsafeBitCast($0, to: Task<Void, Never>?.self) }
    guard let handle else { preconditionFailure("A sharedRun is flown by a task.") }
    return RunTask(handle)
  }

  /// The raw value of the priority of the task that calls.
  @usableFromInline static var currentPriority: UInt8 {
    // Not inlined: the size of the priority is known at run time only, and async functions would allocate room for it.
    @inline(never) get { Task.currentPriority.rawValue }
  }

  /// Makes up for those who came before there was a task to cancel or to raise. Called by the task.
  @usableFromInline
  func catchUp(isCancelled: Bool, priority: UInt8) {
    if isCancelled { self.cancel() }
    if priority > 0, priority > Self.currentPriority { self.escalatePriority(to: priority) }
  }

  @usableFromInline
  func cancel() {
    self.handle.cancel()
  }

  @usableFromInline
  func escalatePriority(to priority: UInt8) {
    self.handle.escalatePriority(to: TaskPriority(rawValue: priority))
  }
}
