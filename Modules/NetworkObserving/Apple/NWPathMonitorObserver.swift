#if canImport(Network)
  internal import Dispatch
  public import Network
  public import OperationCore
  internal import Synchronization

  /// Observes the network by a path monitor of the system.
  ///
  /// ```swift
  /// .rerunOnChange(of: .connected(to: NWPathMonitorObserver.startingShared()))
  /// ```
  ///
  /// A network without access to the internet, such as one with a login page, counts as connected. It is compiled as on Apple's
  /// systems, and was never run there.
  public final class NWPathMonitorObserver: NetworkObserver, @unchecked Sendable {
    // Unchecked because of the monitor: `init` starts it, `deinit` cancels it, and nothing else uses it.
    private let monitor: NWPathMonitor
    /// Nil until the monitor has reported a path.
    private let status = Broadcast<NetworkConnectionStatus?>(nil)

    /// Creates an observer, and starts its monitor.
    ///
    /// - Parameter monitor: A monitor that was not started, such as one for a type of interface. The observer cancels it at its end.
    public init(_ monitor: NWPathMonitor = NWPathMonitor()) {
      self.monitor = monitor
      monitor.pathUpdateHandler = { [status] path in
        status.send(NetworkConnectionStatus(path.status))
      }
      monitor.start(queue: DispatchQueue(label: "swift-operation.network"))
    }

    deinit {
      self.monitor.cancel()
    }

    /// The status that the monitor has reported last; connected until it has reported one.
    public var currentStatus: NetworkConnectionStatus { self.status.value ?? .connected }

    /// Calls `handler` with the current status before it returns, if the monitor has reported one, and again with each change.
    ///
    /// - Parameter handler: Receives the status, on a queue of the observer but for the first call.
    /// - Returns: A subscription whose cancellation or release ends the calls.
    public func subscribe(
      with handler: @escaping @Sendable (NetworkConnectionStatus) -> Void
    ) -> OperationSubscription {
      self.status.subscribe { status in
        if let status { handler(status) }
      }
    }
  }

  extension NetworkConnectionStatus {
    fileprivate init(_ status: NWPath.Status) {
      // Comparisons, because the system may add cases.
      if status == .satisfied {
        self = .connected
      } else if status == .requiresConnection {
        self = .requiresConnection
      } else {
        self = .disconnected
      }
    }
  }

  extension NetworkObserver where Self == NWPathMonitorObserver {
    /// The observer that a process shares. It is released with its last reference.
    ///
    /// - Returns: The observer, whose monitor is running.
    public static func startingShared() -> NWPathMonitorObserver {
      SharedObserver.current.withLock { shared in
        if let observer = shared.observer { return observer }
        let observer = NWPathMonitorObserver()
        shared.observer = observer
        return observer
      }
    }
  }

  private struct SharedObserver {
    static let current = Mutex(SharedObserver())

    weak var observer: NWPathMonitorObserver?
  }
#endif
