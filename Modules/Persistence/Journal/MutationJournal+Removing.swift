internal import OperationCore

extension MutationJournal {
  /// Removes an entry, so that its call is not made again. A call that is being made continues.
  ///
  /// - Parameter id: The identifier of the entry.
  /// - Returns: Whether there was such an entry and it was removed from the storage.
  @discardableResult
  public func remove(_ id: JournalEntry.ID) async -> Bool {
    do { try await self.load() } catch { return false }
    let key = self.state.withLock { state in state.places[id].flatMap { state.items[$0]?.storageKey } }
    guard let key, !key.isEmpty else { return false }
    do {
      try await self.storage.apply([.remove(key: key)])
    } catch {
      OperationWarning.report(storageFailedTo: "remove the journal entry \(key)", error)
      return false
    }
    let (place, name) = self.state.withLock { state in
      let place = state.places[id]
      return (place, place.flatMap { state.items[$0]?.record?.name })
    }
    guard let place else { return true }
    self.leave(place)
    self.send(in: nil) {
      OperationNotice(.journalRemoved, attributes: name.map { ["journal.name": .string($0)] } ?? [:])
    }
    return true
  }
}

extension MutationJournal {
  /// Removes the entries of calls that have ended and could not be removed then.
  ///
  /// Calls are stored when they are accepted, so nothing else waits to be written.
  ///
  /// - Returns: Whether they were removed. A failure is also reported; after a restart their calls are made again.
  @discardableResult
  public func flush() async -> Bool {
    let removals = self.state.withLock { state in
      defer { state.failedRemovals = [] }
      return state.failedRemovals
    }
    guard !removals.isEmpty else { return true }
    do {
      try await self.storage.apply(removals.sorted().map { .remove(key: $0) })
      return true
    } catch {
      self.state.withLock { $0.failedRemovals.formUnion(removals) }
      OperationWarning.report(storageFailedTo: "remove \(removals.count) journal entries", error)
      return false
    }
  }

  /// Removes an entry from the storage. If that fails, the next call that is stored removes it, too.
  nonisolated(nonsending) func removeEntry(_ key: String) async {
    do {
      try await self.storage.apply([.remove(key: key)])
    } catch {
      self.state.withLock { _ = $0.failedRemovals.insert(key) }
      OperationWarning.report(
        storageFailedTo: "remove the journal entry \(key). After a restart it is sent again",
        error
      )
    }
  }
}
