#if os(Linux)
  public import OperationCore

  /// Reports how short memory is in the control group of the process, or in the machine if the group has no limit.
  ///
  /// It combines three signals, and reports the worst of them:
  ///
  /// - stalls, from the file or socket that `MEMORY_PRESSURE_WATCH` names, or else of the group or of the machine: 150
  ///   ms of 2 s in which a task waited for memory are a warning, 100 ms of 2 s in which all tasks waited are critical;
  /// - limits: a group that reaches a limit is a warning; reaching the hard limit for longer, or losing a process, is
  ///   critical;
  /// - usage relative to the tightest limit: 85 % is a warning, 95 % is critical.
  ///
  /// The level rises at once, and falls after ten seconds without an event when less than 80 % is in use. While memory
  /// is not short, only a timer every ten seconds and notifications of the kernel wake it. Without subscribers it uses
  /// no resources.
  public final class CgroupMemoryPressureSource: MemoryPressureSource, Sendable {
    private let broadcast: OnDemandBroadcast<MemoryPressure>

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - paths: The paths to use.
    ///   - obeysServiceManager: Whether `MEMORY_PRESSURE_WATCH` chooses the source of stalls; `/dev/null` turns all
    ///     watching off.
    public convenience init(paths: LinuxMemoryPaths = LinuxMemoryPaths(), obeysServiceManager: Bool = true) {
      self.init(PressureMonitor.Configuration(paths: paths, obeysServiceManager: obeysServiceManager))
    }

    init(_ configuration: PressureMonitor.Configuration) {
      let monitor = PressureMonitor(configuration)
      self.broadcast = OnDemandBroadcast {
        monitor.initialLevel()
      } start: {
        monitor.start($0)
      }
    }

    /// Calls `handler` with the current level before it returns, and again with each level that follows.
    ///
    /// Handlers run one after the other, on a thread of the concurrency runtime, except for the first call.
    ///
    /// - Parameter handler: Receives the level.
    /// - Returns: A subscription whose cancellation or release ends the calls.
    public func subscribe(with handler: @escaping @Sendable (MemoryPressure) -> Void) -> OperationSubscription {
      self.broadcast.subscribe(handler)
    }

    /// Waits until the source has started or stopped, and has delivered all levels so far.
    package func settled() async {
      await self.broadcast.settled()
    }
  }

  extension MemoryPressureSource where Self == CgroupMemoryPressureSource {
    /// The source of the process, shared by all its users.
    public static var cgroup: CgroupMemoryPressureSource { .shared }
  }

  extension CgroupMemoryPressureSource {
    fileprivate static let shared = CgroupMemoryPressureSource()
  }
#endif
