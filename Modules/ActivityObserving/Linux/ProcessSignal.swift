#if os(Linux)
  internal import OperationPlatform

  /// A signal that a process can be sent.
  public struct ProcessSignal: RawRepresentable, Hashable, Sendable {
    /// The number of the signal.
    public let rawValue: CInt

    /// Creates a signal by its number.
    public init(rawValue: CInt) {
      self.rawValue = rawValue
    }

    /// The terminal is closed. By convention, a daemon rereads its configuration.
    public static let hup = ProcessSignal(rawValue: SIGHUP)

    /// Has no meaning of its own: the program defines it.
    public static let usr1 = ProcessSignal(rawValue: SIGUSR1)

    /// Has no meaning of its own: the program defines it.
    public static let usr2 = ProcessSignal(rawValue: SIGUSR2)

    /// The size of the terminal has changed.
    public static let winch = ProcessSignal(rawValue: SIGWINCH)

    /// Continue after a stop.
    static let cont = ProcessSignal(rawValue: SIGCONT)
  }

  extension ProcessSignal {
    /// The first of the kernel's real-time signals. The C library reserves some of them for its threads and refuses
    /// other uses.
    private static let firstReserved: CInt = 32

    /// Whether the default action of the signal ends the process.
    var endsProcess: Bool { ![SIGCONT, SIGCHLD, SIGURG, SIGWINCH].contains(self.rawValue) }

    /// The reason why the observer refuses to handle the signal; nil if it may be handled.
    var refusal: String? {
      switch self.rawValue {
      case SIGTERM, SIGINT, SIGQUIT:
        "it ends the process, and the code that shuts the process down may no longer receive it. Call markInactive() there"
      case SIGTSTP, SIGTTIN, SIGTTOU:
        "it would no longer stop the process. The observer notices anyway that the process continues"
      case SIGCONT:
        "the observer handles it anyway"
      case SIGKILL, SIGSTOP:
        "no process can handle it"
      case SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS:
        "it reports a fault in the process"
      case SIGCHLD, SIGPIPE, SIGALRM, SIGPROF, SIGVTALRM:
        "other parts of the process rely on it"
      case 1..<Self.firstReserved, __libc_current_sigrtmin()...__libc_current_sigrtmax():
        nil
      case Self.firstReserved..<__libc_current_sigrtmin():
        "the C library reserves it"
      default:
        "there is no such signal"
      }
    }
  }
#endif
