#if os(Linux)
  import Glibc

  /// A handler of the program for `SIGCONT` that calls the one before it, and can be taken out again.
  enum ChainedHandler {
    // The subject has one thread that installs handlers, and the signal comes to it. Allocated: the compiler makes a static
    // `sigaction` four bytes too small, which the address sanitizer finds.
    private nonisolated(unsafe) static let former = UnsafeMutablePointer<sigaction>.allocate(capacity: 1)
    // As above.
    private nonisolated(unsafe) static var next: (@convention(c) (CInt) -> Void)?

    static func install() {
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { number in
        say("chained")
        ChainedHandler.next?(number)
      }
      action.sa_flags = CInt(SA_RESTART)
      sigaction(SIGCONT, &action, self.former)
      let address = UnsafeRawPointer(self.former).loadUnaligned(as: UInt.self)
      self.next = address > 1 ? unsafeBitCast(address, to: (@convention(c) (CInt) -> Void).self) : nil
    }

    static func uninstall() {
      sigaction(SIGCONT, self.former, nil)
    }
  }
#endif
