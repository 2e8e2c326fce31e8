#if os(Linux)
  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// What the process does with a signal, as the system keeps it.
  struct SignalAction {
    typealias Handler =
      @convention(c) (CInt, UnsafeMutablePointer<siginfo_t>?, UnsafeMutableRawPointer?) -> Void

    private enum Flags {
      static let information: CInt = 0x4
      static let onAlternateStack: CInt = 0x0800_0000
      static let restart: CInt = 0x1000_0000
      static let isNotDeferred: CInt = 0x4000_0000
      static let isOnce = CInt(bitPattern: 0x8000_0000)
    }

    private var action: sigaction

    /// What is done now; nil where there is no such signal.
    init?(of signal: ProcessSignal) {
      var action = sigaction()
      guard sigaction(signal.rawValue, nil, &action) == 0 else { return nil }
      self.action = action
    }

    /// The address of the function that is called. Small numbers stand for what the system does by itself.
    var handler: UInt {
      // It is the first field of the structure, whichever of its two types it has.
      get { withUnsafeBytes(of: self.action) { $0.loadUnaligned(as: UInt.self) } }
      set { withUnsafeMutableBytes(of: &self.action) { $0.storeBytes(of: newValue, as: UInt.self) } }
    }

    /// Whether the system does what it does by itself.
    var isStandard: Bool { self.handler == 0 }

    /// Whether a function of the program is called.
    var isFunction: Bool { Self.isFunction(self.handler) }

    /// Whether the function is called once, and the system does by itself what it does from then on.
    var isOnce: Bool { self.action.sa_flags & Flags.isOnce != 0 }

    static func isFunction(_ handler: UInt) -> Bool { handler > 1 }

    /// Calls `handler` under the circumstances under which what there is now would be called.
    func replaced(by handler: Handler) -> SignalAction {
      var replaced = self
      replaced.handler = unsafeBitCast(handler, to: UInt.self)
      if self.isFunction {
        replaced.action.sa_flags &= Flags.onAlternateStack | Flags.restart | Flags.isNotDeferred
      } else {
        replaced.action.sa_flags = Flags.onAlternateStack | Flags.restart
        sigemptyset(&replaced.action.sa_mask)
      }
      replaced.action.sa_flags |= Flags.information
      return replaced
    }

    /// Makes it what is done from now on, and returns what was done before.
    @discardableResult
    func install(for signal: ProcessSignal) -> SignalAction {
      var former = self
      var action = self.action
      sigaction(signal.rawValue, &action, &former.action)
      return former
    }
  }
#endif
