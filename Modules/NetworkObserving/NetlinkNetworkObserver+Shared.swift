#if os(Linux)
  internal import Synchronization

  extension NetworkObserver where Self == NetlinkNetworkObserver {
    /// The observer that a process shares, which requires a default route.
    ///
    /// It starts watching with its first subscriber, and is released with its last reference.
    public static func startingShared() -> NetlinkNetworkObserver {
      SharedObserver.current.withLock { shared in
        if let observer = shared.observer { return observer }
        let observer = NetlinkNetworkObserver()
        shared.observer = observer
        return observer
      }
    }
  }

  private struct SharedObserver {
    static let current = Mutex(SharedObserver())

    weak var observer: NetlinkNetworkObserver?
  }
#endif
