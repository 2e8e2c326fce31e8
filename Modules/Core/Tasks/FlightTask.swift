/// The task of a flight, as others reach it: to cancel it, or to raise its priority.
enum FlightTask: @unchecked Sendable {
  // Unchecked because of `UnsafeCurrentTask`, of which only that is used which a `Task` offers to other threads as well.
  /// What whoever made the task was given.
  case handle(Task<Void, Never>)
  /// What the task itself has found: it may have to be reached before the one who makes it gets the handle, since it begins
  /// on that one's thread, where it stays until it suspends. It is held by this reference.
  case current(UnsafeCurrentTask)

  func cancel() {
    switch self {
    case .handle(let task): task.cancel()
    case .current(let task): task.cancel()
    }
  }

  func escalatePriority(to priority: TaskPriority) {
    switch self {
    case .handle(let task): task.escalatePriority(to: priority)
    case .current(let task): task.escalatePriority(to: priority)
    }
  }
}
