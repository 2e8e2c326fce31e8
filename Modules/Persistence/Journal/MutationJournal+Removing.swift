internal import OperationCore

extension MutationJournal {
  /// Removes an entry, so that its call is not made again. A call that is being made continues.
  ///
  /// When it has returned true, the entry does not come back, whatever happens to its call meanwhile.
  ///
  /// - Parameter id: The identifier of the entry.
  /// - Returns: Whether there was such an entry and it was removed from the storage.
  @discardableResult
  public func remove(_ id: JournalEntry.ID) async -> Bool {
    do { try await self.load() } catch { return false }
    let removal = self.change { $0.beginRemoval(of: id) }
    guard let removal else { return false }
    do {
      try await removal.write.value()
    } catch {
      self.change { $0.endFailedRemoval(of: removal.place) }
      OperationWarning.report(storageFailedTo: "remove the journal entry \(id)", error)
      return false
    }
    let name = self.change { state -> String?? in
      guard let item = state.items[removal.place] else { return nil }
      if !item.activity.isRunning {
        if let updates = item.updates { state.actions.ended.append(updates) }
        state.actions.fates.append((item.fate, .ended(.removed, item.record?.name ?? "")))
      }
      state.remove(removal.place)
      return .some(item.record?.name)
    }
    // Otherwise its call has ended meanwhile.
    if let name {
      self.send(in: nil) {
        OperationNotice(.journalRemoved, attributes: name.map { ["journal.name": .string($0)] } ?? [:])
      }
    }
    return true
  }

  /// Removes the entries of calls that have ended and could not be removed then.
  ///
  /// Calls are stored when they are accepted, so nothing else waits to be written.
  ///
  /// - Returns: Whether they were removed. A failure is also reported; after a restart their calls are made again.
  @discardableResult
  public func flush() async -> Bool {
    guard let signal = self.change({ $0.writeRemovals() }) else { return true }
    await signal.value(cancelled: ())
    let count = self.state.withLock { $0.failedRemovals.count }
    guard count > 0, !Task.isCancelled else { return !Task.isCancelled }
    OperationWarning(
      code: .storageFailed,
      severity: .failure,
      message: "The storage failed to remove \(count) journal entries."
    ).report()
    return false
  }
}

extension JournalState {
  /// Decides that an entry is removed. Nothing is written for it after its removal.
  fileprivate mutating func beginRemoval(of id: JournalEntry.ID) -> (place: Place, write: JournalWrite)? {
    guard let place = self.places[id], let item = self.items[place], item.isStored, !item.isGone else { return nil }
    self.items[place]?.isBeingRemoved = true
    return self.write(place).map { (place, $0) }
  }

  /// Puts a call back that could not be removed, unless it has ended meanwhile.
  fileprivate mutating func endFailedRemoval(of place: Place) {
    self.items[place]?.isBeingRemoved = false
    guard let item = self.items[place], !item.isGone else { return }
    // What was decided meanwhile was not written.
    _ = self.write(place)
    self.advance(item.lane)
    self.advanceWithoutScope()
  }
}
