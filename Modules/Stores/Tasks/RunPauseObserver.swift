internal import Synchronization

/// Is notified of the pauses of all runs, in the tasks of the runs, and may delay a run that resumes.
///
/// It is for modules with runs that hold something which others can use during a pause, such as a place in a scheduler:
/// see ``OperationContext/pause(until:timeout:)``. A module observes pauses from its first such run on.
package protocol RunPauseObserver: Sendable {
  /// Called before the run of the current task waits, with no lock held.
  ///
  /// - Parameter name: The description of the condition that the run waits for.
  func runWillPause(until name: String)

  /// Called when the wait of the current task's run has ended in any way. The run continues when this returns.
  nonisolated(nonsending) func runDidPause() async
}

/// The observers of the pauses of all runs.
package enum RunPauses {
  private static let observers = Mutex<[any RunPauseObserver]>([])

  static var current: [any RunPauseObserver] { self.observers.withLock { $0 } }

  /// Adds an observer for the rest of the process.
  ///
  /// - Parameter observer: The observer. It is notified of a wait before observers that were added earlier, and of the
  ///   end of the wait after them.
  package static func observe(with observer: any RunPauseObserver) {
    self.observers.withLock { $0.append(observer) }
  }
}
