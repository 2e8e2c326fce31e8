internal import OperationCore

extension MutationJournal {
  /// Removes an entry, so that its call is not made again, and the optimistic updates of the call.
  ///
  /// When this has returned true, the entry does not come back, and no attempt of the call begins, unless its failure cannot
  /// represent a `CancellationError`. A body that runs continues, and no store shows its updates: if it succeeds, its effect
  /// comes with the next fetch.
  ///
  /// A call that has just become part of a later one is not removed, and neither is one that another process has made: see
  /// ``JournalPolicy``. An attempt that another process has begun before may still reach the server.
  ///
  /// - Parameter id: The identifier of the entry.
  /// - Returns: Whether there was such an entry and it was removed from the storage.
  @discardableResult
  public func remove(_ id: JournalEntry.ID) async -> Bool {
    do { try await self.load() } catch { return false }
    if let name = self.state.withLock({ $0.schedule(shownAs: id) }) { return await self.cancelSchedule(named: name) }
    let removal = self.change { state in state.positions[id].flatMap { state.beginRemoval(of: $0) } }
    guard let removal else { return false }
    return await self.finish(removal) == .removed
  }

  /// Removes a call in conflict, unless another decision about the conflict has come first.
  nonisolated(nonsending) func removeConflict(_ id: JournalEntry.ID, revision: Int) async -> Bool {
    let removal = self.change { state in
      state.openConflict(id, revision).flatMap { state.beginRemoval(of: $0.position, revision: revision) }
    }
    guard let removal else { return false }
    return await self.finish(removal) == .removed
  }

  /// Removes all entries, and the ended calls that stores show.
  ///
  /// When a user signs out, call ``/OperationCore/OperationClient/clearEverything(within:switching:)``, which removes all
  /// that the client has, too.
  ///
  /// Bodies that run continue, and no store shows their updates. Calls that are being stored, and were not
  /// accepted yet, are removed, too: their callers receive a ``JournalError``. Calls that begin later stay. What was
  /// removed is then unreadable in the files of the storage: see ``PersistentStorage/overwriteRemovedEntries()``.
  ///
  /// In a ``LeasingStorage`` that includes the calls that other processes have stored. Such a process looks for the entry
  /// of a call before each attempt, and writes it on the condition that it is there: it begins no attempt of a removed
  /// call, and does not store it again. The caller in that process receives a ``JournalError`` with the code
  /// ``JournalError/Code/takenOver``. An attempt that had begun there may still reach the server, and a call that is
  /// accepted there afterwards stays.
  ///
  /// - Parameter names: The names that the mutations are journaled as; nil for all, with unreadable entries.
  /// - Returns: Whether all of them were removed from the storage and overwritten. A failure is reported.
  @discardableResult
  public func removeAll(named names: Set<String>? = nil) async -> Bool {
    do {
      try await self.load()
    } catch {
      OperationWarning.report(storageFailedTo: "read the journal", error)
      return false
    }
    // The calls that are being stored are refused, and the schedules removed, before the rest: no call of a schedule is accepted then.
    let begun = self.change { $0.refuseUnaccepted(names) }
    var areRemoved = await self.removeSchedules(ofMutations: names)
    let (removals, others) = self.change { ($0.beginRemoval(of: names), $0.refuseUnaccepted(names)) }
    var failed: Set<JournalState.Position> = []
    for removal in removals where await self.finish(removal) == .failed { failed.insert(removal.position) }
    for (position, signal) in begun + others {
      await signal.value()
      guard let removal = self.change({ $0.refusal(of: position) }) else { continue }
      if await self.finish(removal) == .failed { failed.insert(position) }
    }
    if !failed.isEmpty { areRemoved = false }
    if await !self.removeLeftEntries(mayLeave: false) { areRemoved = false }
    if self.lease != nil, await !self.removeEntriesOfOthers(named: names, except: failed) { areRemoved = false }
    do {
      try await self.storage.overwriteRemovedEntries()
    } catch {
      OperationWarning.report(storageFailedTo: "overwrite the removed entries of the journal", error)
      return false
    }
    return areRemoved
  }

  /// Removes the entries that other processes have stored since this one has read them.
  ///
  /// Entries that another process changes meanwhile are read again, since it may have merged one of them with a later call. The
  /// last of ten passes removes what it finds, so that this ends beside a process that is busy.
  ///
  /// - Parameters:
  ///   - names: The names that the mutations are journaled as; nil for all.
  ///   - failed: The calls whose removal has failed.
  /// - Returns: Whether they were removed. A failure is reported.
  private nonisolated(nonsending) func removeEntriesOfOthers(
    named names: Set<String>?,
    except failed: Set<JournalState.Position>
  ) async -> Bool {
    var refused: Set<StorageCondition> = []
    do {
      let passes = 1...10
      for pass in passes {
        let entries = try await self.storage.entries(withPrefix: StorageKey.journal)
        // A task that takes a lease may have read some of them meanwhile.
        let (removals, known, forgotten) = self.change { $0.beginRemoval(ofOthers: names, except: failed) }
        // Whether all were still as they were read.
        var isCurrent = forgotten.allSatisfy { name in entries.contains { $0.key == StorageKey.schedule(named: name) } }
        var hasFailed = false
        for removal in removals {
          switch await self.finish(removal) {
          case .removed: break
          case .refused: isCurrent = false
          case .failed: hasFailed = true
          }
        }
        if hasFailed { return false }
        let unknown = entries.filter { !known.contains($0.key) && $0.isOfMutation(among: names) }
        var removed = unknown.map(\.key)
        // Those of calls that are gone as well.
        removed += try await self.storage.entries(withPrefix: StorageKey.attempts).map(\.key).filter { key in
          let call = StorageKey.call(ofAttempts: key) ?? ""
          return !known.contains(call) && (names == nil || unknown.contains { $0.key == call })
        }
        if !removed.isEmpty {
          // An entry that is refused, and is read again as it was, is damaged.
          var conditions = unknown.map { StorageCondition.unchanged(key: $0.key, $0.version) }
          conditions.removeAll { pass == passes.last || refused.contains($0) }
          switch try await self.storage.apply(removed.map { .remove(key: $0) }, if: conditions) {
          case .made: self.change { $0.endElsewhere(Set(removed)) }
          case .refused(let condition):
            refused.insert(condition)
            isCurrent = false
          }
        }
        // Another process may have accepted a call of a schedule meanwhile.
        if isCurrent, !unknown.contains(where: { StorageKey.isSchedule($0.key) }) { break }
      }
      return true
    } catch {
      OperationWarning.report(storageFailedTo: "remove the journal entries of other processes", error)
      return false
    }
  }

  /// Removes the schedules whose mutations are journaled as one of these names; nil for all names.
  ///
  /// - Returns: Whether they were removed from the storage. A failure is reported.
  private nonisolated(nonsending) func removeSchedules(ofMutations names: Set<String>?) async -> Bool {
    let removed = self.change { state -> [String] in
      state.schedules.removals += 1
      return state.schedules(ofMutations: names)
    }
    if removed.isEmpty { return true }
    do {
      try await self.storage.apply(removed.map { .remove(key: StorageKey.schedule(named: $0)) })
      self.forgetSchedules(removed)
      return true
    } catch {
      OperationWarning.report(storageFailedTo: "remove \(removed.count) schedules", error)
      return false
    }
  }

  /// What has become of a removal.
  private enum RemovalResult {
    /// This process has removed the entry.
    case removed
    /// Another process has changed or removed it, for example because it has made the call.
    case refused
    /// The storage has failed.
    case failed
  }

  /// Waits for a removal.
  private nonisolated(nonsending) func finish(_ removal: JournalRemoval) async -> RemovalResult {
    var isRemoved = true
    do {
      try await removal.write.value()
    } catch is JournalEntryChanged {
      isRemoved = false
    } catch {
      let isLeft = self.change { $0.endFailedRemoval(of: removal.position) }
      OperationWarning.report(storageFailedTo: "remove the journal entry \(removal.id)", error)
      if isLeft { self.resumeByItself(.call(removal.position)) }
      return .failed
    }
    let name = self.change { [isRemoved] state -> String?? in
      guard let item = state.items[removal.position] else { return nil }
      // This also applies to a call that is about to be made again: its replay will not find it.
      if let updates = item.updates { state.actions.ended.append(updates) }
      if let updates = item.callUpdates { state.actions.endedInRuns.append(updates) }
      guard isRemoved else {
        if case .removing = item.phase {
          state.endElsewhere(removal.position)
          // It may be there with other arguments.
          state.knownForeignChanges = nil
        }
        return nil
      }
      if !item.activity.isRunning {
        state.actions.results.append((item.result, .ended(.removed, item.record?.name ?? "")))
      }
      state.remove(removal.position)
      return .some(item.record?.name)
    }
    // Otherwise the call has ended meanwhile.
    if let name {
      self.send(in: nil) {
        OperationNotice(.journalRemoved, attributes: name.map { ["journal.name": .string($0)] } ?? [:])
      }
    }
    return isRemoved ? .removed : .refused
  }

  /// Removes what may be stored of calls that are gone: the storing of a refused one, or the removal of one that has ended, has
  /// failed, or its answer was lost.
  ///
  /// - Parameter mayLeave: Whether a cancelled task waits no longer, and does not learn whether they were removed.
  /// - Returns: Whether they were removed. A failure is reported.
  private nonisolated(nonsending) func removeLeftEntries(mayLeave: Bool) async -> Bool {
    guard let signal = self.change({ $0.writeRemovals() }) else { return true }
    if mayLeave { await signal.value(cancelled: ()) } else { await signal.value() }
    if mayLeave, Task.isCancelled { return false }
    let count = self.state.withLock { $0.failedRemovals.count }
    guard count > 0 else { return true }
    OperationWarning(
      code: .storageFailed,
      severity: .failure,
      message: "The storage failed to remove \(count) journal entries."
    ).report()
    return false
  }

  /// Removes the entries of ended calls with removals that have failed.
  ///
  /// Calls are stored when they are accepted, so nothing else waits to be written.
  ///
  /// - Returns: Whether they were removed. A failure is also reported. After a restart the calls of the entries that
  ///   are left are made again.
  @discardableResult
  public func flush() async -> Bool { await self.removeLeftEntries(mayLeave: true) }
}

/// An entry that is being removed.
struct JournalRemoval: Sendable {
  let id: JournalEntry.ID
  let position: JournalState.Position
  let write: JournalWrite
}

extension JournalState {
  /// Records that an entry is removed. Nothing is written for it after its removal.
  ///
  /// - Parameters:
  ///   - position: The call.
  ///   - revision: How many times its arguments were replaced; nil to remove it whatever they are now.
  /// - Returns: The removal; nil if there is nothing to remove.
  fileprivate mutating func beginRemoval(of position: Position, revision: Int? = nil) -> JournalRemoval? {
    guard let item = self.items[position], item.isStored, !item.isGone, !item.phase.isTakenOver else { return nil }
    self.items[position]?.phase = .removing(JournalPhase.Removal(isOfRefused: false, revision: revision))
    return self.write(position).map { JournalRemoval(id: item.id, position: position, write: $0) }
  }

  /// The removal of a call that was refused while it was stored; nil if it turned out not to be stored.
  fileprivate func refusal(of position: Position) -> JournalRemoval? {
    guard case .removing(let removal)? = self.items[position]?.phase, removal.isOfRefused else { return nil }
    return removal.write
  }

  /// Records that the entries of some names are removed; nil for all names.
  fileprivate mutating func beginRemoval(of names: Set<String>?) -> [JournalRemoval] {
    self.view.forgetEnded(names)
    let positions = self.items.filter { $0.value.hasName(among: names) }
    for (position, item) in positions {
      guard case .ended(_?) = item.phase else { continue }
      // The call has just ended, and is no longer shown.
      self.actions.released.append(item)
      self.items[position]?.phase = .ended(nil)
    }
    return positions.keys.sorted().compactMap { self.beginRemoval(of: $0) }
  }

  /// Records that the calls and schedules which others have stored, and this process has read, are removed.
  ///
  /// - Returns: The removals; the keys of the other entries that this process knows: they were removed, or belong to calls that
  ///   have begun later; and the names of the schedules that it no longer knows.
  fileprivate mutating func beginRemoval(
    ofOthers names: Set<String>?,
    except failed: Set<Position>
  ) -> (removals: [JournalRemoval], known: Set<String>, forgotten: [String]) {
    let others = self.items.filter { position, item in
      item.hasName(among: names) && !item.origin.isThisProcess && !failed.contains(position)
    }
    let removals = others.keys.sorted().compactMap { self.beginRemoval(of: $0) }
    let forgotten = self.schedules(ofMutations: names).filter { self.schedules[$0]?.isActive == false }
    for name in forgotten { self.removeSchedule(name) }
    let schedules = self.schedules.all.keys.map { StorageKey.schedule(named: $0) }
    return (removals, Set(self.items.values.map(\.storageKey) + schedules), forgotten)
  }

  /// Decides that the calls of some names that are being stored are not made; nil for all names.
  ///
  /// - Returns: These calls, each with an event that occurs when it was stored, or turns out not to be.
  fileprivate mutating func refuseUnaccepted(
    _ names: Set<String>?
  ) -> [(position: Position, signal: AwaitedOutcome<Void>)] {
    let unaccepted = self.items.filter { !$0.value.isStored && $0.value.hasName(among: names) }
    return unaccepted.keys.sorted().compactMap { position in
      // Its run learns of the removal later than the caller of the removal goes on, and shows nothing until then.
      if let updates = self.items[position]?.callUpdates { self.actions.endedInRuns.append(updates) }
      // Its run may wait for this removal. It is refused when it comes.
      guard self.items[position]?.phase.refuse() == true else { return nil }
      let signal = AwaitedOutcome<Void>()
      self.items[position]?.phase.acceptance?.waiters.append(signal)
      return (position, signal)
    }
  }

  /// Begins to remove a call that was refused while it was stored.
  ///
  /// Called in the step that accepts it: no later call may be merged with it.
  mutating func beginRemoval(ofRefused position: Position) {
    let removal = self.beginRemoval(of: position)
    self.items[position]?.phase = .removing(JournalPhase.Removal(write: removal, isOfRefused: true))
  }

  /// Adds a call again after its removal has failed, unless it has ended meanwhile.
  ///
  /// - Returns: Whether a journal that resumes by itself makes it now, because nothing else does and it has not failed.
  fileprivate mutating func endFailedRemoval(of position: Position) -> Bool {
    guard let end = self.items[position]?.phase.endFailedRemoval(), end.isAccepted else { return false }
    if end.isOfRefused { self.edit(position) { $0.activity = .none } }
    self.endDecision(about: position)
    // Decisions that were made meanwhile were not written.
    _ = self.write(position)
    self.advance(self.items[position]?.scope)
    self.advanceWithoutScope()
    self.makeAwaited(position)
    return end.isOfRefused || self.items[position].map { $0.activity.isNone && !$0.isHeld } ?? false
  }
}

extension JournalState.Item {
  /// Whether its mutation is journaled as one of these names; nil for all names, with entries that cannot be read.
  fileprivate func hasName(among names: Set<String>?) -> Bool {
    guard let names else { return true }
    return self.record.map { names.contains($0.name) } ?? false
  }
}

extension StorageEntry {
  /// Whether it is of a mutation with one of these names; nil for all names, with entries that cannot be read.
  fileprivate func isOfMutation(among names: Set<String>?) -> Bool {
    guard let names else { return true }
    let name =
      StorageKey.isSchedule(self.key)
      ? (try? ScheduleRecord.read(self.value))?.call : (try? JournalRecord.read(self.value))?.name
    return name.map { names.contains($0) } ?? false
  }
}
