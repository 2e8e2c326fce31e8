internal import OperationBackoff
internal import OperationCore
internal import OperationFoundation
internal import OperationMutation

extension MutationJournal {
  /// Looks at everything that is scheduled.
  func checkSchedules() {
    for name in self.state.withLock({ $0.schedules.all.keys.sorted() }) { self.checkSchedule(named: name) }
  }

  /// Accepts the next call of a schedule if its time has come and nothing is in its way; otherwise an event or an alarm
  /// looks again.
  func checkSchedule(named name: String) {
    let client = self.boundClient
    // Another process may have cancelled it.
    guard self.state.withLock({ $0.schedules[name] != nil }) else { return self.endConditions(of: name) }
    guard client?.automaticRunsAreStopped.isOn != true else { return }
    let (date, now) = (self.date.timeIntervalSinceReferenceDate, self.deadlines.elapsed)
    // Without a client its clock is not known.
    let resumesByItself = self.resumesByItself && client != nil
    switch self.change({ $0.nextStep(of: name, at: date, now, resumesByItself: resumesByItself) }) {
    case .wait: break
    case .again(let position):
      self.change { state in
        state.wait(name, for: .lastCall, until: now + JournalState.scheduleCheck)
        if !resumesByItself { state.begin(scheduled: position) }
      }
      if resumesByItself { self.resumeByItself(.call(position)) }
    case .store(let record, let seen):
      guard self.change({ $0.beginChange(of: name, seen) }) else { return }
      Task.immediate(name: "change schedule", executorPreference: self.executor) { await self.store(record, seen) }
    case .make(let call):
      guard let registration = self.registrations.withLock({ $0[call.schedule.call] }) else {
        return self.waitForRegistration(of: call.schedule, now)
      }
      let context = self.boundClient?.defaultContext ?? OperationContext()
      let settings = registration.settings(context)
      guard self.mayBegin(name, settings, in: context) else {
        self.change { _ = $0.wait(name, for: .condition, until: now + JournalState.scheduleCheck) }
        return
      }
      guard self.change({ $0.beginChange(of: name, call.seen) }) else { return }
      self.endConditions(of: name)
      Task.immediate(name: "accept scheduled call", executorPreference: self.executor) {
        await self.accept(call, registration, settings)
      }
    }
  }

  /// Whether all conditions of a scheduled call hold. If one does not, a change of it looks again.
  private func mayBegin(_ name: String, _ settings: ScheduledCallSettings, in context: OperationContext) -> Bool {
    let conditions = settings.conditions + [self.condition.withLock { $0.specification }].compactMap(\.self)
    if conditions.allSatisfy({ $0.isSatisfied(in: context) }) { return true }
    let isNew = self.scheduleConditions.withLock { subscriptions in
      defer { if subscriptions[name] == nil { subscriptions[name] = [] } }
      return subscriptions[name] == nil
    }
    guard isNew else { return false }
    let new = conditions.map { condition in
      condition.subscribe(in: context) { [weak self] in self?.checkSchedule(named: name) }
    }
    let unneeded = self.scheduleConditions.withLock { subscriptions -> [OperationSubscription] in
      guard subscriptions[name] != nil else { return new }
      subscriptions[name] = new
      return []
    }
    for subscription in unneeded { subscription.cancel() }
    // What has changed before that was not heard of.
    return conditions.allSatisfy { $0.isSatisfied(in: context) }
  }

  /// No longer waits for the conditions of a schedule.
  func endConditions(of name: String) {
    let subscriptions = self.scheduleConditions.withLock { $0.removeValue(forKey: name) }
    for subscription in subscriptions ?? [] { subscription.cancel() }
  }

  private func waitForRegistration(of schedule: ScheduleRecord, _ now: Duration) {
    let isReported = self.change { state -> Bool in
      let (since, isReported) =
        state.schedules.edit(schedule.name) { schedule -> (Duration, Bool) in
          let since = schedule.unregisteredSince ?? now
          schedule.unregisteredSince = since
          let isReported = !schedule.isReported && now - since >= Self.registrationTime
          schedule.isReported = schedule.isReported || isReported
          return (since, isReported)
        } ?? (now, false)
      let isFirst = now - since < Self.registrationTime
      let time = isFirst ? since + Self.registrationTime : now + JournalState.scheduleCheck
      state.wait(schedule.name, for: .registration, until: time)
      return isReported
    }
    guard isReported else { return }
    OperationWarning(
      code: .journalNameUnregistered,
      message: """
        The journal has the schedule "\(schedule.name)" of calls of "\(schedule.call)", whose time has come, and no mutation \
        is registered with that name. It stays, for another process or until then. Call `register(_:as:)`, or \
        `cancelSchedule(named:)`.
        """
    ).report()
  }

  /// Looks at a schedule again, and at what other processes have changed.
  func scheduleAlarmHasFired(at position: JournalState.Position) {
    guard let name = self.state.withLock({ $0.schedules.names[position] }) else { return }
    self.checkSchedule(named: name)
    guard let lease, self.state.withLock({ $0.schedules[name]?.isBusy == false && !$0.isStopped }) else { return }
    Task.immediate(name: "read schedules", executorPreference: self.executor) {
      if await self.reload(lease) { self.checkSchedules() }
    }
  }

  // MARK: - Storing

  /// Stores a schedule without a call, such as one whose missed times are skipped.
  private func store(_ record: ScheduleRecord, _ seen: StorageVersion) async {
    let key = StorageKey.schedule(named: record.name)
    do {
      let bytes = try record.encoded()
      let outcome = try await self.storage.apply(
        [.put(key: key, value: bytes)],
        if: [.unchanged(key: key, seen)]
      )
      if outcome == .made {
        self.change { state in
          if state.schedules[record.name] != nil { state.setSchedule(record, StorageVersion(of: bytes, at: key)) }
        }
        return self.endChange(of: record.name)
      }
      await self.readAgain(record.name)
      self.endChange(of: record.name)
    } catch {
      self.endChange(of: record.name, failingWith: error)
    }
  }

  /// Accepts a call of a schedule, and makes it.
  ///
  /// The call is stored and the schedule changed in one step, on the condition that the schedule is as it was and that
  /// its last call has ended. So each time has one call, whichever processes try.
  private func accept(
    _ call: DueCall,
    _ registration: JournalRegistration,
    _ settings: ScheduledCallSettings
  ) async {
    let name = call.schedule.name
    if let givenUp = call.givenUp, await !self.remove(givenUp) {
      return self.endChange(of: name, looksAfter: JournalState.scheduleCheck)
    }
    let request = JournalRequest(call, registration, settings, date: self.date)
    guard let position = self.reserve(request)?.position else {
      // Another process has made the call for this time, and this one has read that.
      let isChanged = await self.readAgain(name)
      return self.endChange(of: name, looksAfter: isChanged ? nil : JournalState.scheduleCheck)
    }
    do {
      try await self.lease?.keepAlive(for: self)
      if self.lease != nil { await self.waitToStore(position) }
      let (step, following) = try self.step(for: call, at: position)
      // The program may be about to end.
      let write = self.change { $0.isStopped ? nil : $0.store(position, with: step) }
      guard let write else {
        self.change { $0.remove(position) }
        return self.endChange(of: name, looksAfter: JournalState.scheduleCheck)
      }
      try await write.value()
      self.didStore(call, following, step, at: position, request)
      self.endChange(of: name)
    } catch is JournalEntryChanged {
      self.change { $0.remove(position) }
      let isChanged = await self.readAgain(name)
      self.endChange(of: name, looksAfter: isChanged ? nil : JournalState.scheduleCheck)
    } catch {
      // It may be stored all the same. Then the schedule has changed, which the next try finds, unless both were removed.
      self.change { state in
        if state.items[position]?.phase.isRefused == true { state.noteMayBeStored(position) }
        state.remove(position)
      }
      self.endChange(of: name, failingWith: error)
    }
  }

  /// What is stored in the same step as a call.
  ///
  /// - Throws: The error of the encoding.
  private func step(for call: DueCall, at position: JournalState.Position) throws -> (ScheduleStep, ScheduleRecord?) {
    let entry = self.state.withLock { StorageKey.call(number: $0.numberBase + UInt64(position), id: call.id) }
    let following = call.schedule.following(call.number, storedAs: entry)
    let key = StorageKey.schedule(named: call.schedule.name)
    let change = try following.map { StorageChange.put(key: key, value: try $0.encoded()) } ?? .remove(key: key)
    let last = call.schedule.lastEntry.map { StorageCondition.absent(key: $0) }
    let conditions = [.unchanged(key: key, call.seen)] + [last].compactMap(\.self)
    return (ScheduleStep(change: change, conditions: conditions), following)
  }

  private func didStore(
    _ call: DueCall,
    _ following: ScheduleRecord?,
    _ step: ScheduleStep,
    at position: JournalState.Position,
    _ request: JournalRequest
  ) {
    self.watchExpiry()
    let (date, now) = (self.date, self.deadlines.elapsed)
    let result = self.change { state -> JournalResult? in
      if let following, case .put(let key, let bytes) = step.change {
        // It may have been removed meanwhile.
        if state.schedules[following.name] != nil { state.setSchedule(following, StorageVersion(of: bytes, at: key)) }
      } else {
        state.removeSchedule(call.schedule.name)
      }
      return state.acceptScheduled(position, at: date, now) ? state.items[position]?.result : nil
    }
    guard let result else { return }
    let ticket = JournalTicket(
      journal: self,
      position: position,
      id: call.id,
      name: request.name,
      scope: request.scope,
      isReplay: true,
      operationName: request.operationName,
      result: result
    )
    self.send(in: nil) { ticket.notice(.journalAccepted) }
  }

  /// Reads a schedule again that is not as this process knows it, and its last call.
  ///
  /// - Returns: Whether it is another one now.
  @discardableResult
  private nonisolated(nonsending) func readAgain(_ name: String) async -> Bool {
    let earlier = self.state.withLock { $0.schedules[name]?.seen }
    do {
      if let lease { _ = await self.reload(lease) }
      let key = StorageKey.schedule(named: name)
      let entry = try await self.storage.entry(with: key)
      let record = try entry.map { try ScheduleRecord.read($0.value) }
      guard let entry, let record else {
        self.forgetSchedules([name])
        return true
      }
      // This process may have stored a call without hearing of it.
      let last = try await self.unknownLastCall(of: record)
      self.change { state in
        state.setSchedule(record, entry.version)
        guard let last, let call = last.record else { return }
        let position = state.nextEarlierPosition()
        state.restore(call, from: last.key, last.version, at: position, .otherProcess(.thisProcess))
        state.begin(scheduled: position)
      }
      return entry.version != earlier
    } catch {
      OperationWarning.report(storageFailedTo: "read the schedule \"\(name)\"", error)
      return false
    }
  }

  private nonisolated(nonsending) func unknownLastCall(
    of record: ScheduleRecord
  ) async throws -> (key: String, version: CallVersion, record: JournalRecord?)? {
    guard let key = record.lastEntry, let id = record.lastCall, self.state.withLock({ $0.positions[id] == nil })
    else { return nil }
    let entry = try await self.storage.call(with: key)
    guard let version = entry.version, let call = entry.record else { return nil }
    // A call of another process comes with the entries.
    guard self.lease == nil || call.owner == self.lease?.owner, self.state.withLock({ $0.positions[id] == nil })
    else { return nil }
    return (key, version, call)
  }

  // MARK: - Ending

  /// Ends a change of a schedule, and looks at it again.
  ///
  /// - Parameters:
  ///   - name: The schedule.
  ///   - delay: The time after which it is looked at again; nil for now.
  private func endChange(of name: String, looksAfter delay: Duration? = nil) {
    let now = self.deadlines.elapsed
    self.change { state in
      state.editSchedule(name) { $0.isBusy = false }
      if let delay { state.wait(name, for: .lastCall, until: now + delay) }
    }
    if delay == nil { self.checkSchedule(named: name) }
  }

  /// Ends a change of a schedule that the storage has refused, and tries again later.
  private func endChange(of name: String, failingWith error: any Error) {
    let now = self.deadlines.elapsed
    let backoff = self.resumes?.backoff ?? Resuming.defaultBackoff
    let failures = self.change { state in
      state.editSchedule(name) { schedule in
        schedule.isBusy = false
        schedule.failures += 1
        return schedule.failures
      }
    }
    guard let failures else { return }
    if failures == 1 { OperationWarning.report(storageFailedTo: "store the schedule \"\(name)\"", error) }
    let delay = min(backoff(failures).clampedForClock, JournalState.scheduleCheck)
    self.change { _ = $0.wait(name, for: .storage, until: now + delay) }
  }
}

extension JournalRequest {
  fileprivate init(
    _ call: DueCall,
    _ registration: JournalRegistration,
    _ settings: ScheduledCallSettings,
    date: Date
  ) {
    self.init(
      name: call.schedule.call,
      arguments: call.schedule.storedArguments,
      version: call.schedule.version ?? 1,
      scope: settings.scope,
      key: call.id,
      date: date,
      operationName: registration.operationName,
      layerPlace: nil,
      beginsAtOnce: false,
      canEndWithoutBody: registration.canEndWithoutBody,
      callUpdates: nil,
      lifetime: settings.lifetime,
      letsPass: settings.letsPass,
      base: nil,
      mergeKey: nil,
      merge: nil,
      schedule: ScheduledTime(name: call.schedule.name, date: call.time)
    )
  }
}
