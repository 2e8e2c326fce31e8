internal import OperationCore

extension OperationGroup {
  /// Whether the group is suspended.
  public var isSuspended: Bool { SchedulingLock.withLock { self.core.machine.isSuspended } }

  /// Whether the group was cancelled.
  public var isCancelled: Bool { SchedulingLock.withLock { self.core.machine.isCancelled } }

  /// Lets no further operation of the group begin. Those that have begun continue, and so does the body of the group.
  ///
  /// The group itself may begin, and ends when it was resumed and its operations have ended.
  public func suspend() {
    SchedulingLock.withLock { self.core.machine.isSuspended = true }
  }

  /// Lets operations of the group begin again.
  public func resume() {
    self.core.resume()
  }

  /// Cancels the group and its operations, also those that are added later. Those that have not begun end at once.
  ///
  /// The group throws a `CancellationError`. A body of the group that runs is cancelled if a scheduler runs the group.
  public func cancel() {
    self.core.cancelGroup()
    let node = SchedulingLock.withLock { self.core.machine.groupNode }
    node?.cancel()
  }

  /// The number of operations of the group that may run at a time: see
  /// ``OperationScheduler/maximumConcurrentOperations``.
  public var maximumConcurrentOperations: Int {
    get { SchedulingLock.withLock { self.core.machine.width } }
    set { self.core.setWidth(newValue.validWidth) }
  }

  /// The operations of the group that have not ended: see ``OperationScheduler/operations``.
  public var operations: [ScheduledOperationSnapshot] { self.core.snapshots }
}
