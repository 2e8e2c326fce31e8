#if os(Linux)
  internal import OperationCore

  /// Answers single questions for the status while nobody subscribes.
  ///
  /// It has no thread. What it reads stays good until the kernel has something to tell, which one look at its socket shows;
  /// where the kernel tells nothing, as long as a watch would wait before it looked again.
  final class NetworkLookout: Sendable {
    private struct State {
      var reader: NetworkReader
      var status: NetworkConnectionStatus
      var date: Duration
      /// How often what was read has been found stale. A reading that is older than the last time is not kept.
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
        // The one that finds it stale reads it anew; others that ask meanwhile wait for nothing.
        if isStale { (state.date, state.generation) = (now, state.generation + 1) }
        return (state, isStale)
      }
      guard isStale else { return found.status }
      guard found.reader.feed != nil, let reading = try? found.reader.read() else {
        return self.reopen(found.generation)
      }
      let status = self.target.status(reading)
      self.state.withLock { state in
        // Who has found it stale since then has read it later, and keeps that.
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
