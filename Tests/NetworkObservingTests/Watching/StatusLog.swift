#if os(Linux)
  import OperationNetworkObserving
  import OperationTesting
  import Synchronization
  import Testing

  /// Writes down the statuses that are told, and lets tests wait for them.
  final class StatusLog: Sendable {
    private struct State {
      var all: [NetworkConnectionStatus] = []
      var waiting: [(@Sendable ([NetworkConnectionStatus]) -> Bool, Gate)] = []
    }

    private let state = Mutex(State())

    var all: [NetworkConnectionStatus] { self.state.withLock { $0.all } }

    func append(_ status: NetworkConnectionStatus) {
      let gates = self.state.withLock { state in
        state.all.append(status)
        let statuses = state.all
        let gates = state.waiting.filter { $0.0(statuses) }.map(\.1)
        state.waiting.removeAll { $0.0(statuses) }
        return gates
      }
      for gate in gates { gate.open() }
    }

    /// Waits until the last status is `status`.
    func last(_ status: NetworkConnectionStatus) async throws {
      let gate = Gate()
      self.state.withLock { state in
        if state.all.last == status { return gate.open() }
        state.waiting.append(({ $0.last == status }, gate))
      }
      try await gate.wait()
    }
  }
#endif
