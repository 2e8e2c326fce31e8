#if os(Linux)
  internal import Dispatch
  internal import OperationCore
  internal import OperationEventLoop

  /// Delivers signals to all subscribers in the process.
  ///
  /// While a signal has subscribers, a signal handler is installed, which also calls the handler that it replaces. An
  /// event source of Dispatch is only used if the program has one for the same signal, because each source of a signal
  /// receives it. Otherwise a source would read the signal from a descriptor, and a handler that the program installs
  /// later would miss signals.
  final class SignalRelay: Sendable {
    /// The relay of the process.
    static let shared = SignalRelay()

    fileprivate enum Means {
      case none
      case trap
      /// An event source beside the program's own, and the address of the program's signal handler at that time.
      case source(any DispatchSourceSignal, UInt)
    }

    /// A signal that has, or has had, subscribers.
    fileprivate struct Taken {
      var subscribers = Handlers<Void>()
      var means = Means.none
      /// The actions that the handlers of the trap have replaced.
      var formers: [SignalAction] = []
      /// The signal's count when the subscribers were last called.
      var deliveredCount: UInt = 0
    }

    // Unchecked because the compiler does not know that event sources are safe; they are stored behind the lock.
    fileprivate struct State: @unchecked Sendable {
      var signals: [ProcessSignal: Taken] = [:]
      var trap: SignalTrap?
      var registration: EventLoop.Registration?
      var warned: Set<ProcessSignal?> = []
    }

    private let state = Locked(State())

    private init() {}
  }

  // MARK: - Subscribing

  extension SignalRelay {
    /// Calls `handler` each time the signal arrives.
    func subscribe(to signal: ProcessSignal, _ handler: @escaping @Sendable () -> Void) -> OperationSubscription {
      let id = self.state.withLock { $0.signals[signal, default: Taken()].subscribers.add(Handlers.Handler(handler)) }
      self.renew()
      return OperationSubscription { self.remove(id, signal) }
    }

    /// Installs a handler for each signal that has subscribers but no handler: the program may have replaced it since.
    func renew() {
      let (warnings, sources) = self.state.withLock { state in
        guard state.hasSubscribers else { return ([OperationWarning](), [any DispatchSourceSignal]()) }
        do {
          if state.trap == nil { state.trap = try SignalTrap.make() }
        } catch {
          return (state.warnOnce(nil, Self.noDescriptors), [])
        }
        return self.takeAll(&state)
      }
      for source in sources { source.cancel() }
      for warning in warnings { warning.report() }
      self.watchPipe()
    }

    private func remove(_ id: UInt64, _ signal: ProcessSignal) {
      let (source, registration) = self.state.withLock { state, released in
        released.append(state.signals[signal]?.subscribers.remove(id))
        guard state.signals[signal]?.subscribers.isEmpty ?? false else {
          return ((any DispatchSourceSignal)?.none, EventLoop.Registration?.none)
        }
        let source = state.release(signal)
        return (source, state.hasSubscribers ? nil : state.registration.take())
      }
      source?.cancel()
      registration?.cancel()
    }
  }

  // MARK: - Taking signals

  extension SignalRelay {
    private func takeAll(_ state: inout State) -> ([OperationWarning], [any DispatchSourceSignal]) {
      var (warnings, sources) = ([OperationWarning](), [any DispatchSourceSignal]())
      for (signal, taken) in state.signals where !taken.subscribers.isEmpty {
        if let source = self.take(signal, &state) { sources.append(source) }
        if case SignalRelay.Means.none? = state.signals[signal]?.means {
          warnings += state.warnOnce(signal, Self.isTakenAway(signal))
        }
      }
      return (warnings, sources)
    }

    /// Installs a handler or an event source, and returns an event source that is no longer needed.
    private func take(_ signal: ProcessSignal, _ state: inout State) -> (any DispatchSourceSignal)? {
      guard let trap = state.trap, var taken = state.signals[signal], let action = SignalAction(of: signal) else {
        return nil
      }
      defer { state.signals[signal] = taken }
      var obsolete: (any DispatchSourceSignal)?
      switch taken.means {
      case .source(_, action.handler): return nil
      case .source(let source, _): obsolete = source
      case .trap: break
      // Signals that arrived before the first subscription are not delivered.
      case .none: taken.deliveredCount = trap.count(of: signal)
      }
      if !trap.isOwn(action), action.isFunction, SignalReaders.exist(for: signal) {
        taken.means = .source(self.makeSource(signal), action.handler)
      } else {
        taken.means = trap.take(signal, &taken.formers) ? .trap : .none
      }
      return obsolete
    }

    private func makeSource(_ signal: ProcessSignal) -> any DispatchSourceSignal {
      let source = DispatchSource.makeSignalSource(
        signal: signal.rawValue,
        queue: DispatchQueue(label: "operation-signals")
      )
      source.setEventHandler { [weak self] in self?.call(signal) }
      // The signal may be sent as soon as `subscribe` returns, so this waits until the source is registered.
      let isRegistered = DispatchSemaphore(value: 0)
      source.setRegistrationHandler { isRegistered.signal() }
      source.resume()
      isRegistered.wait()
      return source
    }
  }

  extension SignalRelay.State {
    fileprivate var hasSubscribers: Bool { self.signals.values.contains { !$0.subscribers.isEmpty } }

    /// Restores the previous action, and returns an event source that is no longer needed.
    fileprivate mutating func release(_ signal: ProcessSignal) -> (any DispatchSourceSignal)? {
      guard var taken = self.signals[signal] else { return nil }
      defer { self.signals[signal] = taken }
      defer { taken.means = .none }
      switch taken.means {
      case .none: return nil
      case .trap:
        self.trap?.release(signal, &taken.formers)
        return nil
      case .source(let source, _): return source
      }
    }

    fileprivate mutating func warnOnce(_ signal: ProcessSignal?, _ warning: OperationWarning) -> [OperationWarning] {
      self.warned.insert(signal).inserted ? [warning] : []
    }
  }

  // MARK: - Delivering signals

  extension SignalRelay {
    /// Watches the pipe that the trap writes to. No lock is held, because `watch` reports a warning if the loop cannot
    /// start.
    private func watchPipe() {
      let trap = self.state.withLock { $0.registration == nil && $0.hasSubscribers ? $0.trap : nil }
      guard let trap else { return }
      let registration = EventLoop.shared.watch(trap.pipe.reader, for: .readable) { [weak self] _ in
        trap.pipe.drain()
        self?.callAll()
      }
      let isUsed = self.state.withLock { state in
        guard state.registration == nil, state.hasSubscribers else { return false }
        state.registration = registration
        return true
      }
      if !isUsed { registration.cancel() }
    }

    private func callAll() {
      let handlers = self.state.withLock { state in
        var handlers: [Handlers<Void>.Handler] = []
        for (signal, taken) in state.signals {
          guard let count = state.trap?.count(of: signal), count != taken.deliveredCount else { continue }
          state.signals[signal]?.deliveredCount = count
          handlers += taken.subscribers.all
        }
        return handlers
      }
      for handler in handlers { handler.call(()) }
    }

    private func call(_ signal: ProcessSignal) {
      for handler in self.state.withLock({ $0.signals[signal]?.subscribers.all ?? [] }) { handler.call(()) }
    }
  }

  // MARK: - Warnings

  extension SignalRelay {
    private static func isTakenAway(_ signal: ProcessSignal) -> OperationWarning {
      OperationWarning(
        code: .signalInUse,
        message: """
          The program has installed so many handlers of its own for the signal \(signal.rawValue) that the present one is \
          left alone, and activity is not observed by it. Install one, or call markInactive() and markActive() there.
          """
      )
    }

    private static let noDescriptors = OperationWarning(
      code: .signalInUse,
      severity: .failure,
      message: """
        The process has no descriptors left to hear of signals, so activity is not observed by them until it has, which is \
        tried again from time to time. Raise the limit of the process.
        """
    )
  }

  extension OperationWarning.Code {
    /// A signal that the observer needs is handled by the program, or can never be handled.
    static let signalInUse = Self(description: "signalInUse")
  }
#endif
