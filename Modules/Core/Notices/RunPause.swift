/// What a run waits for, and since when.
package struct RunPause: Sendable {
  /// The description of the specification, or its type.
  let reason: String
  /// The elapsed time of the run's deadlines when it was paused.
  let start: Duration

  package init(reason: String, start: Duration) {
    self.reason = reason
    self.start = start
  }
}
