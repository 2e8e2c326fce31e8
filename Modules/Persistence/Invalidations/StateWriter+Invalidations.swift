internal import OperationCore
internal import Synchronization

extension StateWriter {
  /// Adds an invalidation to those that the storage remembers. It is written at once, before values that change later.
  ///
  /// - Parameters:
  ///   - subjects: What it concerns, as ``StoredSubject`` writes it.
  ///   - epoch: Its place in the order.
  ///   - deadlines: The deadlines that are used when writing has failed and is tried again.
  func note(_ subjects: [String], at epoch: InvalidationEpoch, _ deadlines: any DeadlineSource) {
    let starts = self.state.withLock { state, released in
      for (key, bytes) in state.invalidations.append(subjects, epoch.rawValue) {
        state.putDue(bytes, for: key, deadlines, &released)
      }
      state.putKnown(deadlines, &released)
      defer { state.isWriting = true }
      return !state.isWriting
    }
    if starts { Task(name: "write invalidations") { await self.write() } }
  }

  /// What the mark of a value says that is stored now; nil if the storage has no invalidations. `epoch` is what the run of
  /// the value had seen.
  func seen(_ epoch: InvalidationEpoch, _ deadlines: any DeadlineSource) -> ValueMark.Seen? {
    self.state.withLock { state, released in
      let seen = state.invalidations.seen(epoch)
      // It becomes due with the value.
      if seen != nil { state.putKnown(deadlines, &released) }
      return seen
    }
  }

  /// What a stored value has seen of this process, and whether it has not seen an invalidation that concerns it.
  func check(_ key: String, _ mark: ValueMark) -> (epoch: InvalidationEpoch, isInvalidated: Bool) {
    self.state.withLock { state in
      (state.invalidations.epoch(of: mark), mark.isInvalidated || state.invalidations.concern(key, mark))
    }
  }

  /// Reads the invalidations of earlier processes, once, before the first value that was read is used.
  nonisolated(nonsending) func loadInvalidations() async throws {
    let loading = self.state.withLock { state -> InvalidationsLoading in
      if state.invalidations.isLoaded { return .done }
      let waiter = AwaitedOutcome<Void>()
      defer { state.loadingWaiters = (state.loadingWaiters ?? []) + [waiter] }
      return state.loadingWaiters == nil ? .reads : .waits(waiter)
    }
    switch loading {
    case .done: return
    case .waits(let waiter):
      await waiter.value()
      try await self.loadInvalidations()
    case .reads:
      defer {
        let waiters = self.state.withLock { $0.loadingWaiters.take() } ?? []
        for waiter in waiters { waiter.decide() }
      }
      let entries = try await self.storage.entries(withPrefix: StoredInvalidations.prefix)
      let changes = self.state.withLock { state in
        // That of values that were read or put since stays: if it has ended, the next write is refused.
        state.era = state.era ?? StorageEra(entries)
        return state.invalidations.load(entries)
      }
      if !changes.isEmpty { try await self.storage.apply(changes) }
    }
  }
}

/// Who reads the invalidations.
private enum InvalidationsLoading {
  case done
  case reads
  case waits(AwaitedOutcome<Void>)
}

extension StateWriter.State {
  /// Adds an entry of the invalidations to what is written now.
  mutating func putDue(
    _ bytes: [UInt8]?,
    for key: String,
    _ deadlines: any DeadlineSource,
    _ released: inout ReleasedValues
  ) {
    let encode = bytes.map { bytes in { @Sendable () -> [UInt8] in bytes } }
    let content = StateWriter.Content(encode: encode, path: [], name: "invalidation", deadlines: deadlines)
    released.append(self.put(content, for: key))
    self.pending[key]?.isDue = true
  }

  /// Adds the entry that tells what this process has read of others, once.
  fileprivate mutating func putKnown(_ deadlines: any DeadlineSource, _ released: inout ReleasedValues) {
    if let (key, bytes) = self.invalidations.takeKnown() { self.putDue(bytes, for: key, deadlines, &released) }
  }
}
