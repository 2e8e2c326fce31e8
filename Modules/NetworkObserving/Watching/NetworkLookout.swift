#if os(Linux)
  internal import OperationCore

  /// Provides the current status while there are no subscribers.
  ///
  /// It has no thread. A reading is reused until the kernel reports a change, which is checked with one read of the
  /// socket. Without notifications, it is reused for as long as a watch would wait between two readings.
  final class NetworkLookout: Sendable {
    private struct State {
      var reader: NetworkReader
      var status: NetworkConnectionStatus
      var date: Duration
      /// Counts how often the status was found stale. A reading from an earlier generation is not stored.
      var generation: UInt64 = 0
    }

    private let target: NetworkTarget
    private let settings: WatchSettings
    private let state: Locked<State>

    init(for target: NetworkTarget, _ settings: WatchSettings) {
      let date = settings.deadlines.elapsed
      let (reader, reading) = NetworkReader.open(settings.system, for: target)
      self.target = target
      self.settings = settings
      self.state = Locked(State(reader: reader, status: target.status(reading), date: date))
    }

    var status: NetworkConnectionStatus {
      let now = self.settings.deadlines.elapsed
      let (found, isStale) = self.state.withLock { state in
        let isStale =
          if let feed = state.reader.feed { feed.drain() } else if let interval = state.reader.interval {
            now - state.date >= interval
          } else { false }
        // The caller that finds the status stale reads the network; other callers meanwhile get the old status without
        // waiting.
        if isStale { (state.date, state.generation) = (now, state.generation + 1) }
        return (state, isStale)
      }
      guard isStale else { return found.status }
      guard found.reader.feed != nil, let reading = try? found.reader.read() else {
        return self.reopen(found.generation)
      }
      let status = self.target.status(reading)
      self.state.withLock { state in
        // A caller that has found the status stale since then has a newer reading.
        if state.generation == found.generation { state.status = status }
      }
      return status
    }

    private func reopen(_ generation: UInt64) -> NetworkConnectionStatus {
      let (reader, reading) = NetworkReader.open(self.settings.system, for: self.target)
      let status = self.target.status(reading)
      self.state.withLock { state, released in
        guard state.generation == generation else { return }
        released.append(state.reader)
        (state.reader, state.status) = (reader, status)
      }
      return status
    }
  }
#endif
