#if os(Linux)
  public import OperationCore

  /// Watches the network of this machine, or container, by what the Linux kernel says of it.
  ///
  /// ```swift
  /// let query = query.rerunOnChange(of: .connected(to: .startingShared()))
  /// ```
  ///
  /// It looks at links, addresses and routes, and sends nothing to anybody: a network that is there and leads nowhere
  /// counts as connected. It watches while somebody subscribes, and a better status is told at once, a worse one when it has
  /// stayed worse for 400 ms. Handlers are called on a background queue, in order, except for the first call, which is made
  /// before ``subscribe(with:)`` returns.
  ///
  /// The network namespace is that of the thread that subscribes first, as long as its sockets serve. Where one has failed
  /// or was refused, it is opened anew on a background thread, or on the one that asks for ``currentStatus``, in the
  /// namespace of that thread. A program whose threads are in several namespaces needs a process for each to be sure.
  public final class NetlinkNetworkObserver: NetworkObserver, Sendable {
    private struct State {
      var subscriberCount = 0
      var watch: NetworkWatch?
      var lookout: NetworkLookout?
    }

    private let target: NetworkTarget
    private let settings: WatchSettings
    private let state = Locked(State())

    /// Creates an observer.
    ///
    /// - Parameters:
    ///   - requirement: What counts as being connected.
    ///   - isExcluded: Says which interfaces count for nothing. It is called whenever the network is looked at, on any
    ///     thread, while cancelling the last subscription may wait for it: it should only look at what it is given.
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

    /// How many subscriptions there are that have not been cancelled.
    var subscriberCount: Int { self.state.withLock { $0.subscriberCount } }
  }

  // MARK: - Observing

  extension NetlinkNetworkObserver {
    /// Calls `handler` with the current status before it returns, and again whenever the status changes.
    ///
    /// The first subscriber waits until the network has been read, which takes a fraction of a millisecond.
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

    /// The status now, from memory as long as somebody subscribes.
    ///
    /// Otherwise the network is read when it has changed since the last question; two sockets are kept for that until
    /// somebody subscribes or the observer goes.
    public var currentStatus: NetworkConnectionStatus {
      let (watch, known) = self.state.withLock { ($0.watch, $0.lookout) }
      if let watch { return watch.broadcast.value }
      if let known { return known.status }
      let lookout = NetworkLookout(for: self.target, self.settings)
      self.state.withLock { state in
        if state.watch == nil, state.lookout == nil { state.lookout = lookout }
      }
      return lookout.status
    }

    private func join() -> NetworkWatch {
      let known: NetworkWatch? = self.state.withLock { state in
        if state.watch != nil { state.subscriberCount += 1 }
        return state.watch
      }
      if let known { return known }
      // No lock is held while the network is read. Where two come at once, one of the readings is for nothing.
      let new = NetworkWatch(for: self.target, self.settings)
      let watch = self.state.withLock { state, released in
        state.subscriberCount += 1
        if let watch = state.watch { return watch }
        state.watch = new
        released.append(state.lookout.take())
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
