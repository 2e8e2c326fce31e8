#if os(Linux)
  import Dispatch
  import Glibc
  import OperationActivityObserving
  import OperationCore
  import OperationEventLoop

  /// A process that observes its own activity, because signals and job control belong to a whole process.
  ///
  /// It runs the commands of its standard input, and prints what happens.
  @main
  struct ActivitySubject {
    private let settings: Settings
    private var observer: SignalActivityObserver?
    private var subscription: OperationSubscription?
    private var ownSource: (any DispatchSourceSignal)?
    private var terminal: Terminal?

    static func main() {
      // Closes the descriptors that it inherits from the tests.
      for descriptor in 3..<CInt(1_024) { close(descriptor) }
      OperationWarning.reporter = { say("warning \($0.code)") }
      var subject = ActivitySubject(settings: Settings(CommandLine.arguments.dropFirst()))
      subject.prepare()
      say("ready")
      while let command = readLine() { subject.run(command) }
    }

    private init(settings: Settings) {
      self.settings = settings
    }

    /// Waits until the thread of the loop, if there is one, has set its name and closed the file that it needs for
    /// that.
    private static func waitForLoop() {
      guard EventLoop.shared.isRunning else { return }
      let hasStarted = DispatchSemaphore(value: 0)
      let timer = EventLoop.shared.schedule(after: .zero) { hasStarted.signal() }
      hasStarted.wait()
      timer.cancel()
    }

    private mutating func prepare() {
      if let path = self.settings.terminal {
        self.terminal = Terminal(path: path)
      } else {
        // A group whose parent is outside of it: in an orphaned group the kernel discards SIGTSTP.
        setpgid(0, 0)
      }
      if let number = self.settings.ownHandler { signal(number) { _ in say("handler") } }
      if let number = self.settings.ownSource { self.ownSource = makeSource(number) }
    }

    private mutating func run(_ command: String) {
      switch command {
      case "observe":
        let observer =
          self.observer
          ?? SignalActivityObserver(
            inactive: self.settings.inactive,
            active: self.settings.active,
            options: self.settings.options
          )
        self.observer = observer
        self.subscription = observer.subscribe { say($0 ? "active" : "inactive") }
      case "cancel":
        self.subscription?.cancel()
      case "mark":
        self.observer?.markInactive()
      case "unmark":
        self.observer?.markActive()
      case "background":
        self.terminal?.putInBackground()
      case "foreground":
        self.terminal?.putInForeground()
      case "renew":
        self.observer?.renewSignals()
      case "handle":
        signal(SIGCONT) { _ in say("handler") }
      case "chain":
        ChainedHandler.install()
      case "unchain":
        ChainedHandler.uninstall()
      case "source":
        self.ownSource = makeSource(SIGCONT)
      case "disposition":
        say(disposition(of: SIGCONT))
      case "resources":
        Self.waitForLoop()
        say("resources \(OpenResources())")
      default:
        say("unknown command \(command)")
      }
      if let observer = self.observer { wait { await observer.settled() } }
      say("done \(command)")
    }
  }

  /// Writes a line without a buffer, because the process may end next.
  func say(_ text: String) {
    let line = text + "\n"
    _ = write(STDOUT_FILENO, line, line.utf8.count)
  }

  /// The kind of action of the process for a signal.
  private func disposition(of number: CInt) -> String {
    var action = sigaction()
    sigaction(number, nil, &action)
    let handler = withUnsafeBytes(of: action) { $0.loadUnaligned(as: UInt.self) }
    return handler == 0 ? "standard" : handler == 1 ? "ignored" : "handled"
  }

  private func makeSource(_ number: CInt) -> any DispatchSourceSignal {
    let source = DispatchSource.makeSignalSource(signal: number, queue: DispatchQueue(label: "subject"))
    let isRegistered = DispatchSemaphore(value: 0)
    source.setRegistrationHandler { isRegistered.signal() }
    source.setEventHandler { say("source") }
    source.resume()
    isRegistered.wait()
    return source
  }

  private func wait(_ body: @escaping @Sendable () async -> Void) {
    let isDone = DispatchSemaphore(value: 0)
    Task {
      await body()
      isDone.signal()
    }
    isDone.wait()
  }
#else
  @main
  struct ActivitySubject {
    static func main() {}
  }
#endif
