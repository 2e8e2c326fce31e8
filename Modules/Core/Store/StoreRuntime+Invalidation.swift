extension StoreRuntime {
  /// Marks the value stale, whatever the rules say, until a run that begins from now on has succeeded.
  func invalidate() {
    self.machine.withLock { $0.invalidate() }
  }

  /// Runs an invalidated operation again if somebody subscribes: now, or when the runs that began before have ended.
  func rerunAfterInvalidation(isEnqueued: Bool) {
    guard self.operation.canRunUnasked else { return }
    let (isDue, earlier) = self.machine.withLock { machine -> (Bool, RunFlight?) in
      let isDue = machine.isInvalidated && machine.subscribers.count > 0
      return (isDue, machine.runs.first { $0.invalidations < machine.invalidations && $0.isShown }?.task.flight)
    }
    guard isDue else { return }
    guard let earlier else {
      return self.runForSubscribers(departure: isEnqueued ? .enqueued : .immediate)
    }
    // What that run brings is older than the invalidation.
    _Concurrency.Task {
      await earlier.settled()
      self.rerunAfterInvalidation(isEnqueued: true)
    }
  }
}
