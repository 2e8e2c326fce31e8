internal import OperationMutation

/// How often a condition may make a journal try its failed calls again by beginning to hold.
///
/// The first time counts at once. Each further one counts a second after the one before, then two seconds, four, and so
/// on up to a minute. After a minute without one it begins anew. So a connection that comes and goes many times in a
/// second does not send the calls each time.
struct JournalRises: Sendable {
  static let longestPause = Duration.seconds(60)

  private var last: Duration?
  private var pause = Duration.seconds(1)

  /// Notes that the condition begins to hold.
  ///
  /// - Parameter now: The time by the deadlines.
  /// - Returns: Nil if it counts now; otherwise the time at which it does.
  mutating func note(at now: Duration) -> Duration? {
    guard let last, now - last < Self.longestPause else {
      self.last = now
      self.pause = .seconds(1)
      return nil
    }
    let next = last + self.pause
    guard next <= now else { return next }
    self.last = now
    self.pause = min(self.pause * 2, Self.longestPause)
    return nil
  }
}

extension JournalState {
  /// Notes that the condition begins to hold. Returns whether that counts now; otherwise an alarm is set.
  mutating func noteRise(at now: Duration) -> Bool {
    guard let time = self.rises.note(at: now) else { return true }
    self.alarms.insert((), for: JournalAlarm(time: time, position: 0, kind: .rise))
    return false
  }
}
