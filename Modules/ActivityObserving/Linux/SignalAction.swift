#if os(Linux)
  internal import OperationPlatform

  /// The action of the process for a signal, as the kernel stores it.
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

    /// Reads the current action; nil if the signal does not exist.
    init?(of signal: ProcessSignal) {
      var action = sigaction()
      guard sigaction(signal.rawValue, nil, &action) == 0 else { return nil }
      self.action = action
    }

    /// The address of the function that is called. 0 is the default action (`SIG_DFL`), 1 ignores the signal
    /// (`SIG_IGN`).
    var handler: UInt {
      // The handler is the first field of the structure, in both variants of the field's type.
      get { withUnsafeBytes(of: self.action) { $0.loadUnaligned(as: UInt.self) } }
      set { withUnsafeMutableBytes(of: &self.action) { $0.storeBytes(of: newValue, as: UInt.self) } }
    }

    /// Whether this is the default action.
    var isStandard: Bool { self.handler == 0 }

    /// Whether the signal calls a function of the program.
    var isFunction: Bool { Self.isFunction(self.handler) }

    /// Whether the function is called once only: the kernel then restores the default action.
    var isOnce: Bool { self.action.sa_flags & Flags.isOnce != 0 }

    static func isFunction(_ handler: UInt) -> Bool { handler > 1 }

    /// Returns an action that calls `handler`, with the signal mask and the flags of the current function if there is
    /// one.
    func replaced(by handler: Handler) -> SignalAction {
      var replaced = self
      // The structure of the system has the address of the function.
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

    /// Installs the action, and returns the action that it replaces.
    @discardableResult
    func install(for signal: ProcessSignal) -> SignalAction {
      var previous = self
      var action = self.action
      sigaction(signal.rawValue, &action, &previous.action)
      return previous
    }
  }
#endif
