#if os(Linux)
  internal import OperationControlGroups
  internal import OperationCore
  internal import OperationEventLoop

  /// Watches all that says whether the process is active, from `start` until the subscription that it returns is cancelled.
  final class ActivityMonitor: Sendable {
    struct Configuration: Sendable {
      var options: SignalActivityObserver.Options
      var inactive: Set<ProcessSignal> = []
      var active: Set<ProcessSignal> = []
      var procRoot = "/proc"
      var loop = EventLoop.shared
      var files = FileWatcher.shared
      /// How often to look whether the machine has slept, and whether the process is in the foreground.
      var sleepInterval = Duration.seconds(5)
      var foregroundInterval = Duration.seconds(1)
      /// How long the machine has slept.
      var timeAsleep: @Sendable () -> Duration = { ProcessPlace.timeAsleep }
      var isForeground: @Sendable () -> Bool? = { ProcessPlace.isForeground }
      /// What calls when a signal comes.
      var relay: @Sendable (ProcessSignal, @escaping @Sendable () -> Void) -> OperationSubscription = {
        signal,
        handler in
        SignalRelay.shared.subscribe(to: signal, handler)
      }
      /// Takes signals that are not taken any more.
      var renewSignals: @Sendable () -> Void = { SignalRelay.shared.renew() }
    }

    private struct State {
      var activity: ActivityState
      /// Takes what is to be told, while somebody subscribes.
      var send: (@Sendable (Bool) -> Void)?
      /// What subscribers have heard last, or are about to.
      var announced = true
      var timeAsleep = Duration.zero
      var freezer = Freezer.unknown
    }

    /// What tells that the control group is thawed.
    private enum Freezer {
      /// Not looked for yet, or it could not be seen.
      case unknown
      /// There is none.
      case absent
      case watched(FileWatcher.Watch)
    }

    private let configuration: Configuration
    private let state: Locked<State>

    init(_ configuration: Configuration) {
      self.configuration = configuration
      self.state = Locked(State(activity: ActivityState(options: configuration.options)))
    }

    /// Whether the process is active by what is known.
    var isActive: Bool { self.state.withLock { $0.activity.told } }

    /// Whether the process is active, with a fresh look. Not to be asked between start and stop.
    func begin() -> Bool {
      let isForeground = self.foregroundIfNeeded()
      return self.state.withLock { state in
        state.announced = state.activity.begin(isForeground: isForeground)
        return state.announced
      }
    }

    func renewSignals() {
      self.configuration.renewSignals()
    }

    func mark(isInactive: Bool) {
      self.tell { $0.mark(isInactive: isInactive) }
    }
  }

  // MARK: - Telling

  extension ActivityMonitor {
    private func tell(_ change: (inout ActivityState) -> [Bool]) {
      // Sending only hands over, and doing so under the lock keeps what different threads tell in order.
      self.state.withLock { state in
        let values = change(&state.activity)
        guard let send = state.send else { return }
        for value in values { send(value) }
        state.announced = values.last ?? state.announced
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
    func start(_ send: @escaping @Sendable (Bool) -> Void) -> OperationSubscription {
      let timeAsleep = self.configuration.timeAsleep()
      self.state.withLock { state in
        state.send = send
        state.timeAsleep = timeAsleep
        // It may have been marked since it began.
        guard state.announced != state.activity.told else { return }
        state.announced = state.activity.told
        send(state.announced)
      }
      let signals = self.subscribeToSignals()
      self.watchFreezer()
      var timers = [
        self.configuration.loop.repeat(every: self.configuration.sleepInterval) { [weak self] in self?.lookForSleep() }
      ]
      if self.configuration.options.contains(.watchesForeground) {
        timers.append(
          self.configuration.loop.repeat(every: self.configuration.foregroundInterval) { [weak self] in
            self?.lookForForeground()
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
        released.append(state.send.take())
        released.append(state.freezer)
        state.freezer = .unknown
      }
    }

    private func subscribeToSignals() -> OperationSubscription {
      var subscriptions: [OperationSubscription] = []
      subscriptions.append(self.configuration.relay(.cont) { [weak self] in self?.goOn() })
      for signal in self.configuration.inactive {
        subscriptions.append(self.configuration.relay(signal) { [weak self] in self?.mark(isInactive: true) })
      }
      for signal in self.configuration.active {
        subscriptions.append(self.configuration.relay(signal) { [weak self] in self?.mark(isInactive: false) })
      }
      return .combined(subscriptions)
    }

    private func goOn() {
      let isForeground = self.foregroundIfNeeded()
      self.tell { $0.goOn(isForeground: isForeground) }
    }

    private func lookForSleep() {
      // What could not be had at first may be there by now, and the program may have taken a signal since.
      self.configuration.renewSignals()
      self.watchFreezer()
      let timeAsleep = self.configuration.timeAsleep()
      let hasSlept = self.state.withLock { state in
        defer { state.timeAsleep = timeAsleep }
        // Less is what lies between reading the one clock and the other.
        return timeAsleep - state.timeAsleep >= .seconds(1)
      }
      if hasSlept { self.goOn() }
    }

    private func lookForForeground() {
      let isForeground = self.configuration.isForeground()
      self.tell { $0.place(isForeground: isForeground) }
    }

    private func watchFreezer() {
      guard case .unknown = self.state.withLock({ $0.freezer }) else { return }
      let freezer = self.findFreezer()
      self.state.withLock { state, released in
        // It may have been stopped meanwhile.
        if state.send == nil { return released.append(freezer) }
        released.append(state.freezer)
        state.freezer = freezer
      }
    }

    /// The kernel tells of the end of a freeze as soon as the process runs again. A group that is frozen while the process
    /// reads that it is, is one from which the process has been moved.
    private func findFreezer() -> Freezer {
      let root = self.configuration.procRoot
      guard let memberships = FileText.read(root + "/self/cgroup"), let mounts = FileText.read(root + "/self/mountinfo")
      else { return .unknown }
      let group = GroupChain.unified(GroupMembership.all(parsing: memberships), MountPoint.all(parsing: mounts))
      guard let path = group.map({ $0.own + "/cgroup.events" }), FileText.exists(path) else { return .absent }
      let watch = self.configuration.files.watch(path) { [weak self] _ in
        guard let text = FileText.read(path), KeyedNumbers(parsing: text)["frozen"] == 0 else { return }
        self?.goOn()
      }
      return watch.map { .watched($0) } ?? .unknown
    }
  }
#endif
