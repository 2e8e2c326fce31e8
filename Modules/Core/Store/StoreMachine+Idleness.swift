extension StoreMachine {
  /// Whether the store has no subscribers, no runs, and no run that is reserved for subscribers.
  var isIdle: Bool { self.runs.isEmpty && self.subscribers.count == 0 && self.subscriberRuns.isEmpty }

  /// Determines which notifications have become due since the last call.
  ///
  /// The client is notified when the store becomes idle or stops being idle. Observers are notified when the store gets
  /// its first run or subscriber, or loses its last.
  ///
  /// - Parameters:
  ///   - isInClient: Whether the store is in a client.
  ///   - reading: The sequence number of this check; evaluated only when the client is notified.
  /// - Returns: The notifications; nil when none are due.
  mutating func reportActivity(isInClient: Bool, reading: @autoclosure () -> UInt32) -> StoreActivityChange? {
    let last = self.reportedActivity
    let now = (isIdle: self.isIdle, isRunning: !self.runs.isEmpty, hasSubscribers: self.subscribers.count > 0)
    self.reportedActivity = now
    let isForClient = isInClient && last.isIdle != now.isIdle
    let isForObservers =
      self.extras?.content.activityObservers.isEmpty == false
      && (last.isRunning != now.isRunning || last.hasSubscribers != now.hasSubscribers)
    guard isForClient || isForObservers else { return nil }
    return StoreActivityChange(
      idleness: isForClient ? StoreIdleness(isIdle: now.isIdle, reading: reading()) : nil,
      observers: isForObservers ? self.sortedActivityObservers : []
    )
  }
}
