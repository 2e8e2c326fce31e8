#if os(Linux)
  public import OperationCore

  /// Tells how short of memory the program's control group is, or the machine where there is no limit.
  ///
  /// It listens to what there is, and tells the worst of it:
  ///
  /// - what the service manager offers in `MEMORY_PRESSURE_WATCH`; else the stalls of the own group, or of the machine:
  ///   150 ms in 2 s in which a task stood still for want of memory are a warning, 100 ms in which all did are critical;
  /// - how often the group was held back by its limits (a warning), hit the hard one for longer or lost a process (critical);
  /// - how much of what the limits allow is in use: 85 % is a warning, 95 % is critical.
  ///
  /// The level rises at once, and falls after ten calm seconds when less than 80 % is in use. While memory is not short one
  /// timer looks every ten seconds; otherwise it sleeps until the kernel calls. While nobody subscribes there is nothing.
  public final class CgroupMemoryPressureSource: MemoryPressureSource, Sendable {
    private let broadcast: OnDemandBroadcast<MemoryPressure>

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - paths: Where to look.
    ///   - obeysServiceManager: Whether `MEMORY_PRESSURE_WATCH` decides what is watched; `/dev/null` there means nothing.
    public convenience init(paths: LinuxMemoryPaths = LinuxMemoryPaths(), obeysServiceManager: Bool = true) {
      self.init(PressureMonitor.Configuration(paths: paths, obeysServiceManager: obeysServiceManager))
    }

    init(_ configuration: PressureMonitor.Configuration) {
      let monitor = PressureMonitor(configuration)
      self.broadcast = OnDemandBroadcast {
        monitor.begin()
      } start: {
        monitor.start($0)
      }
    }

    /// Calls `handler` with the present level before it returns, and again with each that follows.
    ///
    /// Handlers run one after the other, on a thread of the concurrency runtime.
    public func subscribe(with handler: @escaping @Sendable (MemoryPressure) -> Void) -> OperationSubscription {
      self.broadcast.subscribe(handler)
    }

    /// Waits until the source is at work, or has stopped, and has told what there was to tell.
    package func settled() async {
      await self.broadcast.settled()
    }
  }

  extension MemoryPressureSource where Self == CgroupMemoryPressureSource {
    /// The source of the process, which all who ask for it share.
    public static var cgroup: CgroupMemoryPressureSource { .shared }
  }

  extension CgroupMemoryPressureSource {
    fileprivate static let shared = CgroupMemoryPressureSource()
  }
#endif
