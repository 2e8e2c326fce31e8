#if os(Linux)
  import Glibc

  /// A handler of the program for `SIGCONT` that calls the one before it, and can be taken out again.
  enum ChainedHandler {
    // The subject has one thread that installs handlers, and the signal comes to it.
    private nonisolated(unsafe) static var former = sigaction()
    // As above.
    private nonisolated(unsafe) static var next: (@convention(c) (CInt) -> Void)?

    static func install() {
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { number in
        say("chained")
        ChainedHandler.next?(number)
      }
      action.sa_flags = CInt(SA_RESTART)
      sigaction(SIGCONT, &action, &self.former)
      let address = withUnsafeBytes(of: self.former) { $0.loadUnaligned(as: UInt.self) }
      self.next = address > 1 ? unsafeBitCast(address, to: (@convention(c) (CInt) -> Void).self) : nil
    }

    static func uninstall() {
      sigaction(SIGCONT, &self.former, nil)
    }
  }
#endif
