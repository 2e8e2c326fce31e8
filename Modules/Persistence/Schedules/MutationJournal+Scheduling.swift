internal import OperationCore
public import OperationFoundation
public import OperationMutation

extension MutationJournal {
  /// Makes a call of a mutation at a time, also after a restart of the program.
  ///
  /// ```swift
  /// try await journal.schedule(remind, with: note, named: "reminder \(note.id)", at: note.date)
  /// ```
  ///
  /// When this returns, it is stored. At its time the journal accepts a call: from then on that is a call as any other, in
  /// the order of its scope, with an entry and an idempotency key, ``JournalSchedule/entryID``. If the time has passed, it is
  /// accepted at once. See <doc:WorkThatRecurs>.
  ///
  /// - Parameters:
  ///   - mutation: The mutation, with `.journaled(as:)`. Register it at each start of the program: the process that
  ///     registers it makes the call.
  ///   - arguments: The arguments.
  ///   - name: The name that makes it unique in its storage; nil for a new one, which is ``JournalSchedule/entryID``.
  ///   - date: The time, by the clock of the client.
  ///   - policy: What happens if something is scheduled with the name already.
  /// - Returns: What is scheduled.
  /// - Throws: A ``JournalError`` if it could not be stored.
  @discardableResult
  nonisolated(nonsending) public func schedule<Mutation: MutationRequest>(
    _ mutation: Mutation,
    with arguments: Mutation.Arguments,
    named name: String? = nil,
    at date: Date,
    ifScheduled policy: JournalSchedule.ExistingPolicy = .replace
  ) async throws(JournalError) -> JournalSchedule where Mutation.Arguments: Codable {
    try await self.schedule(mutation, arguments, name, policy) { record in
      record.start = date.timeIntervalSinceReferenceDate
    }
  }

  /// Makes a call of a mutation after a time, also after a restart of the program.
  ///
  /// The time passes while no program runs, too. If the clock of the client is set back meanwhile, it is the longest time
  /// that is left. See ``schedule(_:with:named:at:ifScheduled:)``.
  ///
  /// - Parameters:
  ///   - mutation: The mutation, with `.journaled(as:)`.
  ///   - arguments: The arguments.
  ///   - name: The name that makes it unique in its storage; nil for a new one.
  ///   - delay: The time from now. A negative one is reported and counts as zero.
  ///   - policy: What happens if something is scheduled with the name already. By default the time begins anew.
  /// - Returns: What is scheduled.
  /// - Throws: A ``JournalError`` if it could not be stored.
  @discardableResult
  nonisolated(nonsending) public func schedule<Mutation: MutationRequest>(
    _ mutation: Mutation,
    with arguments: Mutation.Arguments,
    named name: String? = nil,
    after delay: Duration,
    ifScheduled policy: JournalSchedule.ExistingPolicy = .replace
  ) async throws(JournalError) -> JournalSchedule where Mutation.Arguments: Codable {
    let delay = delay.reportedIfNegative(in: "schedule(after:)").clampedForClock.seconds
    return try await self.schedule(mutation, arguments, name, policy) { record in
      record.start = record.scheduledAt + delay
      record.longestWait = delay
    }
  }

  /// Makes calls of a mutation again and again, also after restarts of the program, and one at a time.
  ///
  /// ```swift
  /// try await journal.schedule(cleanUp, with: Folder("cache"), named: "clean up", every: .seconds(86_400))
  /// ```
  ///
  /// Call it at each start of the program: by default what is scheduled goes on with its times. The times are counted from
  /// the first one, so that they do not drift; each has a call with an idempotency key of its own, in whichever process. A
  /// call that has not ended is not overtaken by the next one: see ``JournalSchedule/MissedTimes``. A call that was given
  /// up stays as a dead letter, or as expired, until the next one takes its position. See <doc:WorkThatRecurs>.
  ///
  /// - Parameters:
  ///   - mutation: The mutation, with `.journaled(as:)`. Register it at each start of the program: one of the processes that
  ///     register it makes a call.
  ///   - arguments: The arguments of each call.
  ///   - name: The name that makes it unique in its storage.
  ///   - interval: The time from one call to the next, by the clock of the client. Less than a second is reported and
  ///     counts as one.
  ///   - start: The time of the first call; nil for one interval from now.
  ///   - missed: What becomes of times that passed without a call.
  ///   - policy: What happens if something is scheduled with the name already.
  /// - Returns: What is scheduled.
  /// - Throws: A ``JournalError`` if it could not be stored.
  @discardableResult
  nonisolated(nonsending) public func schedule<Mutation: MutationRequest>(
    _ mutation: Mutation,
    with arguments: Mutation.Arguments,
    named name: String,
    every interval: Duration,
    startingAt start: Date? = nil,
    missed: JournalSchedule.MissedTimes = .once,
    ifScheduled policy: JournalSchedule.ExistingPolicy = .update
  ) async throws(JournalError) -> JournalSchedule where Mutation.Arguments: Codable {
    if interval < .seconds(1) {
      OperationWarning(
        code: .invalidArgument,
        message: """
          A journal cannot make calls every \(interval.roundedText). It makes them every second; pass one or more.
          """
      ).report()
    }
    let seconds = max(interval, .seconds(1)).clampedForClock.seconds
    return try await self.schedule(mutation, arguments, name, policy, hasStart: start != nil) { record in
      record.interval = seconds
      record.start = start?.timeIntervalSinceReferenceDate ?? record.scheduledAt + seconds
      record.longestWait = start == nil ? seconds : nil
      record.missedTimes = missed
    }
  }

  /// Removes what is scheduled with a name, so that no further call of it is accepted, in no process.
  ///
  /// A call that was accepted already stays: ``remove(_:)`` takes it back.
  ///
  /// - Parameter name: The name.
  /// - Returns: Whether something was scheduled with the name, and was removed from the storage.
  @discardableResult
  nonisolated(nonsending) public func cancelSchedule(named name: String) async -> Bool {
    let key = StorageKey.schedule(named: name)
    do {
      try await self.load()
      let isStored = try await self.storage.entry(with: key) != nil
      if isStored { try await self.storage.apply([.remove(key: key)]) }
      self.forgetSchedules([name])
      return isStored
    } catch {
      OperationWarning.report(storageFailedTo: "remove the schedule \"\(name)\"", error)
      return false
    }
  }

  /// What is scheduled, as far as this process has read it, by the times of the next calls.
  ///
  /// - Complexity: O(*n* log *n*) in the number of schedules.
  public var schedules: [JournalSchedule] {
    self.state.withLock { $0.schedules.all.values.map { JournalSchedule($0.record, waitsFor: $0.wait) } }
      .sorted { ($0.nextDate, $0.name) < ($1.nextDate, $1.name) }
  }
}

extension MutationJournal {
  private nonisolated(nonsending) func schedule<Mutation: MutationRequest>(
    _ mutation: Mutation,
    _ arguments: Mutation.Arguments,
    _ name: String?,
    _ policy: JournalSchedule.ExistingPolicy,
    hasStart: Bool = false,
    _ setTimes: (inout ScheduleRecord) -> Void
  ) async throws(JournalError) -> JournalSchedule where Mutation.Arguments: Codable {
    guard let modifier = mutation.journaledModifier, modifier.mayStore(arguments) else {
      throw .unscheduled(mutation.operationName)
    }
    let bytes: StoredBytes
    do { bytes = try mutation.storedArguments.encode(arguments) } catch { throw .notEncoded(modifier.name, error) }
    let settings = mutation.scheduledCallSettings(in: self.boundClient?.defaultContext ?? OperationContext())
    let id = self.makeKey()
    let date = self.date.timeIntervalSinceReferenceDate
    var record = ScheduleRecord(
      name: name ?? id,
      id: id,
      call: modifier.name,
      scope: settings.scope,
      arguments: bytes.text,
      argumentBytes: bytes.base64,
      version: mutation.storedArguments.version == 1 ? nil : mutation.storedArguments.version,
      scheduledAt: date,
      start: date
    )
    setTimes(&record)
    self.registerIfUnknown(mutation, as: modifier.name)
    do {
      try await self.load()
      return try await self.store(record, policy, hasStart: hasStart)
    } catch let error as JournalError {
      throw error
    } catch {
      throw .notAccepted(record.call, error)
    }
  }

  /// Stores a schedule, unless what is stored with its name stays.
  ///
  /// - Throws: A ``JournalError`` or the error of the storage.
  private nonisolated(nonsending) func store(
    _ new: ScheduleRecord,
    _ policy: JournalSchedule.ExistingPolicy,
    hasStart: Bool
  ) async throws -> JournalSchedule {
    let key = StorageKey.schedule(named: new.name)
    let removals = self.state.withLock { $0.schedules.removals }
    while true {
      let entry = try await self.storage.entry(with: key)
      let present = try entry.map { try ScheduleRecord.read($0.value) }
      let next = new.replacing(present, policy, hasStart: hasStart)
      let record = next ?? present ?? new
      var version = entry?.version
      if let next {
        let bytes = try next.encoded()
        let condition = entry.map { StorageCondition.unchanged(key: key, $0.version) } ?? .absent(key: key)
        let outcome = try await self.storage.apply([.put(key: key, value: bytes)], if: [condition])
        // Another process has changed it.
        guard outcome == .made else { continue }
        version = StorageVersion(of: bytes, at: key)
      }
      let isKept = self.change { state in
        guard state.schedules.removals == removals, let version else { return false }
        state.setSchedule(record, version, isActive: true)
        return true
      }
      guard isKept else {
        // What is scheduled was removed meanwhile, for example because the user has signed out. What another process has stored
        // with the name since then stays.
        if next != nil, let version {
          _ = try await self.storage.apply([.remove(key: key)], if: [.unchanged(key: key, version)])
        }
        throw JournalError.ended(.removed, new.call)
      }
      self.checkSchedule(named: record.name)
      let wait = self.state.withLock { $0.schedules[record.name]?.wait } ?? .time
      return JournalSchedule(record, waitsFor: wait)
    }
  }

  /// Forgets schedules whose entries were removed.
  func forgetSchedules(_ names: [String]) {
    self.change { state in for name in names { state.removeSchedule(name) } }
    for name in names { self.endConditions(of: name) }
  }
}

extension JournalError {
  fileprivate static func unscheduled(_ name: String) -> Self {
    Self(
      code: .notAccepted,
      message: """
        The call of "\(name)" was not scheduled: its mutation needs `.journaled(as:)`, and arguments that `excluding:` \
        lets it store.
        """,
      cause: nil
    )
  }
}
