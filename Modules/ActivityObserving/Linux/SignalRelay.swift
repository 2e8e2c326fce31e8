#if os(Linux)
  internal import Dispatch
  internal import OperationCore
  internal import OperationEventLoop

  /// Delivers signals to all subscribers in the process.
  ///
  /// While a signal has subscribers, a signal handler is installed, which also calls the handler that it replaces. If
  /// the program has an event source of Dispatch for the signal, an event source is used instead, because each source
  /// of a signal receives it. Without one of the program, a source would take signals away from a handler that the
  /// program installs later, because it reads them from a descriptor.
  final class SignalRelay: Sendable {
    /// The relay of the process.
    static let shared = SignalRelay()

    /// How a signal is received.
    fileprivate enum Method {
      case none
      /// By the signal handlers of this module.
      case trap
      /// An event source in addition to the program's own, and the address of the program's signal handler at that time.
      case source(any DispatchSourceSignal, UInt)
    }

    /// A signal that has, or has had, subscribers.
    fileprivate struct ObservedSignal {
      var subscribers = Handlers<Void>()
      var method = Method.none
      /// The actions that the handlers of the trap have replaced.
      var replaced: [SignalAction] = []
      /// The signal's count when the subscribers were last called.
      var deliveredCount: UInt = 0
    }

    // Unchecked because the compiler does not know that event sources are safe; they are stored behind the lock.
    fileprivate struct State: @unchecked Sendable {
      var signals: [ProcessSignal: ObservedSignal] = [:]
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
      let handler = Handlers<Void>.Handler(handler)
      let id = self.state.withLock { $0.signals[signal, default: ObservedSignal()].subscribers.add(handler) }
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
        return self.installAll(&state)
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
        let source = state.uninstall(signal)
        return (source, state.hasSubscribers ? nil : state.registration.take())
      }
      source?.cancel()
      registration?.cancel()
    }
  }

  // MARK: - Installing

  extension SignalRelay {
    private func installAll(_ state: inout State) -> ([OperationWarning], [any DispatchSourceSignal]) {
      var (warnings, sources) = ([OperationWarning](), [any DispatchSourceSignal]())
      for (signal, observed) in state.signals where !observed.subscribers.isEmpty {
        if let source = self.install(signal, &state) { sources.append(source) }
        if case SignalRelay.Method.none? = state.signals[signal]?.method {
          warnings += state.warnOnce(signal, Self.tooManyHandlers(signal))
        }
      }
      return (warnings, sources)
    }

    /// Installs a handler or an event source, and returns an event source that is no longer needed.
    private func install(_ signal: ProcessSignal, _ state: inout State) -> (any DispatchSourceSignal)? {
      guard let trap = state.trap, var observed = state.signals[signal], let action = SignalAction(of: signal) else {
        return nil
      }
      defer { state.signals[signal] = observed }
      var obsolete: (any DispatchSourceSignal)?
      switch observed.method {
      case .source(_, action.handler): return nil
      case .source(let source, _): obsolete = source
      case .trap: break
      // Signals that arrived before the first subscription are not delivered.
      case .none: observed.deliveredCount = trap.count(of: signal)
      }
      if !trap.isOwn(action), action.isFunction, SignalReaders.exist(for: signal) {
        observed.method = .source(self.makeSource(signal), action.handler)
      } else {
        observed.method = trap.install(signal, &observed.replaced) ? .trap : .none
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
    fileprivate mutating func uninstall(_ signal: ProcessSignal) -> (any DispatchSourceSignal)? {
      guard var observed = self.signals[signal] else { return nil }
      defer { self.signals[signal] = observed }
      defer { observed.method = .none }
      switch observed.method {
      case .none: return nil
      case .trap:
        self.trap?.uninstall(signal, &observed.replaced)
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
    /// Watches the pipe that the trap writes to. The lock must not be held, because the loop may report a warning.
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
        for (signal, observed) in state.signals {
          guard let count = state.trap?.count(of: signal), count != observed.deliveredCount else { continue }
          state.signals[signal]?.deliveredCount = count
          handlers += observed.subscribers.all
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
    private static func tooManyHandlers(_ signal: ProcessSignal) -> OperationWarning {
      OperationWarning(
        code: .signalInUse,
        message: """
          The program has replaced the handler for the signal \(signal.rawValue) too often, so its own handler stays and \
          activity is not observed by this signal. Install one handler, or call markInactive() and markActive() in it.
          """
      )
    }

    private static let noDescriptors = OperationWarning(
      code: .signalInUse,
      severity: .failure,
      message: """
        The process has no descriptors left to receive signals, so activity is not observed by them. It is tried again \
        from time to time. Raise the limit of descriptors of the process.
        """
    )
  }

  extension OperationWarning.Code {
    /// A signal that the observer needs is handled by the program, or can never be handled.
    static let signalInUse = Self(description: "signalInUse")
  }
#endif
