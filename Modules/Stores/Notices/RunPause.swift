/// What a run waits for, and since when.
package struct RunPause: Sendable {
  /// The number of the wait.
  let id: UInt64
  /// The description of the specification, or its type.
  let reason: String
  /// The elapsed time of the run's deadlines when it was paused.
  let start: Duration

  package init(reason: String, start: Duration) {
    self.id = OperationWait.nextNumber()
    self.reason = reason
    self.start = start
  }
}
