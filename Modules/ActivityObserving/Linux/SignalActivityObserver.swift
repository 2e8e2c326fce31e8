#if os(Linux)
  public import OperationCore

  /// Observes whether the process is active: not stopped, not frozen, and not marked inactive.
  ///
  /// A stopped process cannot run code. When it continues after `SIGCONT`, when its control group is thawed, and after
  /// the machine has slept, the observer reports inactive and then active, so that stale operations are rerun.
  ///
  /// By default it handles only `SIGCONT`, which continues the process as before, and calls the handler that the
  /// program has installed for it. Without subscribers it restores the previous actions, except for signals that would
  /// then end the process.
  public final class SignalActivityObserver: ApplicationActivityObserver, Sendable {
    private let monitor: ActivityMonitor
    private let broadcast: OnDemandBroadcast<Bool>

    /// Creates an observer.
    ///
    /// Signals that end or stop the process are refused with a warning. Call ``markInactive()`` from the code that
    /// handles them.
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
      configuration.inactive = Self.accepted(inactive)
      configuration.active = Self.accepted(active)
      self.init(configuration)
    }

    init(_ configuration: ActivityMonitor.Configuration) {
      let monitor = ActivityMonitor(configuration)
      let broadcast = OnDemandBroadcast {
        monitor.determine()
      } start: { _ in
        monitor.start()
      }
      monitor.connect { [weak broadcast] in broadcast?.send($0) }
      (self.monitor, self.broadcast) = (monitor, broadcast)
    }

    /// Whether the process is active, as last determined. A new subscriber receives this value.
    public var isActive: Bool { self.monitor.isActive }

    /// Calls `handler` with the current value before it returns, and again with each change.
    ///
    /// Handlers run one after the other, on a thread of the concurrency runtime, except for the first call.
    ///
    /// - Parameter handler: Receives whether the process is active.
    /// - Returns: A subscription whose cancellation or release ends the calls.
    public func subscribe(_ handler: @escaping @Sendable (Bool) -> Void) -> OperationSubscription {
      self.broadcast.subscribe(handler)
    }

    /// Installs handlers again for signals whose handler the program has replaced. A timer does the same every few
    /// seconds.
    package func renewSignals() {
      self.monitor.renewSignals()
    }

    /// Waits until the observer has started or stopped, and has delivered all values so far.
    package func settled() async {
      await self.broadcast.settled()
    }
  }

  // MARK: - Marking

  extension SignalActivityObserver {
    /// Marks the process inactive until ``markActive()`` is called, for example because it shuts down or has no work.
    public func markInactive() {
      self.monitor.mark(isInactive: true)
    }

    /// Marks the process active again, after ``markInactive()`` or a signal.
    public func markActive() {
      self.monitor.mark(isInactive: false)
    }
  }

  // MARK: - Options

  extension SignalActivityObserver {
    /// What counts as active.
    public struct Options: OptionSet, Hashable, Sendable {
      /// The options as bits.
      public let rawValue: UInt8

      /// Creates options from bits.
      public init(rawValue: UInt8) {
        self.rawValue = rawValue
      }

      /// A job in the background of a terminal is active. A service without a terminal always is.
      public static let countsBackgroundAsActive = Options(rawValue: 1 << 0)

      /// Checks every second whether the process has come to the foreground of its terminal. No signal reports that.
      ///
      /// Coming to the foreground is reported as inactive and then active if the background counts as active.
      public static let watchesForeground = Options(rawValue: 1 << 1)
    }

    /// The signals that may be handled. Warns of the others.
    private static func accepted(_ signals: Set<ProcessSignal>) -> Set<ProcessSignal> {
      signals.filter { signal in
        guard let refusal = signal.refusal else { return true }
        OperationWarning(
          code: .signalInUse,
          message: "The signal \(signal.rawValue) cannot be used to observe activity: \(refusal)."
        ).report()
        return false
      }
    }
  }
#endif
