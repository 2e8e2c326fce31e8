internal import OperationCore

extension MutationJournal {
  /// Reads the entries of earlier starts of the program, once, and sends nothing.
  ///
  /// Afterwards ``entries`` contains them. ``resume()`` and `client.restore()` read them as well.
  ///
  /// - Throws: The error of the storage. The next call tries again.
  nonisolated(nonsending) public func load() async throws {
    while true {
      let phase = self.state.withLock { state in
        defer { if state.loading == .unloaded { state.loading = .loading } }
        return state.loading
      }
      switch phase {
      case .loaded: return
      case .loading: await self.loadEnds()
      case .unloaded:
        let entries: ReadEntries
        do {
          entries = try await self.storage.journalEntries()
        } catch {
          self.endLoading(with: nil)
          throw error
        }
        self.endLoading(with: entries)
        return await self.remove(orphans: entries.orphans)
      }
    }
  }

  private nonisolated(nonsending) func loadEnds() async {
    let signal = self.state.withLock { state -> AwaitedOutcome<Void>? in
      guard state.loading == .loading else { return nil }
      let signal = AwaitedOutcome<Void>()
      state.loadWaiters.append(signal)
      return signal
    }
    await signal?.value()
  }

  /// Removes attempts whose calls an earlier version of the library has removed.
  private nonisolated(nonsending) func remove(orphans: [String]) async {
    for key in orphans {
      // If that fails, the next start does it.
      _ = try? await self.storage.apply(
        [.remove(key: key)],
        if: StorageKey.call(ofAttempts: key).map { [.absent(key: $0)] } ?? []
      )
    }
  }

  private func endLoading(with entries: ReadEntries?) {
    let read = entries ?? ReadEntries([], attempts: [])
    // This comes before the callers that wait for the entries continue.
    self.reportUnreadable(read.calls)
    self.change { state in
      if entries != nil {
        state.reserveCapacity(read.calls.count)
        for read in read.calls {
          let position = state.nextEarlierPosition()
          let call = (try? read.record?.get())?.afterProcess
          state.restore(call, from: read.key, read.version, at: position, .earlierStart(.thisProcess))
        }
        for (_, version, schedule) in read.schedules { state.setSchedule(schedule, version) }
        let numbers = read.calls.compactMap { StorageKey.number(ofCall: $0.key) }
        // The limit is far from the end of the integers, so that no key causes an overflow.
        state.numberBase = min(numbers.max() ?? 0, .max / 2)
        state.linkAll()
      }
      state.loading = entries == nil ? .unloaded : .loaded
      state.actions.signals += state.loadWaiters
      state.loadWaiters = []
    }
    if entries != nil {
      self.resumeByItself(.waiting)
      self.checkSchedules()
    }
  }

  func reportUnreadable(_ read: [ReadEntries.Call]) {
    for call in read {
      guard case .failure(let error)? = call.record else { continue }
      OperationWarning(
        code: .journalEntryUnreadable,
        severity: .failure,
        message: """
          The journal entry \(call.key) cannot be read: \(ShownText.of(error)). It is kept, and its call is not made. Use \
          a version of the program that can read it, or remove it with `remove(_:)`.
          """
      ).report()
    }
  }
}
