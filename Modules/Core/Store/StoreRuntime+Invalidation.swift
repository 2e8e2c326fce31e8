internal import Synchronization

extension StoreRuntime {
  /// Marks the value stale, whatever the rules say, until a run that begins from now on has succeeded.
  ///
  /// - Returns: The number of the invalidation.
  func invalidate() -> Int {
    let number = InvalidationNumber.next()
    // Of two that are noted at once the later one stays.
    _ = self.lastInvalidation.max(number, ordering: .acquiringAndReleasing)
    self.machine.withLock { $0.invalidate(number) }
    return number
  }

  /// Runs an invalidated operation again for its subscribers: now, or when the runs that began before have ended.
  func rerunAfterInvalidation(isEnqueued: Bool) {
    guard self.canYieldRerun, self.machine.withLock({ $0.isInvalidated }) else { return }
    self.runForSubscribers(mode: isEnqueued ? .enqueued : .immediate)
  }

  /// A run has ended, or was cancelled, while a rerun was owed.
  @usableFromInline
  func rerunIfDue() {
    let isDue = self.machine.withLock { machine in
      guard machine.owesRerun, machine.runsBeforeInvalidation.isEmpty else { return false }
      machine.owesRerun = false
      return machine.isInvalidated
    }
    if isDue, self.canYieldRerun { self.runForSubscribers(mode: .enqueued) }
  }

  /// Waits until the runs have ended that an invalidation has caused, or the current task is cancelled.
  func settled(afterInvalidation number: Int) async {
    while let sharedRun = self.machine.withLock({ $0.runBeforeRest(afterInvalidation: number) }),
      !_Concurrency.Task.isCancelled
    {
      await sharedRun.settled()
    }
  }
}

extension StoreMachine {
  /// A run that is to end before the reruns that an invalidation has caused have ended; nil when they have.
  fileprivate func runBeforeRest(afterInvalidation number: Int) -> StoreRun? {
    if self.owesRerun, let run = self.runsBeforeInvalidation.first { return run.task.sharedRun }
    if self.answeredInvalidations >= number { return self.finishingRuns.first }
    return self.subscriberRuns.first ?? self.finishingRuns.first
  }
}
