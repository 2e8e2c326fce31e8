internal import Synchronization

/// Is notified of the pauses of all runs, in the tasks of the runs, and may delay a run that resumes.
package protocol RunPauseObserver: Sendable {
  /// Called before the run of the current task waits.
  ///
  /// - Parameter name: The name of what it waits for.
  func runWillPause(until name: String)

  /// Called when the wait of the current task's run has ended, however it has ended.
  nonisolated(nonsending) func runDidPause() async
}

/// The observer of the pauses of all runs, of which there is at most one.
package enum RunPauses {
  private static let observer = Mutex<(any RunPauseObserver)?>(nil)

  static var current: (any RunPauseObserver)? { self.observer.withLock { $0 } }

  package static func observe(with observer: any RunPauseObserver) {
    self.observer.withLock { $0 = observer }
  }
}
