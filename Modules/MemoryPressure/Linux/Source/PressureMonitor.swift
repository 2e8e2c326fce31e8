#if os(Linux)
  internal import OperationCore
  internal import OperationEventLoop
  internal import Synchronization

  /// Watches all that tells of memory, from `start` until the subscription that it returns is cancelled.
  ///
  /// Everything happens on the thread of the loop, so levels are told in the order in which they came.
  final class PressureMonitor: Sendable {
    struct Configuration: Sendable {
      var paths: LinuxMemoryPaths
      var obeysServiceManager = true
      var intervals = Intervals()
      var loop = EventLoop.shared
      var files = FileWatcher.shared
      /// The time since some fixed moment.
      var elapsed: @Sendable () -> Duration = { SystemDeadlineSource().elapsed }
    }

    /// How often somebody looks at how much memory is in use.
    struct Intervals: Sendable {
      var calm = Duration.seconds(10)
      var raised = Duration.seconds(2)
    }

    private struct State {
      var level = PressureLevel()
      var inputs: PressureInputs?
      var registrations: [EventLoop.Registration] = []
      var watch: FileWatcher.Watch?
      var timer: EventLoop.Registration?
      var isStarted = false
      /// Counts the openings and the stops; who comes from an earlier one comes too late.
      var generation: UInt64 = 0
      /// Whether something is gone, so that all has to be opened anew.
      var isBroken = false
    }

    /// What is to be cancelled, and then closed, outside of the lock.
    private struct Remains {
      var inputs: PressureInputs?
      var registrations: [EventLoop.Registration] = []
      var watch: FileWatcher.Watch?
      var timer: EventLoop.Registration?

      consuming func cancel() {
        for registration in self.registrations { registration.cancel() }
        self.watch?.cancel()
        self.timer?.cancel()
      }
    }

    private let configuration: Configuration
    private let state = Mutex(State())

    init(_ configuration: Configuration) {
      self.configuration = configuration
    }
  }

  // MARK: - Starting and stopping

  extension PressureMonitor {
    /// The level with which to begin, by how much memory is in use now. Not to be asked between start and stop.
    func begin() -> MemoryPressure {
      let (paths, now) = (self.configuration.paths, self.configuration.elapsed())
      let isOff = self.configuration.obeysServiceManager && ServiceManagerWatch(environment: paths.environment) == .off
      let usage = isOff ? nil : MemoryUsage.part(in: MemoryGroups(paths: paths), procRoot: paths.procRoot)
      return self.state.withLock { state in
        state.level = PressureLevel()
        return state.level.note(usage: usage, at: now) ?? .normal
      }
    }

    func start(_ send: @escaping @Sendable (MemoryPressure) -> Void) -> OperationSubscription {
      self.state.withLock { $0.isStarted = true }
      self.open(after: nil, send)
      return OperationSubscription { self.stop() }
    }

    private func stop() {
      let remains = self.state.withLock { state in
        state.isStarted = false
        state.generation += 1
        return self.takeAll(&state)
      }
      remains.cancel()
    }

    private func takeAll(_ state: inout State) -> Remains {
      defer { (state.inputs, state.registrations, state.watch, state.timer) = (nil, [], nil, nil) }
      return Remains(
        inputs: state.inputs,
        registrations: state.registrations,
        watch: state.watch,
        timer: state.timer
      )
    }

    /// Opens what there is, in place of what was opened in a generation.
    private func open(after former: UInt64?, _ send: @escaping @Sendable (MemoryPressure) -> Void) {
      let begun = self.state.withLock { state -> (UInt64, Remains)? in
        guard state.isStarted, former == nil || former == state.generation else { return nil }
        state.generation += 1
        state.isBroken = false
        return (state.generation, self.takeAll(&state))
      }
      guard let (generation, remains) = begun else { return }
      remains.cancel()
      let inputs = PressureInputs(
        paths: self.configuration.paths,
        obeysServiceManager: self.configuration.obeysServiceManager,
        window: PressureLevel.repetition,
        at: self.configuration.elapsed()
      )
      guard let inputs else { return }
      let handle = Handle(monitor: self, generation: generation, send: send)
      var opened = Remains(inputs: inputs, registrations: inputs.stalls.map { self.register($0, handle) })
      if let limits = inputs.limits {
        opened.watch = self.configuration.files.watch(limits.path) { _ in
          handle.take(limits.read(at: self.configuration.elapsed()))
        }
        if opened.watch == nil { opened.registrations.append(self.register(limits, handle)) }
      }
      let obsolete = self.state.withLock { [opened] state -> Remains? in
        // It may have been stopped meanwhile, or something may be gone already.
        guard state.generation == generation, !state.isBroken else { return opened }
        (state.inputs, state.registrations, state.watch) = (opened.inputs, opened.registrations, opened.watch)
        return nil
      }
      obsolete?.cancel()
      if obsolete == nil { self.setTimer(handle, after: .zero) }
    }

    private func register(_ input: any PressureInput, _ handle: Handle) -> EventLoop.Registration {
      self.configuration.loop.watch(input.descriptor, for: input.events) { events in
        handle.take(input.read(events, at: self.configuration.elapsed()))
      }
    }
  }

  // MARK: - Looking

  extension PressureMonitor {
    /// What callbacks of one generation hold on to.
    private struct Handle: Sendable {
      let monitor: PressureMonitor
      let generation: UInt64
      let send: @Sendable (MemoryPressure) -> Void

      func take(_ reading: PressureReading) {
        self.monitor.take(reading, self)
      }
    }

    private func take(_ reading: PressureReading, _ handle: Handle) {
      switch reading {
      case .nothing:
        break
      case .pressure(let pressure):
        let now = self.configuration.elapsed()
        let news = self.state.withLock { state -> MemoryPressure? in
          guard state.generation == handle.generation else { return nil }
          return state.level.note(pressure, at: now)
        }
        guard let news else { return }
        handle.send(news)
        // From now on somebody has to look more often.
        self.setTimer(handle, after: self.configuration.intervals.raised)
      case .gone:
        let isFirst = self.state.withLock { state in
          guard state.generation == handle.generation else { return false }
          defer { state.isBroken = true }
          return !state.isBroken
        }
        guard isFirst else { return }
        // What is gone would be reported for ever; the timer opens what is there then.
        self.closeInputs(of: handle)
        self.setTimer(handle, after: self.configuration.intervals.raised)
      }
    }

    private func closeInputs(of handle: Handle) {
      let remains = self.state.withLock { state in
        state.generation == handle.generation ? self.takeAll(&state) : Remains()
      }
      remains.cancel()
    }

    private func look(_ handle: Handle) {
      let (inputs, isBroken) = self.state.withLock { state in
        state.generation == handle.generation ? (state.inputs, state.isBroken) : (nil, false)
      }
      if isBroken { return self.open(after: handle.generation, handle.send) }
      guard let inputs else { return }
      let now = self.configuration.elapsed()
      for stall in inputs.stalls { stall.look(at: now) }
      let usage = MemoryUsage.part(in: inputs.groups, procRoot: self.configuration.paths.procRoot)
      let (news, level) = self.state.withLock { state in
        (state.level.note(usage: usage, at: now), state.level.current)
      }
      if let news { handle.send(news) }
      let intervals = self.configuration.intervals
      self.setTimer(handle, after: level == .normal ? intervals.calm : intervals.raised)
    }

    private func setTimer(_ handle: Handle, after delay: Duration) {
      let timer = self.configuration.loop.schedule(after: delay) { self.look(handle) }
      let obsolete = self.state.withLock { state in
        guard state.generation == handle.generation else { return timer as EventLoop.Registration? }
        defer { state.timer = timer }
        return state.timer
      }
      obsolete?.cancel()
    }
  }
#endif
