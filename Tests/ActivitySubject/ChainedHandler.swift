#if os(Linux)
  import Glibc

  /// A handler of the program for `SIGCONT` that calls the previous one, and can be removed again.
  enum ChainedHandler {
    // One thread of the subject installs handlers and receives the signal. Allocated, because the compiler makes a
    // static `sigaction` four bytes too small, which the address sanitizer finds.
    private nonisolated(unsafe) static let previous = UnsafeMutablePointer<sigaction>.allocate(capacity: 1)
    // Used by the same thread.
    private nonisolated(unsafe) static var next: (@convention(c) (CInt) -> Void)?

    static func install() {
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { number in
        say("chained")
        ChainedHandler.next?(number)
      }
      action.sa_flags = CInt(SA_RESTART)
      sigaction(SIGCONT, &action, self.previous)
      let address = UnsafeRawPointer(self.previous).loadUnaligned(as: UInt.self)
      // The address of a function, if it is not one of the system's two constants.
      self.next = address > 1 ? unsafeBitCast(address, to: (@convention(c) (CInt) -> Void).self) : nil
    }

    static func uninstall() {
      sigaction(SIGCONT, self.previous, nil)
    }
  }
#endif
