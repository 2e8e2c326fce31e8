#if SwiftOperationDevtools
  internal import OperationCore
  public import OperationNetworkObserving

  extension Simulation {
    /// Creates a network observer for a client, whose network is away while ``Settings/isOffline`` is true.
    ///
    /// - Parameter base: Observes the network at other times; nil if it counts as connected then.
    /// - Returns: The observer.
    public func networkObserver(_ base: (any NetworkObserver & Sendable)? = nil) -> some NetworkObserver & Sendable {
      SimulatedNetworkObserver(base: base ?? MockNetworkObserver(), offline: self.offline)
    }
  }

  private struct SimulatedNetworkObserver: NetworkObserver {
    let base: any NetworkObserver & Sendable
    let offline: Broadcast<Bool>

    var currentStatus: NetworkConnectionStatus { self.offline.value ? .disconnected : self.base.currentStatus }

    func subscribe(with handler: @escaping @Sendable (NetworkConnectionStatus) -> Void) -> OperationSubscription {
      let shown = Broadcast<NetworkConnectionStatus?>(nil)
      let first = shown.subscribe { status in if let status { handler(status) } }
      let relay = Relay(shown)
      let base = self.base.subscribe { relay.receive(base: $0) }
      let offline = self.offline.subscribe { relay.receive(offline: $0) }
      relay.begin()
      return .combined([first, base, offline])
    }

    /// Puts the two conditions together. A broadcast hands the status on in order, and never twice in a row.
    private final class Relay: Sendable {
      private struct State: Sendable {
        var base: NetworkConnectionStatus?
        var isOffline = false
        var hasBegun = false
        var last: NetworkConnectionStatus?
      }

      private let state = Locked(State())
      private let shown: Broadcast<NetworkConnectionStatus?>

      init(_ shown: Broadcast<NetworkConnectionStatus?>) {
        self.shown = shown
      }

      func receive(base status: NetworkConnectionStatus) { self.change { $0.base = status } }

      func receive(offline isOffline: Bool) { self.change { $0.isOffline = isOffline } }

      /// Both have told their first status.
      func begin() { self.change { $0.hasBegun = true } }

      private func change(_ change: (inout State) -> Void) {
        let mustDeliver = self.state.withLock { state in
          change(&state)
          guard state.hasBegun, let base = state.base else { return false }
          let status = state.isOffline ? .disconnected : base
          if status == state.last { return false }
          state.last = status
          // In the order of the changes: under the lock, which calls no handler.
          return self.shown.enqueue(status)
        }
        if mustDeliver { self.shown.deliver() }
      }
    }
  }
#endif
