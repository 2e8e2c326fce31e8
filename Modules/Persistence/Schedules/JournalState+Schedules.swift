internal import OperationCore
internal import OperationFoundation

/// A scheduled call whose time has come.
struct DueCall: Sendable {
  let schedule: ScheduleRecord
  /// The version of the entry of the schedule.
  let seen: StorageVersion
  /// The number of its time.
  let number: Int
  /// The call before it, which was given up, and which it replaces; nil for none.
  let givenUp: JournalEntry.ID?

  var id: String { self.schedule.key(of: self.number) }
  var time: Double { self.schedule.time(of: self.number) }
}

/// The next step for a schedule.
enum ScheduleStepKind: Sendable {
  /// Nothing, before an event or an alarm.
  case wait
  case make(DueCall)
  /// The entry is changed.
  case store(ScheduleRecord, StorageVersion)
  /// The call before it, which nothing makes, is made again.
  case again(JournalState.Position)
}

extension JournalState {
  /// How often the clock and the storage are looked at while something is scheduled.
  static var scheduleCheck: Duration { .seconds(60) }

  /// Decides the next step for a schedule.
  ///
  /// - Parameters:
  ///   - name: The schedule.
  ///   - date: The date, in seconds since the reference date.
  ///   - now: The time, by the deadlines.
  ///   - resumesByItself: Whether the journal makes unfinished calls by itself.
  /// - Returns: The step.
  mutating func nextStep(
    of name: String,
    at date: Double,
    _ now: Duration,
    resumesByItself: Bool
  ) -> ScheduleStepKind {
    guard self.loading == .loaded, !self.isStopped, let schedule = self.schedules[name], !schedule.isBusy
    else { return .wait }
    guard schedule.isActive || self.schedules.isResumed || resumesByItself else {
      return self.wait(name, for: .resumption, until: nil)
    }
    switch schedule.record.decision(at: date) {
    case .wait(let seconds):
      return self.wait(name, for: .time, until: now + min(.seconds(seconds), Self.scheduleCheck))
    case .change(let record): return .store(record, schedule.seen)
    case .make(let number):
      var givenUp: JournalEntry.ID?
      if let position = self.lastCall(of: schedule.record), let item = self.items[position] {
        guard item.record?.isGivenUp == true, !item.isGone, item.activity.isNone else {
          // Nothing makes it: its process has ended, or its journal resumes by `resume()` only.
          let isLeft = item.isPending && item.activity.isNone && !item.isGone && !item.isDue && !item.isElsewhere
          if isLeft, !resumesByItself || !item.isHeld { return .again(position) }
          return self.wait(name, for: .lastCall, until: now + Self.scheduleCheck)
        }
        givenUp = item.id
      }
      return .make(DueCall(schedule: schedule.record, seen: schedule.seen, number: number, givenUp: givenUp))
    }
  }

  /// The last call of a schedule, if this process knows its entry.
  private func lastCall(of record: ScheduleRecord) -> Position? {
    guard let id = record.lastCall, let position = self.positions[id],
      self.items[position]?.storageKey == record.lastEntry
    else { return nil }
    return position
  }

  /// Shows what a schedule waits for, and sets the time at which it is looked at again.
  @discardableResult
  mutating func wait(_ name: String, for wait: JournalSchedule.Wait, until time: Duration?) -> ScheduleStepKind {
    if let schedule = self.schedules[name], schedule.wait != wait { self.editSchedule(name) { $0.wait = wait } }
    self.setScheduleAlarm(name, at: time)
    return .wait
  }

  /// Begins to change the entry of a schedule. Returns false if it has changed, or if another task does.
  mutating func beginChange(of name: String, _ seen: StorageVersion) -> Bool {
    guard !self.isStopped, let schedule = self.schedules[name], !schedule.isBusy, schedule.seen == seen
    else { return false }
    self.setScheduleAlarm(name, at: nil)
    self.editSchedule(name) { schedule in
      schedule.isBusy = true
      schedule.wait = .storage
      schedule.unregisteredSince = nil
    }
    return true
  }

  /// Begins to store a call of a schedule, together with the schedule. Returns nil if the call was removed before.
  mutating func store(_ position: Position, with step: ScheduleStep) -> JournalWrite? {
    // A removal of all calls waits for it from now on.
    self.items[position]?.phase.arrive()
    if self.items[position]?.phase.isRefused == true { return nil }
    self.items[position]?.phase.acceptance?.step = step
    return self.store(position, beginsAtOnce: false)
  }

  /// Accepts a scheduled call that was stored, and begins it.
  ///
  /// - Returns: Whether it is to be made, and was not removed while it was stored.
  mutating func acceptScheduled(_ position: Position, at date: Date, _ now: Duration) -> Bool {
    _ = self.accept(position)
    if self.items[position]?.phase.isRefused == true { return false }
    self.edit(position) { $0.activity = .none }
    self.setExpiry(of: position, at: date, now)
    // A call that has expired already is set aside by its alarm.
    let isExpired = self.items[position]?.record?.expiresAt.map { $0 <= date.timeIntervalSinceReferenceDate } ?? false
    if isExpired {
      self.advance(self.items[position]?.scope)
    } else {
      self.begin(scheduled: position)
    }
    return true
  }

  /// Makes a call of a schedule.
  mutating func begin(scheduled position: Position) {
    self.lastResumption += 1
    self.makeDue(position, in: self.lastResumption)
    self.dueWithoutScope.sort(by: >)
    self.advanceAll([position])
  }

  // MARK: - What is stored

  /// The schedules with the numbers of their changes; the number is nil if a change is being stored.
  func schedulesBeforeReading() -> [String: Int?] {
    self.schedules.all.mapValues { $0.isBusy ? nil : $0.version }
  }

  /// Takes over the schedules that were read.
  ///
  /// - Parameters:
  ///   - read: The entries.
  ///   - known: The schedules before they were read; nil at the first time.
  ///   - removed: The keys of the entries that were removed since.
  mutating func reconcile(
    schedules read: [(key: String, version: StorageVersion, record: ScheduleRecord)],
    known: [String: Int?],
    removed: Set<String>
  ) {
    var gone = Set(known.keys)
    for (key, version, record) in read {
      gone.remove(record.name)
      guard let schedule = self.schedules[record.name] else {
        if !removed.contains(key) { self.setSchedule(record, version) }
        continue
      }
      // If it was changed since, this process knows it better.
      if known[record.name] == schedule.version, schedule.seen != version { self.setSchedule(record, version) }
    }
    for name in gone where known[name] == self.schedules[name]?.version { self.removeSchedule(name) }
  }
}

extension JournalRecord {
  /// Whether the next call of its schedule takes its position. A conflict is for the user to decide.
  fileprivate var isGivenUp: Bool { self.isDeadLetter && self.status != .conflicted }
}
