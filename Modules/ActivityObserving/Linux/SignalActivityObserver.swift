#if os(Linux)
  public import OperationCore

  /// Tells whether the process is active: not stopped, not frozen, and not marked inactive.
  ///
  /// A process that is stopped cannot tell so. When it goes on, by `SIGCONT`, when its control group is thawed, and when the
  /// machine has slept, it tells that it was inactive and is active again, so that what has gone stale meanwhile is rerun.
  ///
  /// The only signal that it takes by itself is `SIGCONT`, which does what it always does as well. A handler of the program is
  /// called as before. While nothing subscribes, signals are given back, except those that would end the process then.
  public final class SignalActivityObserver: ApplicationActivityObserver, Sendable {
    private let monitor: ActivityMonitor
    private let broadcast: OnDemandBroadcast<Bool>

    /// Creates an observer.
    ///
    /// Signals that end or stop the process are refused with a warning; integrate with whoever takes them, and call
    /// ``markInactive()`` there.
    ///
    /// - Parameters:
    ///   - inactive: Signals that mark the process inactive.
    ///   - active: Signals that mark it active again.
    ///   - options: What counts as active.
    public convenience init(
      inactive: Set<ProcessSignal> = [],
      active: Set<ProcessSignal> = [],
      options: Options = .countsBackgroundAsActive
    ) {
      var configuration = ActivityMonitor.Configuration(options: options)
      configuration.inactive = Self.taking(inactive)
      configuration.active = Self.taking(active)
      self.init(configuration)
    }

    init(_ configuration: ActivityMonitor.Configuration) {
      let monitor = ActivityMonitor(configuration)
      self.monitor = monitor
      self.broadcast = OnDemandBroadcast {
        monitor.begin()
      } start: {
        monitor.start($0)
      }
    }

    /// Whether the process is active, by what was seen last.
    public var isActive: Bool { self.monitor.isActive }

    /// Calls `handler` with whether the process is active before it returns, and again whenever that changes.
    ///
    /// Handlers run one after the other, on a thread of the concurrency runtime.
    public func subscribe(_ handler: @escaping @Sendable (Bool) -> Void) -> OperationSubscription {
      self.broadcast.subscribe(handler)
    }

    /// Takes signals again that the program has taken since, as is done every few seconds.
    package func renewSignals() {
      self.monitor.renewSignals()
    }

    /// Waits until the observer is at work, or has stopped, and has told what there was to tell.
    package func settled() async {
      await self.broadcast.settled()
    }
  }

  // MARK: - Marking

  extension SignalActivityObserver {
    /// Says that the process is inactive until ``markActive()``: it shuts down, or waits for something to do.
    public func markInactive() {
      self.monitor.mark(isInactive: true)
    }

    /// Says that the process is active again, after ``markInactive()`` or a signal.
    public func markActive() {
      self.monitor.mark(isInactive: false)
    }
  }

  // MARK: - Options

  extension SignalActivityObserver {
    /// What counts as active.
    public struct Options: OptionSet, Hashable, Sendable {
      public let rawValue: UInt8

      public init(rawValue: UInt8) {
        self.rawValue = rawValue
      }

      /// A job in the background of a terminal is active, as a service without a terminal always is.
      public static let countsBackgroundAsActive = Options(rawValue: 1 << 0)

      /// Looks every second whether the process has come to the foreground of its terminal, of which no signal tells.
      ///
      /// When it has it is active again, also where the background counts as active.
      public static let watchesForeground = Options(rawValue: 1 << 1)
    }

    private static func taking(_ signals: Set<ProcessSignal>) -> Set<ProcessSignal> {
      signals.filter { signal in
        guard let refusal = signal.refusal else { return true }
        OperationWarning(
          code: .signalInUse,
          message: "The signal \(signal.rawValue) is not taken to observe activity: \(refusal)."
        ).report()
        return false
      }
    }
  }
#endif
