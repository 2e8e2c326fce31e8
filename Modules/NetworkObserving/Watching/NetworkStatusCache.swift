#if os(Linux)
  internal import OperationCore

  /// Stores the current status while there are no subscribers, without a thread.
  ///
  /// A reading is used until the kernel reports a change, which one read of the socket checks. Without notifications,
  /// it is used for as long as a watch waits between two readings.
  final class NetworkStatusCache: Sendable {
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
      let (current, isStale) = self.state.withLock { state in
        let isStale =
          if let feed = state.reader.feed { feed.drain() } else if let interval = state.reader.interval {
            now - state.date >= interval
          } else { false }
        // The caller that finds the status stale reads the network. Meanwhile others get the old status at once.
        if isStale { (state.date, state.generation) = (now, state.generation + 1) }
        return (state, isStale)
      }
      guard isStale else { return current.status }
      // A reader without notifications, or one that fails, is replaced by the best one that works now.
      guard current.reader.feed != nil, let reading = try? current.reader.read() else {
        return self.reopen(current.generation)
      }
      let status = self.target.status(reading)
      self.state.withLock { state in
        // A caller that has found the status stale since then has a newer reading.
        if state.generation == current.generation { state.status = status }
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
