#if os(Linux)
  internal import OperationCore
  internal import Synchronization

  /// Answers single questions for the status while nobody subscribes.
  ///
  /// It has no thread. What it reads stays good until the kernel has something to tell, which one look at its socket shows;
  /// where the kernel tells nothing, as long as a watch would wait before it looked again.
  final class NetworkLookout: Sendable {
    private struct State {
      var reader: NetworkReader
      var status: NetworkConnectionStatus
      var date: Duration
    }

    private let target: NetworkTarget
    private let settings: WatchSettings
    private let state: Mutex<State>

    init(for target: NetworkTarget, _ settings: WatchSettings) {
      let date = settings.deadlines.elapsed
      let (reader, reading) = NetworkReader.open(settings.system, for: target)
      self.target = target
      self.settings = settings
      self.state = Mutex(State(reader: reader, status: target.status(reading), date: date))
    }

    var status: NetworkConnectionStatus {
      let now = self.settings.deadlines.elapsed
      let (reader, known): (NetworkReader, NetworkConnectionStatus?) = self.state.withLock { state in
        let isStale =
          if let feed = state.reader.feed { feed.drain() } else if let interval = state.reader.interval {
            now - state.date >= interval
          } else { false }
        // Who finds it stale reads it anew; others who ask meanwhile wait for nothing.
        if isStale { state.date = now }
        return (state.reader, isStale ? nil : state.status)
      }
      if let known { return known }
      guard reader.feed != nil, let reading = try? reader.read() else { return self.reopen() }
      let status = self.target.status(reading)
      self.state.withLock { $0.status = status }
      return status
    }

    private func reopen() -> NetworkConnectionStatus {
      let (reader, reading) = NetworkReader.open(self.settings.system, for: self.target)
      let status = self.target.status(reading)
      let former = self.state.withLock { state in
        defer { (state.reader, state.status) = (reader, status) }
        return state.reader
      }
      _ = consume former  // Closed after the lock.
      return status
    }
  }
#endif
