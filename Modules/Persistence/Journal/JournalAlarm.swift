internal import OperationCore
internal import OperationMutation

/// A time at which a journal does something by itself, by the deadlines of its client.
struct JournalAlarm: Comparable, Sendable {
  enum Kind: Int, Sendable {
    /// A call expires.
    case expiry
    /// A call that has failed is made again.
    case retry
    /// Calls whose names are not registered are reported.
    case report
    /// A condition that has changed often is looked at.
    case rise
    /// A schedule is looked at.
    case schedule
  }

  let time: Duration
  let position: JournalState.Position
  let kind: Kind

  static func < (lhs: Self, rhs: Self) -> Bool {
    (lhs.time, lhs.position, lhs.kind.rawValue) < (rhs.time, rhs.position, rhs.kind.rawValue)
  }
}

/// The change of a journal's timer after its state was changed.
enum JournalTimerChange: Sendable {
  case set(number: UInt64, time: Duration)
  case cancel(OperationSubscription?)
}

extension JournalState {
  /// Sets the time at which a call is made again; nil for none.
  mutating func setRetry(of position: Position, at time: Duration?) {
    guard let old = self.items[position]?.retryTime, old != time else { return self.addRetry(of: position, at: time) }
    self.alarms.removeValue(for: JournalAlarm(time: old, position: position, kind: .retry))
    self.items[position]?.retryTime = nil
    self.addRetry(of: position, at: time)
  }

  private mutating func addRetry(of position: Position, at time: Duration?) {
    guard let time, self.items[position] != nil else { return }
    self.items[position]?.retryTime = time
    self.alarms.insert((), for: JournalAlarm(time: time, position: position, kind: .retry))
  }

  /// Sets the time at which a call expires; nil for none.
  mutating func setExpiry(of position: Position, at time: Duration?) {
    guard let item = self.items[position], item.expiryTime != time else { return }
    if let old = item.expiryTime {
      self.alarms.removeValue(for: JournalAlarm(time: old, position: position, kind: .expiry))
    }
    self.items[position]?.expiryTime = time
    if let time { self.alarms.insert((), for: JournalAlarm(time: time, position: position, kind: .expiry)) }
  }

  /// The change of the timer after a change of the alarms; nil if the earliest alarm is the same.
  mutating func takeTimerChange() -> JournalTimerChange? {
    if self.timerTime == nil, self.alarms.count == 0 { return nil }
    let next = self.alarms.first?.key.time
    guard next != self.timerTime else { return nil }
    self.timerTime = next
    return next.map { .set(number: self.timer.reserve(), time: $0) } ?? .cancel(self.timer.clear())
  }

  /// Takes the alarms whose time has come.
  fileprivate mutating func takeAlarms(
    at now: Duration,
    _ number: UInt64
  ) -> (due: [JournalAlarm], timer: OperationSubscription?) {
    guard self.timer.isCurrent(number) else { return ([], nil) }
    self.timerTime = nil
    var due: [JournalAlarm] = []
    while let alarm = self.alarms.first?.key, alarm.time <= now {
      self.alarms.removeFirst()
      switch alarm.kind {
      case .expiry: self.items[alarm.position]?.expiryTime = nil
      case .retry: self.items[alarm.position]?.retryTime = nil
      case .schedule: self.forgetScheduleAlarm(at: alarm.position)
      case .report, .rise: break
      }
      due.append(alarm)
    }
    return (due, self.timer.clear())
  }
}

extension MutationJournal {
  /// Sets or cancels the timer. If two threads change it at once, the later change applies.
  func apply(_ change: JournalTimerChange) {
    switch change {
    case .cancel(let timer): timer?.cancel()
    case .set(let number, let time):
      let deadlines = self.deadlines
      let timer = deadlines.schedule(after: time - deadlines.elapsed) { [weak self] in self?.timerHasFired(number) }
      self.state.withLock { $0.timer.keep(timer, number: number) }?.cancel()
    }
  }

  private func timerHasFired(_ number: UInt64) {
    let now = self.deadlines.elapsed
    let (due, timer) = self.change { $0.takeAlarms(at: now, number) }
    timer?.cancel()
    for alarm in due {
      switch alarm.kind {
      case .expiry:
        Task.immediate(name: "expire call", executorPreference: self.executor) { await self.expire(alarm.position) }
      case .retry where self.resumesByItself: self.resumeByItself(.call(alarm.position))
      case .retry: self.lookAgain(at: alarm.position)
      case .report: self.resumeByItself(.unregistered)
      case .rise: self.conditionHasRisen()
      case .schedule: self.scheduleAlarmHasFired(at: alarm.position)
      }
    }
  }
}
