internal import FoundationEssentials
internal import OperationCore

extension MutationJournal {
  /// Stores a call. When this returns, the call is made even if the process ends.
  ///
  /// Calls of this method determine the order.
  nonisolated(nonsending) func accept(
    _ name: String,
    arguments: String,
    scope: String?,
    key: String?,
    date: Date,
    operationName: String,
    layersAt layerPlace: StateLayerPlace?
  ) async throws -> JournalTicket {
    let record = JournalRecord(
      id: key ?? self.makeKey(),
      name: name,
      scope: scope,
      acceptedAt: date.timeIntervalSinceReferenceDate,
      attempts: 1,
      isSetAside: false,
      arguments: arguments
    )
    let place = self.state.withLock { $0.add(record, layersAt: layerPlace) }
    do {
      let bytes = try StorageCoding.encode(record)
      try await self.load()
      let (storageKey, removals) = self.state.withLock { state -> (String, Set<String>) in
        let key = StorageKey.call(number: state.numberBase + UInt64(place), id: record.id)
        state.items[place]?.storageKey = key
        defer { state.failedRemovals = [] }
        return (key, state.failedRemovals)
      }
      do {
        try await self.storage.apply([.put(key: storageKey, value: bytes)] + removals.sorted().map { .remove(key: $0) })
      } catch {
        // The batch may have been written despite the error, which the caller receives. So the entry must not stay.
        self.state.withLock { $0.failedRemovals.formUnion(removals.union([storageKey])) }
        throw error
      }
    } catch {
      self.leave(place)
      throw error
    }
    self.state.withLock { $0.edit(place) { $0.isStored = true } }
    self.noteChange()
    return JournalTicket(
      journal: self,
      place: place,
      id: record.id,
      name: name,
      lane: scope,
      isReplay: false,
      operationName: operationName
    )
  }
}
