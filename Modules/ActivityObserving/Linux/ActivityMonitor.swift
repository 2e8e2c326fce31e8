#if os(Linux)
  internal import OperationControlGroups
  internal import OperationCore
  internal import OperationEventLoop

  /// Watches everything that affects whether the process is active, from `start` until the returned subscription is
  /// cancelled.
  final class ActivityMonitor: Sendable {
    struct Configuration: Sendable {
      var options: SignalActivityObserver.Options
      var inactive: Set<ProcessSignal> = []
      var active: Set<ProcessSignal> = []
      var procRoot = "/proc"
      var loop = EventLoop.shared
      var files = FileWatcher.shared
      /// How often to check whether the machine has slept, and whether the process is in the foreground.
      var sleepInterval = Duration.seconds(5)
      var foregroundInterval = Duration.seconds(1)
      /// How long the machine has slept in total.
      var timeAsleep: @Sendable () -> Duration = { SystemStatus.timeAsleep }
      /// Called when the machine has slept.
      var noteWakeUp: @Sendable () -> Void = { SystemDeadlineSource.noteWakeUp() }
      var isForeground: @Sendable () -> Bool? = { SystemStatus.isForeground }
      /// Subscribes to a signal.
      var relay: @Sendable (ProcessSignal, @escaping @Sendable () -> Void) -> OperationSubscription = {
        signal,
        handler in
        SignalRelay.shared.subscribe(to: signal, handler)
      }
      /// Installs handlers again for signals whose handler the program has replaced.
      var renewSignals: @Sendable () -> Void = { SignalRelay.shared.renew() }
    }

    private struct State {
      var activity: ActivityState
      /// Sends a value to the subscribers. Without subscribers, the next one receives it.
      var send: (@Sendable (Bool) -> Void)?
      var isStarted = false
      var timeAsleep = Duration.zero
      var freezer = Freezer.unknown
    }

    /// The watch on the control group that reports when the group is thawed.
    private enum Freezer {
      /// Not searched for yet, or the search or the watch has failed.
      case unknown
      /// The process has no control group that can be frozen.
      case absent
      case watched(OperationSubscription)
    }

    private let configuration: Configuration
    private let state: Locked<State>

    init(_ configuration: Configuration) {
      self.configuration = configuration
      self.state = Locked(State(activity: ActivityState(options: configuration.options)))
    }

    /// Whether the process is active, as last determined.
    var isActive: Bool { self.state.withLock { $0.activity.reported } }

    /// Sends each change from now on, even while nothing is watched, so that subscribers receive the value of
    /// `isActive`.
    func connect(_ send: @escaping @Sendable (Bool) -> Void) {
      self.state.withLock { $0.send = send }
    }

    /// Determines whether the process is active, and sends a change.
    func determine() -> Bool {
      let isForeground = self.foregroundIfNeeded()
      return self.state.withLock { state in
        let previous = state.activity.reported
        let isActive = state.activity.reset(isForeground: isForeground)
        if isActive != previous { state.send?(isActive) }
        return isActive
      }
    }

    func renewSignals() {
      self.configuration.renewSignals()
    }

    func mark(isInactive: Bool) {
      self.send { $0.mark(isInactive: isInactive) }
    }
  }

  // MARK: - Sending values

  extension ActivityMonitor {
    private func send(_ change: (inout ActivityState) -> [Bool]) {
      // `send` only queues the value. Sending with the lock held keeps the values of different threads in order.
      self.state.withLock { state in
        for value in change(&state.activity) { state.send?(value) }
      }
    }

    private func foregroundIfNeeded() -> Bool? {
      let options = self.configuration.options
      let isNeeded = options.contains(.watchesForeground) || !options.contains(.countsBackgroundAsActive)
      return isNeeded ? self.configuration.isForeground() : nil
    }
  }

  // MARK: - Watching

  extension ActivityMonitor {
    func start() -> OperationSubscription {
      let timeAsleep = self.configuration.timeAsleep()
      self.state.withLock { state in
        state.isStarted = true
        state.timeAsleep = timeAsleep
      }
      // The process may have come to the foreground since `determine`, or left it.
      let isForeground = self.foregroundIfNeeded()
      self.send { $0.update(isForeground: isForeground) }
      let signals = self.subscribeToSignals()
      self.watchFreezer()
      var timers = [
        self.configuration.loop.repeat(every: self.configuration.sleepInterval) { [weak self] in self?.checkForSleep() }
      ]
      if self.configuration.options.contains(.watchesForeground) {
        timers.append(
          self.configuration.loop.repeat(every: self.configuration.foregroundInterval) { [weak self] in
            self?.checkForeground()
          }
        )
      }
      return OperationSubscription { [timers] in
        signals.cancel()
        for timer in timers { timer.cancel() }
        self.stop()
      }
    }

    private func stop() {
      self.state.withLock { state, released in
        state.isStarted = false
        released.append(state.freezer)
        state.freezer = .unknown
      }
    }

    private func subscribeToSignals() -> OperationSubscription {
      var subscriptions: [OperationSubscription] = []
      subscriptions.append(self.configuration.relay(.cont) { [weak self] in self?.resume() })
      for signal in self.configuration.inactive {
        subscriptions.append(self.configuration.relay(signal) { [weak self] in self?.mark(isInactive: true) })
      }
      for signal in self.configuration.active {
        subscriptions.append(self.configuration.relay(signal) { [weak self] in self?.mark(isInactive: false) })
      }
      return .combined(subscriptions)
    }

    private func resume() {
      let isForeground = self.foregroundIfNeeded()
      self.send { $0.resume(isForeground: isForeground) }
    }

    private func checkForSleep() {
      // The watch may have failed before, and the program may have replaced a signal handler.
      self.configuration.renewSignals()
      self.watchFreezer()
      let timeAsleep = self.configuration.timeAsleep()
      let hasSlept = self.state.withLock { state in
        defer { state.timeAsleep = timeAsleep }
        // A shorter difference is the time between the readings of the two clocks.
        return timeAsleep - state.timeAsleep >= .seconds(1)
      }
      guard hasSlept else { return }
      self.configuration.noteWakeUp()
      self.resume()
    }

    private func checkForeground() {
      let isForeground = self.configuration.isForeground()
      self.send { $0.update(isForeground: isForeground) }
    }

    private func watchFreezer() {
      guard case .unknown = self.state.withLock({ $0.freezer }) else { return }
      let freezer = self.findFreezer()
      self.state.withLock { state, released in
        // The monitor may have been stopped meanwhile.
        guard state.isStarted else { return released.append(freezer) }
        released.append(state.freezer)
        state.freezer = freezer
      }
    }

    /// Watches the file that the kernel changes when the control group is thawed; the process is notified once it runs
    /// again.
    ///
    /// A process that reads that the group is frozen has been moved out of that group, so nothing is sent.
    private func findFreezer() -> Freezer {
      let root = self.configuration.procRoot
      guard let memberships = FileText.read(root + "/self/cgroup"), let mounts = FileText.read(root + "/self/mountinfo")
      else { return .unknown }
      let group = GroupChain.unified(GroupMembership.all(parsing: memberships), MountPoint.all(parsing: mounts))
      guard let path = group.map({ $0.own + "/cgroup.events" }), FileText.exists(path) else { return .absent }
      let watch = self.configuration.files.watch(path) { [weak self] _ in
        guard let text = FileText.read(path), KeyedNumbers(parsing: text)["frozen"] == 0 else { return }
        self?.resume()
      }
      return watch.map { .watched($0) } ?? .unknown
    }
  }
#endif
