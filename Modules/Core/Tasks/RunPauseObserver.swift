/// Is notified of the pauses of a run, and may delay the run.
package protocol RunPauseObserver: AnyObject, Sendable {
  /// Called before the run waits for a specification that does not hold.
  nonisolated(nonsending) func runWillPause() async

  /// Called when the specification holds, before the run resumes. Not called when the run is cancelled or times out.
  nonisolated(nonsending) func runWillResume() async
}

extension OperationContext {
  /// The observer of the pauses of the run; nil by default.
  package var pauseObserver: (any RunPauseObserver)? {
    get { self[PauseObserverKey.self] }
    set { self[PauseObserverKey.self] = newValue }
  }

  private enum PauseObserverKey: Key {
    static let defaultValue: (any RunPauseObserver)? = nil
  }
}
