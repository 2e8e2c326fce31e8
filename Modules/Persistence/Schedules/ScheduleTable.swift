internal import OperationCore
internal import OperationMutation

/// The scheduled work of a journal, as this process knows it.
struct ScheduleTable: Sendable {
  struct Schedule: Sendable {
    var record: ScheduleRecord
    /// The version of its entry that this process has read or written last.
    var seen: StorageVersion
    /// Its position among the entries, behind all calls.
    let position: JournalState.Position
    /// Whether this process makes its calls, also if the journal resumes by `resume()` only.
    var isActive = false
    /// Whether a task of this process changes its entry.
    var isBusy = false
    /// The number of its changes in this process, so that what was read before a change is not taken for newer.
    var version = 0
    var wait = JournalSchedule.Wait.time
    /// When it is looked at again, by the deadlines.
    var alarmTime: Duration?
    /// Since when its time has come while no mutation was registered, by the deadlines.
    var unregisteredSince: Duration?
    var isReported = false
    /// How many times in a row the storage has failed.
    var failures = 0
  }

  private(set) var all: [String: Schedule] = [:]
  private(set) var names: [JournalState.Position: String] = [:]
  /// Whether this process makes the calls of all schedules, because `resume()` was called.
  var isResumed = false
  /// How many times entries were removed by mutation or altogether.
  var removals = 0
  private var lastPosition: JournalState.Position = .max / 2

  subscript(name: String) -> Schedule? { self.all[name] }

  @discardableResult
  mutating func edit<R>(_ name: String, _ change: (inout Schedule) -> R) -> R? {
    guard var schedule = self.all[name] else { return nil }
    let result = change(&schedule)
    self.all[name] = schedule
    return result
  }

  mutating func add(_ record: ScheduleRecord, _ seen: StorageVersion) {
    self.lastPosition += 1
    self.all[record.name] = Schedule(record: record, seen: seen, position: self.lastPosition)
    self.names[self.lastPosition] = record.name
  }

  mutating func remove(_ name: String) -> Schedule? {
    guard let schedule = self.all.removeValue(forKey: name) else { return nil }
    self.names[schedule.position] = nil
    return schedule
  }
}

/// What is changed in the same step in which a scheduled call is stored.
struct ScheduleStep: Sendable {
  let change: StorageChange
  let conditions: [StorageCondition]
}

/// The schedule of a call, and the time that it is made for.
struct ScheduledTime: Sendable {
  let name: String
  /// In seconds since the reference date.
  let date: Double
}

// MARK: - Changes

extension JournalState {
  /// Takes over what is stored of a schedule.
  mutating func setSchedule(_ record: ScheduleRecord, _ seen: StorageVersion, isActive: Bool = false) {
    if let known = self.schedules[record.name] {
      // Stores of another mutation show it from now on.
      if known.record.call != record.call {
        self.view.set(nil, replacing: ShownCall(known).record, at: known.position)
      }
    } else {
      self.schedules.add(record, seen)
    }
    self.editSchedule(record.name) { schedule in
      schedule.record = record
      schedule.seen = seen
      schedule.isActive = schedule.isActive || isActive
      schedule.version += 1
      schedule.failures = 0
    }
  }

  /// Edits a schedule, and shows it.
  @discardableResult
  mutating func editSchedule<R>(_ name: String, _ change: (inout ScheduleTable.Schedule) -> R) -> R? {
    let result = self.schedules.edit(name, change)
    if result != nil { self.showSchedule(name) }
    return result
  }

  /// Forgets a schedule whose entry was removed.
  @discardableResult
  mutating func removeSchedule(_ name: String) -> ScheduleTable.Schedule? {
    self.setScheduleAlarm(name, at: nil)
    guard let schedule = self.schedules.remove(name) else { return nil }
    self.removedWhileReading?.insert(StorageKey.schedule(named: name))
    if self.shown.set(nil, at: schedule.position) { self.actions.isChanged = true }
    self.view.set(nil, replacing: ShownCall(schedule).record, at: schedule.position)
    return schedule
  }

  private mutating func showSchedule(_ name: String) {
    guard let schedule = self.schedules[name] else { return }
    let call = ShownCall(schedule)
    if self.shown.set(call, at: schedule.position) { self.actions.isChanged = true }
    self.view.set(call, replacing: nil, at: schedule.position)
  }

  /// Sets the time at which a schedule is looked at again; nil for none.
  mutating func setScheduleAlarm(_ name: String, at time: Duration?) {
    guard let schedule = self.schedules[name], schedule.alarmTime != time else { return }
    if let old = schedule.alarmTime {
      self.alarms.removeValue(for: JournalAlarm(time: old, position: schedule.position, kind: .schedule))
    }
    self.schedules.edit(name) { $0.alarmTime = time }
    if let time { self.alarms.insert((), for: JournalAlarm(time: time, position: schedule.position, kind: .schedule)) }
  }

  /// Notes that the alarm of a schedule has come.
  mutating func forgetScheduleAlarm(at position: Position) {
    guard let name = self.schedules.names[position] else { return }
    self.schedules.edit(name) { $0.alarmTime = nil }
  }

  /// The schedule whose entry has an identifier; nil if there is none.
  func schedule(shownAs id: JournalEntry.ID) -> String? {
    self.positions[id] == nil ? self.schedules.all.first { $0.value.record.id == id }?.key : nil
  }

  /// The schedules whose mutations are journaled as one of these names; nil for all names.
  func schedules(ofMutations names: Set<String>?) -> [String] {
    self.schedules.all.filter { names?.contains($0.value.record.call) ?? true }.keys.sorted()
  }
}
