#if os(Linux)
  internal import OperationCore
  internal import OperationEventLoop

  /// Watches all signals of memory pressure, from `start` until the returned subscription is cancelled.
  ///
  /// Everything happens on the thread of the loop, so levels are reported in order.
  final class PressureMonitor: Sendable {
    struct Configuration: Sendable {
      var paths: LinuxMemoryPaths
      var obeysServiceManager = true
      var intervals = Intervals()
      var loop = EventLoop.shared
      var files = FileWatcher.shared
      /// Opens a source of stalls.
      var open: @Sendable (StallSource, Duration) throws(SystemFailure) -> [any PressureInput] = {
        source,
        time throws(SystemFailure) in
        try source.inputs(at: time)
      }
      /// The time since a fixed moment.
      var elapsed: @Sendable () -> Duration = { SystemDeadlineSource().elapsed }
    }

    /// How often the usage is checked, and lost inputs are reopened.
    struct Intervals: Sendable {
      var calm = Duration.seconds(10)
      var raised = Duration.seconds(2)
      /// The minimum time between two reopenings.
      var reopening = Duration.seconds(10)
    }

    private struct State {
      var level = PressureLevel()
      var inputs: PressureInputs?
      /// The watch or registration of each input.
      var subscriptions: [ObjectIdentifier: OperationSubscription] = [:]
      var timer = SubscriptionSlot()
      var isStarted = false
      /// Counts openings and stops. Callbacks of an earlier generation are ignored.
      var generation: UInt64 = 0
      var reopening: ReopeningPlan
    }

    /// Inputs and subscriptions to cancel, and then to close, without the lock.
    private struct ReleasedInputs {
      var inputs: PressureInputs?
      var subscriptions: [ObjectIdentifier: OperationSubscription]
      var timer: OperationSubscription?

      consuming func cancel() {
        for subscription in self.subscriptions.values { subscription.cancel() }
        self.timer?.cancel()
      }
    }

    private let configuration: Configuration
    private let state: Locked<State>

    init(_ configuration: Configuration) {
      self.configuration = configuration
      self.state = Locked(State(reopening: ReopeningPlan(pause: configuration.intervals.reopening)))
    }
  }

  // MARK: - Starting and stopping

  extension PressureMonitor {
    /// Returns the initial level, from the current usage. Must not be called while the monitor is started.
    func initialLevel() -> MemoryPressure {
      let (paths, now) = (self.configuration.paths, self.configuration.elapsed())
      let isOff = self.configuration.obeysServiceManager && ServiceManagerWatch(environment: paths.environment) == .off
      let usage = isOff ? nil : MemoryUsage.fraction(in: MemoryGroups(paths: paths), procRoot: paths.procRoot)
      return self.state.withLock { state in
        state.level = PressureLevel()
        return state.level.note(usage: usage, at: now) ?? .normal
      }
    }

    func start(_ send: @escaping @Sendable (MemoryPressure) -> Void) -> OperationSubscription {
      self.state.withLock { state in
        state.isStarted = true
        state.reopening = ReopeningPlan(pause: self.configuration.intervals.reopening)
      }
      self.open(after: nil, send)
      return OperationSubscription { self.stop() }
    }

    private func stop() {
      let released = self.state.withLock { state in
        state.isStarted = false
        state.generation += 1
        var released = self.takeInputs(&state)
        released.timer = state.timer.clear()
        return released
      }
      released.cancel()
    }

    private func takeInputs(_ state: inout State) -> ReleasedInputs {
      defer { (state.inputs, state.subscriptions) = (nil, [:]) }
      return ReleasedInputs(inputs: state.inputs, subscriptions: state.subscriptions)
    }

    /// Opens the available inputs, in place of the inputs of the generation `previous`.
    private func open(after previous: UInt64?, _ send: @escaping @Sendable (MemoryPressure) -> Void) {
      let now = self.configuration.elapsed()
      let begun = self.state.withLock { state -> (UInt64, Set<StallSource>, ReleasedInputs)? in
        guard state.isStarted, previous == nil || previous == state.generation else { return nil }
        state.generation += 1
        if previous != nil { state.reopening.reopen(at: now) }
        // The timer stays, because its callback may be running now: a concurrent `stop` waits for that callback.
        return (state.generation, state.reopening.refused, self.takeInputs(&state))
      }
      guard let (generation, refused, released) = begun else { return }
      released.cancel()
      let inputs = PressureInputs(
        paths: self.configuration.paths,
        obeysServiceManager: self.configuration.obeysServiceManager,
        opening: self.configuration.open,
        without: refused,
        window: PressureLevel.repetition,
        at: now
      )
      guard let inputs else { return }
      let isCurrent = self.state.withLock { state in
        // The monitor may have been stopped meanwhile.
        guard state.generation == generation else { return false }
        state.inputs = inputs
        if inputs.hasShortage {
          state.reopening.note(gone: nil, at: now, delay: self.configuration.intervals.raised)
        }
        return true
      }
      guard isCurrent else { return }
      let handle = Handle(monitor: self, generation: generation, send: send)
      for stall in inputs.stalls { self.register(stall, handle) }
      if let limits = inputs.limits { self.watch(limits, handle) }
      self.setTimer(handle, after: .zero)
    }

    private func watch(_ limits: LimitInput, _ handle: Handle) {
      let watch = self.configuration.files.watch(limits.path) { _ in
        handle.receive(limits.read(at: self.configuration.elapsed()), from: limits)
      }
      guard let watch else { return self.register(limits, handle) }
      self.keep(watch, for: limits, handle)
    }

    private func register(_ input: any PressureInput, _ handle: Handle) {
      let registration = self.configuration.loop.watch(input.descriptor, for: input.events) { events in
        handle.receive(input.read(events, at: self.configuration.elapsed()), from: input)
      }
      self.keep(OperationSubscription { registration.cancel() }, for: input, handle)
    }

    private func keep(_ subscription: OperationSubscription, for input: any PressureInput, _ handle: Handle) {
      let isKept = self.state.withLock { state in
        // The monitor may have been stopped meanwhile, or the input may be lost already.
        guard state.generation == handle.generation, state.inputs?.contains(input) ?? false else { return false }
        state.subscriptions[ObjectIdentifier(input)] = subscription
        return true
      }
      if !isKept { subscription.cancel() }
    }
  }

  // MARK: - Checking

  extension PressureMonitor {
    /// The values that the callbacks of one generation capture.
    private struct Handle: Sendable {
      let monitor: PressureMonitor
      let generation: UInt64
      let send: @Sendable (MemoryPressure) -> Void

      func receive(_ reading: PressureReading, from input: any PressureInput) {
        self.monitor.receive(reading, from: input, self)
      }
    }

    private func receive(_ reading: PressureReading, from input: any PressureInput, _ handle: Handle) {
      let now = self.configuration.elapsed()
      switch reading {
      case .nothing:
        break
      case .pressure(let pressure):
        let level = self.state.withLock { state -> MemoryPressure? in
          guard state.generation == handle.generation else { return nil }
          return state.level.note(pressure, at: now)
        }
        guard let level else { return }
        handle.send(level)
        // A raised level is checked more often.
        self.scheduleCheck(handle, at: now)
      case .gone:
        self.drop(input, handle, at: now)
      }
    }

    /// Removes an input that would report its loss again and again. The others stay until the inputs are reopened.
    private func drop(_ input: any PressureInput, _ handle: Handle, at now: Duration) {
      let (isDropped, subscription) = self.state.withLock { state -> (Bool, OperationSubscription?) in
        guard state.generation == handle.generation, let inputs = state.inputs, inputs.contains(input) else {
          return (false, nil)
        }
        state.inputs?.remove(input)
        let source = inputs.isStall(input) ? inputs.source : nil
        state.reopening.note(gone: source, at: now, delay: self.configuration.intervals.raised)
        return (true, state.subscriptions.removeValue(forKey: ObjectIdentifier(input)))
      }
      subscription?.cancel()
      if isDropped { self.scheduleCheck(handle, at: now) }
    }

    private func check(_ handle: Handle) {
      let now = self.configuration.elapsed()
      let (inputs, isReopening) = self.state.withLock { state -> (PressureInputs?, Bool) in
        guard state.generation == handle.generation else { return (nil, false) }
        return state.reopening.isDue(at: now) ? (nil, true) : (state.inputs, false)
      }
      if isReopening { return self.open(after: handle.generation, handle.send) }
      guard let inputs else { return }
      for stall in inputs.stalls { stall.sample(at: now) }
      let usage = MemoryUsage.fraction(in: inputs.groups, procRoot: self.configuration.paths.procRoot)
      if let level = self.state.withLock({ $0.level.note(usage: usage, at: now) }) { handle.send(level) }
      self.scheduleCheck(handle, at: now)
    }

    /// Schedules the next check, after the interval for the level, or for the reopening of inputs if that is earlier.
    private func scheduleCheck(_ handle: Handle, at now: Duration) {
      let intervals = self.configuration.intervals
      let delay = self.state.withLock { state in
        let interval = state.level.current == .normal ? intervals.calm : intervals.raised
        return min(interval, state.reopening.due.map { max(.zero, $0 - now) } ?? interval)
      }
      self.setTimer(handle, after: delay)
    }

    private func setTimer(_ handle: Handle, after delay: Duration) {
      let number = self.state.withLock { state in
        state.generation == handle.generation ? state.timer.reserve() : nil
      }
      guard let number else { return }
      let timer = self.configuration.loop.schedule(after: delay) { self.check(handle) }
      let subscription = OperationSubscription { timer.cancel() }
      self.state.withLock { $0.timer.keep(subscription, number: number) }?.cancel()
    }
  }
#endif
