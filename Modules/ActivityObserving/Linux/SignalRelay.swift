#if os(Linux)
  internal import Dispatch
  internal import OperationCore
  internal import Synchronization

  /// Hands a signal to all in this process who want to hear of it.
  ///
  /// There is one for each signal, made when it is first wanted. What takes the signal is never taken away again: its event
  /// source would leave the handler behind, and the signal would be lost for whoever comes later.
  final class SignalRelay: Sendable {
    private struct State {
      var handlers: [UInt64: @Sendable () -> Void] = [:]
      var lastID: UInt64 = 0
    }

    private static let relays = Mutex<[ProcessSignal: SignalRelay]>([:])
    private static let warned = Mutex<Set<ProcessSignal>>([])
    private static let queue = DispatchQueue(label: "operation-signals")

    private let state = Mutex(State())
    // Unsafe only to the compiler: it is set up before anybody else has it, and only kept from then on.
    nonisolated(unsafe) private let source: any DispatchSourceSignal

    /// Takes a signal from now on.
    private init(_ signal: ProcessSignal) {
      self.source = DispatchSource.makeSignalSource(signal: signal.rawValue, queue: Self.queue)
      self.source.setEventHandler { [weak self] in self?.call() }
      // Who is told that the signal is taken may send it.
      let isRegistered = DispatchSemaphore(value: 0)
      self.source.setRegistrationHandler { isRegistered.signal() }
      self.source.resume()
      isRegistered.wait()
    }

    /// The relay for a signal; nil where the program has a handler of its own, which is reported once.
    static func relay(for signal: ProcessSignal) -> SignalRelay? {
      let relay = self.relays.withLock { relays -> SignalRelay? in
        if let relay = relays[signal] { return relay }
        guard SignalDisposition(of: signal) != .handled else { return nil }
        let relay = SignalRelay(signal)
        relays[signal] = relay
        return relay
      }
      if relay == nil { self.warnOnce(signal) }
      return relay
    }

    private static func warnOnce(_ signal: ProcessSignal) {
      guard self.warned.withLock({ $0.insert(signal).inserted }) else { return }
      OperationWarning(
        code: .signalInUse,
        message: """
          The program has a handler of its own for the signal \(signal.rawValue), so it is left alone, and activity is not \
          observed by it. Use a dispatch source in place of the handler, or call markInactive() and markActive() there.
          """
      ).report()
    }

    private func call() {
      let handlers = self.state.withLock { $0.handlers.sorted { $0.key < $1.key }.map(\.value) }
      for handler in handlers { handler() }
    }

    /// Calls `handler` when the signal comes.
    func subscribe(_ handler: @escaping @Sendable () -> Void) -> OperationSubscription {
      let id = self.state.withLock { state in
        state.lastID += 1
        state.handlers[state.lastID] = handler
        return state.lastID
      }
      return OperationSubscription {
        let handler = self.state.withLock { $0.handlers.removeValue(forKey: id) }
        _ = consume handler  // What it captures is released after the lock.
      }
    }
  }

  extension OperationWarning.Code {
    /// A signal that would be needed is the program's own, or is never taken.
    static let signalInUse = Self(description: "signalInUse")
  }
#endif
