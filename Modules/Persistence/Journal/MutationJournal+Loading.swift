internal import OperationCore

extension MutationJournal {
  /// Reads the entries of earlier starts of the program, once.
  ///
  /// - Throws: The error of the storage. The next call tries again.
  nonisolated(nonsending) func load() async throws {
    while true {
      let phase = self.state.withLock { state in
        defer { if state.loading == .unloaded { state.loading = .loading } }
        return state.loading
      }
      switch phase {
      case .loaded: return
      case .loading: await self.loadEnds()
      case .unloaded:
        let entries: [StorageEntry]
        do {
          entries = try await self.storage.entries(withPrefix: StorageKey.journal)
        } catch {
          self.endLoading(with: nil)
          throw error
        }
        return self.endLoading(with: entries)
      }
    }
  }

  private nonisolated(nonsending) func loadEnds() async {
    await withUnsafeContinuation { continuation in
      let isOver = self.state.withLock { state in
        guard state.loading == .loading else { return true }
        state.loadWaiters.append(continuation)
        return false
      }
      if isOver { continuation.resume() }
    }
  }

  private func endLoading(with entries: [StorageEntry]?) {
    let read = (entries ?? []).map { entry in (entry, Result { try JournalRecord.read(entry.value) }) }
    let waiters = self.state.withLock { state in
      if entries != nil {
        for (index, (entry, record)) in read.enumerated() {
          // The errors are reported below, without the lock.
          state.restore(try? record.get(), from: entry.key, at: Int64(index - read.count))
        }
        let numbers = read.compactMap { StorageKey.number(ofCall: $0.0.key) }
        // Far from the end of the integers, whatever the keys say.
        state.numberBase = min(numbers.max() ?? 0, .max / 2)
      }
      state.loading = entries == nil ? .unloaded : .loaded
      defer { state.loadWaiters = [] }
      return state.loadWaiters
    }
    for (entry, record) in read {
      guard case .failure(let error) = record else { continue }
      OperationWarning(
        code: .journalEntryUnreadable,
        severity: .failure,
        message: """
          The journal entry \(entry.key) cannot be read: \(error). It is kept, and its call is not made. Use a version of \
          the program that can read it, or remove it with `remove(_:)`.
          """
      ).report()
    }
    for waiter in waiters { waiter.resume() }
    if !read.isEmpty { self.noteChange() }
  }
}
