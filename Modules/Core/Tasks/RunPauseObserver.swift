internal import Synchronization

/// Is notified of the pauses of all runs, in the tasks of the runs, and may delay a run that resumes.
///
/// For modules whose runs hold something that others can use during a pause, such as a place in a scheduler: see
/// ``OperationContext/pause(until:timeout:)``. A module observes pauses from its first such run on.
public protocol RunPauseObserver: Sendable {
  /// Called before the run of the current task waits, with no lock held.
  ///
  /// - Parameter name: The name of what it waits for.
  func runWillPause(until name: String)

  /// Called when the wait of the current task's run has ended, however it has ended. The run goes on when it returns.
  nonisolated(nonsending) func runDidPause() async
}

/// The observers of the pauses of all runs.
public enum RunPauses {
  private static let observers = Mutex<[any RunPauseObserver]>([])

  static var current: [any RunPauseObserver] { self.observers.withLock { $0 } }

  /// Adds an observer for the rest of the process.
  ///
  /// - Parameter observer: The observer. It is notified of waits before those that were added earlier, and of their ends
  ///   after them.
  public static func observe(with observer: any RunPauseObserver) {
    self.observers.withLock { $0.append(observer) }
  }
}
