internal import Synchronization

extension StoreRuntime {
  /// Marks the value as stale, regardless of the staleness rules, until a run that starts from now on has succeeded.
  ///
  /// - Parameter record: The origin of the invalidation, for readers of events and explanations.
  /// - Returns: The number of the invalidation.
  @discardableResult
  func invalidate(_ record: InvalidationRecord) -> Int {
    let number = InvalidationNumber.next()
    // With concurrent invalidations the greatest number wins.
    _ = self.lastInvalidation.max(number, ordering: .acquiringAndReleasing)
    let observers = self.withMachine { machine, released -> [any StoreValueObserver] in
      released.append(machine.invalidate(number, record))
      if self.isWatched(.writes) {
        self.queue(.invalidated, by: OperationRunCause(.invalidation(record)), &machine)
      }
      return self.showsValues ? self.show(.invalidation, &machine, &released) : []
    }
    self.settle(observers)
    if self.isWatched(.writes) { self.deliver() }
    for level in self.context.storeLevels { level.storeWasInvalidated() }
    return number
  }

  /// Notes that the value that has arrived was made before an invalidation of it.
  func noteMissedInvalidation() {
    let number = InvalidationNumber.next()
    self.withMachine { $0.uniqueExtras().content.missedInvalidation = number }
  }

  /// Whether a value that was made before an invalidation has arrived since this number was the latest.
  ///
  /// A caller that has joined the run of such a value may have called after the invalidation.
  func hasMissedInvalidation(since number: Int) -> Bool {
    // Usually nothing was invalidated since. Many callers that resume at once would wait for the lock.
    if InvalidationNumber.latest <= number { return false }
    return self.withMachine { ($0.extras?.content.missedInvalidation ?? 0) > number }
  }

  /// Runs an invalidated operation again for the subscribers: now, or when the runs that started earlier have finished.
  func rerunAfterInvalidation(isEnqueued: Bool) {
    guard self.canYieldRerun, self.withMachine({ $0.isInvalidated }) else { return }
    self.runForSubscribers(mode: isEnqueued ? .enqueued : .immediate, origin: self.originOfRerun)
  }

  /// Starts the pending rerun if no run from before the invalidation is left.
  func rerunIfDue() {
    let isDue = self.withMachine { machine in
      guard machine.needsRerun, machine.runsBeforeInvalidation.isEmpty else { return false }
      machine.needsRerun = false
      return machine.isInvalidated
    }
    if isDue, self.canYieldRerun { self.runForSubscribers(mode: .enqueued, origin: self.originOfRerun) }
  }

  /// The last invalidation, as the origin of a run.
  private var originOfRerun: RunOrigin {
    let record = self.withMachine { $0.extras?.content.invalidation }
    return RunOrigin(record.map { OperationRunCause(.invalidation($0)) } ?? OperationRunCause(.invalidation))
  }

  /// Waits until the runs that an invalidation caused have finished, or the current task is cancelled.
  func settled(afterInvalidation number: Int) async {
    while let sharedRun = self.withMachine({ $0.runToAwait(afterInvalidation: number) }),
      !Task.isCancelled
    {
      await sharedRun.settled()
    }
  }
}

extension StoreRuntime {
  /// Waits until no run is under way, or about to start, that refreshes the value, or the current task is cancelled.
  func refreshed() async {
    while let sharedRun = self.withMachine({ $0.runToJoin ?? $0.finishingRuns.first }), !Task.isCancelled {
      await sharedRun.settled()
    }
  }
}

extension StoreMachine {
  /// The next run to wait for until the reruns of an invalidation have finished; nil when they have finished.
  fileprivate func runToAwait(afterInvalidation number: Int) -> SharedRun? {
    if self.needsRerun, let run = self.runsBeforeInvalidation.first { return run.task.sharedRun }
    if self.answeredInvalidations >= number { return self.finishingRuns.first }
    return self.subscriberRuns.first ?? self.finishingRuns.first
  }
}
