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
    let signal = self.state.withLock { state -> AwaitedOutcome<Void>? in
      guard state.loading == .loading else { return nil }
      let signal = AwaitedOutcome<Void>()
      state.loadWaiters.append(signal)
      return signal
    }
    await signal?.value()
  }

  private func endLoading(with entries: [StorageEntry]?) {
    let read = ReadEntries(entries ?? [])
    // This comes before the callers that wait for the entries continue.
    self.reportUnreadable(read.calls.map { ($0.key, $0.record) })
    let (date, now) = (self.date, self.deadlines.elapsed)
    self.change { state in
      if entries != nil {
        for (key, version, record) in read.calls {
          let place = state.nextEarlierPlace()
          let call = (try? record.get())?.afterProcess
          state.restore(call, from: key, version, at: place, isFromEarlierStart: true)
          if state.watchesExpiry { state.setExpiry(of: place, at: date, now) }
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

  func reportUnreadable(_ read: [(key: String, record: Result<JournalRecord, any Error>)]) {
    for (key, record) in read {
      guard case .failure(let error) = record else { continue }
      OperationWarning(
        code: .journalEntryUnreadable,
        severity: .failure,
        message: """
          The journal entry \(key) cannot be read: \(error). It is kept, and its call is not made. Use a version of \
          the program that can read it, or remove it with `remove(_:)`.
          """
      ).report()
    }
  }
}

/// The entries of a journal, by what they are.
struct ReadEntries: Sendable {
  /// The calls, and the entries that cannot be read.
  private(set) var calls: [(key: String, version: StorageVersion, record: Result<JournalRecord, any Error>)] = []
  private(set) var schedules: [(key: String, version: StorageVersion, record: ScheduleRecord)] = []

  init(_ entries: [StorageEntry]) {
    self.calls.reserveCapacity(entries.count)
    for entry in entries {
      guard StorageKey.isSchedule(entry.key) else {
        self.calls.append((entry.key, entry.version, Result { try JournalRecord.read(entry.value) }))
        continue
      }
      do {
        self.schedules.append((entry.key, entry.version, try ScheduleRecord.read(entry.value)))
      } catch {
        self.calls.append((entry.key, entry.version, .failure(error)))
      }
    }
  }
}
