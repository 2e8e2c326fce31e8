public import OperationCore

extension ClientPersistence: OperationClientClearing {
  /// The storages whose values are not removed yet.
  public var remainingUntilCleared: [ClearingError.Remaining] {
    self.uncleared.withLock { Array($0.values) }.map { writer in
      .storage(
        writer.name,
        StorageError(
          code: .busy,
          message: "The storage has not removed its values in time. Look at what else uses it, and at its device."
        )
      )
    }
  }

  /// Removes all values of the client's storages, as ``removeAll(matching:from:)`` does.
  ///
  /// If nothing has used the journal of the client yet, the calls of earlier starts in its storage are removed, too.
  public nonisolated(nonsending) func clear() async -> [ClearingError.Remaining] {
    self.addWriterOfClient()
    let storage = self.client?.defaultContext.operationStorage
    let removals = self.allWriters.map { ($0, $0.beginRemoval(StorageKey.values)) }
    self.uncleared.withLock { uncleared in
      for (writer, _) in removals { uncleared[ObjectIdentifier(writer)] = writer }
    }
    var remaining: [ClearingError.Remaining] = []
    for (writer, removal) in removals {
      do {
        try await writer.wait(for: removal)
        if writer.storage === storage { remaining += try await self.clearUnusedJournal(in: writer.storage) }
        try await writer.storage.overwriteRemovedEntries()
      } catch {
        remaining.append(.storage(writer.name, error))
      }
      self.uncleared.withLock { released in _ = released.removeValue(forKey: ObjectIdentifier(writer)) }
    }
    return remaining
  }

  /// Removes the calls that earlier starts of the program have left. A journal that is in use removes them itself.
  private nonisolated(nonsending) func clearUnusedJournal(
    in storage: any PersistentStorage
  ) async throws -> [ClearingError.Remaining] {
    guard let client = self.client, client.attachment(of: MutationJournal.self) == nil,
      try await !storage.entries(withPrefix: StorageKey.journal).isEmpty
    else { return [] }
    return await client.journal.clear()
  }
}

extension ClientPersistence {
  /// Whether the client is forgetting a user.
  var isBeingCleared: Bool { self.client?.clearing != nil }

  /// Empties the stores whose values are kept in a storage from which another process has removed all.
  func resetStores(keptIn writer: StateWriter) {
    guard let client else { return }
    for store in client.stores() where store.context.storeLevels.contains(where: { $0.place?.level === writer }) {
      store.resetState()
    }
  }

  /// Notifies the program that another process has removed all values of a storage.
  func report(clearedBy writer: StateWriter) {
    self.client?.defaultContext.send(
      OperationNotice(.storageCleared, attributes: ["storage.name": .string(writer.name)])
    )
  }
}

extension OperationNotice.Name {
  /// Another process has removed all values of a storage, as when a user signs out there. The stores that have theirs in it
  /// were reset, and what waited to be written was dropped.
  ///
  /// The attribute `storage.name` is the type of the storage.
  public static let storageCleared = Self("storage.cleared")
}

extension MutationJournal: OperationClientClearing {
  /// The calls that are not removed yet.
  public var remainingUntilCleared: [ClearingError.Remaining] { [.journal(max(1, self.entries.count))] }

  /// Removes all calls, as ``removeAll(named:)`` does.
  public nonisolated(nonsending) func clear() async -> [ClearingError.Remaining] {
    await self.removeAll() ? [] : self.remainingUntilCleared
  }
}
