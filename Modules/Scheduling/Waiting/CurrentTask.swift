internal import OperationCore

/// The task that runs, as far as it decides which run waits for it.
enum CurrentTask {
  /// Identifies the task among all tasks that exist at the same time.
  static var identity: UInt { RunTask.current.identity }

  /// Whether the task is a child task, of `async let` or of a task group, which its parent waits for.
  static var isChild: Bool {
    guard let task = UnsafeRawPointer(bitPattern: self.identity) else { return false }
    return jobFlags(task) & Self.childFlag != 0
  }

  // The flag `isChildTask` of `Task.JobFlags` in the standard library.
  private static let childFlag: UInt = 1 << 24
}

// The standard library has the flags of a task, but does not make them public.
@_silgen_name("swift_task_getJobFlags")
private func jobFlags(_ task: UnsafeRawPointer) -> UInt
