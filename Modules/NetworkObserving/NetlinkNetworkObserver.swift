#if os(Linux)
  public import OperationCore

  /// Observes the network of this machine or container, as reported by the Linux kernel.
  ///
  /// ```swift
  /// let query = query.rerunOnChange(of: .connected(to: .startingShared()))
  /// ```
  ///
  /// It reads links, addresses and routes, and sends no packets, so it does not notice that a router has no uplink. It
  /// watches while there are subscribers. A better status is reported at once, a worse one only if it lasts for 400 ms.
  /// Handlers run one after the other, on a thread of the concurrency runtime, except for the first call, which happens
  /// before ``subscribe(with:)`` returns.
  ///
  /// It observes the network namespace of the thread that subscribes first, as long as its sockets work. A socket that
  /// has failed or was refused is opened again in the namespace of a background thread, or of the thread that reads
  /// ``currentStatus``. If the threads of a program are in several namespaces, use a process for each.
  public final class NetlinkNetworkObserver: NetworkObserver, Sendable {
    private struct State {
      var subscriberCount = 0
      var watch: NetworkWatch?
      var statusCache: NetworkStatusCache?
    }

    private let target: NetworkTarget
    private let settings: WatchSettings
    private let state = Locked(State())

    /// Creates an observer.
    ///
    /// - Parameters:
    ///   - requirement: The requirement for the status `connected`.
    ///   - isExcluded: Returns true for interfaces to ignore. It is called on any thread, each time the network is
    ///     read. Cancelling the last subscription may wait for it, so it should only use its argument.
    public convenience init(
      requirement: Requirement = .defaultRoute,
      excluding isExcluded: (@Sendable (Interface) -> Bool)? = nil
    ) {
      self.init(requirement: requirement, excluding: isExcluded, settings: WatchSettings())
    }

    init(requirement: Requirement, excluding isExcluded: (@Sendable (Interface) -> Bool)?, settings: WatchSettings) {
      var target = NetworkTarget(kind: requirement.kind)
      if let isExcluded { target.isExcluded = { isExcluded(Interface($0)) } }
      self.target = target
      self.settings = settings
    }

    /// The number of subscriptions that have not been cancelled.
    var subscriberCount: Int { self.state.withLock { $0.subscriberCount } }
  }

  // MARK: - Observing

  extension NetlinkNetworkObserver {
    /// Calls `handler` with the current status before it returns, and again with each change.
    ///
    /// The first subscriber waits until the network has been read, which takes a fraction of a millisecond.
    ///
    /// - Parameter handler: Receives the status.
    /// - Returns: A subscription whose cancellation or release ends the calls.
    public func subscribe(
      with handler: @escaping @Sendable (NetworkConnectionStatus) -> Void
    ) -> OperationSubscription {
      let watch = self.join()
      let subscription = watch.broadcast.subscribe(handler)
      return OperationSubscription {
        subscription.cancel()
        self.leave()
      }
    }

    /// The current status, which is read from memory while there are subscribers.
    ///
    /// Without subscribers, the network is read again if it has changed since the last call. Two sockets are kept for
    /// that until there is a subscriber or the observer is released.
    public var currentStatus: NetworkConnectionStatus {
      let (watch, known) = self.state.withLock { ($0.watch, $0.statusCache) }
      if let watch { return watch.broadcast.value }
      if let known { return known.status }
      let statusCache = NetworkStatusCache(for: self.target, self.settings)
      self.state.withLock { state in
        if state.watch == nil, state.statusCache == nil { state.statusCache = statusCache }
      }
      return statusCache.status
    }

    private func join() -> NetworkWatch {
      let known: NetworkWatch? = self.state.withLock { state in
        if state.watch != nil { state.subscriberCount += 1 }
        return state.watch
      }
      if let known { return known }
      // No lock is held while the network is read. If two callers read at once, one of the readings is discarded.
      let new = NetworkWatch(for: self.target, self.settings)
      let watch = self.state.withLock { state, released in
        state.subscriberCount += 1
        if let watch = state.watch { return watch }
        state.watch = new
        released.append(state.statusCache.take())
        return new
      }
      if watch === new { new.start() }
      return watch
    }

    private func leave() {
      let watch: NetworkWatch? = self.state.withLock { state in
        state.subscriberCount -= 1
        return state.subscriberCount == 0 ? state.watch.take() : nil
      }
      watch?.stop()
    }
  }
#endif
