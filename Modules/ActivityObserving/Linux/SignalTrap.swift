#if os(Linux)
  internal import OperationEventLoop
  internal import Synchronization
  internal import OperationPlatform

  /// The signal handlers of this module: they count the signal, write to a pipe, and call the handler that they
  /// replaced.
  ///
  /// The program may install a handler of its own at any time, and that handler may call the one that it replaced. So
  /// each installation uses another function, which has its own record of the handler to call next, and a function that
  /// the program installs again is recognized.
  ///
  /// The memory that the functions use is never freed, because they may run on any thread at any time. They take no
  /// lock and allocate no memory.
  final class SignalTrap: @unchecked Sendable {
    // Unchecked because the pointers never change and the memory behind them is atomic.

    /// The number of functions: how often one can be installed above a handler of the program.
    static let levelCount = 4
    private static let signalCount = 65

    private static let current = Mutex<SignalTrap?>(nil)
    // Unsafe only to the compiler: set once, before any of the functions is installed.
    fileprivate nonisolated(unsafe) static var installed: Unmanaged<SignalTrap>?

    let pipe: WakePipe
    private let process = getpid()
    /// For each signal: the number of times that it arrived, and the index of the topmost function.
    private let counts = SignalTrap.numbers(SignalTrap.signalCount)
    private let tops = SignalTrap.numbers(SignalTrap.signalCount)
    /// For each function and signal: the handler to call next, and whether to call it only once.
    private let handlers = SignalTrap.numbers(SignalTrap.signalCount * SignalTrap.levelCount)
    private let areOnce = SignalTrap.numbers(SignalTrap.signalCount * SignalTrap.levelCount)

    private init() throws(SystemFailure) {
      self.pipe = try WakePipe()
    }

    /// Returns the trap of the process. It is created on the first call and never freed.
    static func make() throws(SystemFailure) -> SignalTrap {
      try self.current.withLock { current throws(SystemFailure) in
        if let current { return current }
        let trap = try SignalTrap()
        self.installed = Unmanaged.passRetained(trap)
        // The first call of a function may allocate memory, so each is called once here, with the signal 0, which does
        // not exist.
        for function in functions { function(0, nil, nil) }
        trap.pipe.drain()
        current = trap
        return trap
      }
    }

    private static func numbers(_ count: Int) -> UnsafeMutablePointer<Atomic<UInt>> {
      let numbers = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: count)
      for index in 0..<count { (numbers + index).initialize(to: Atomic(0)) }
      return numbers
    }
  }

  // MARK: - Installing

  extension SignalTrap {
    /// How often the signal has arrived.
    func count(of signal: ProcessSignal) -> UInt {
      self.counts[Int(signal.rawValue)].load(ordering: .acquiring)
    }

    /// Whether the action calls one of the functions.
    func isOwn(_ action: SignalAction) -> Bool { Self.level(of: action) != nil }

    /// Installs a function for the signal, unless one is installed.
    ///
    /// - Parameters:
    ///   - signal: The signal.
    ///   - replaced: The actions that the installed functions have replaced, from the lowest to the highest.
    /// - Returns: Whether a function is installed now. False when all functions are used up, or when the current action
    ///   cannot be read.
    func install(_ signal: ProcessSignal, _ replaced: inout [SignalAction]) -> Bool {
      guard let action = SignalAction(of: signal) else { return false }
      if self.isInstalled(signal, action, &replaced) { return true }
      let level = replaced.count
      guard level < Self.levelCount else { return false }
      self.set(action, at: level, for: signal)
      let previous = action.replaced(by: functions[level]).install(for: signal)
      // Another thread may have installed a handler meanwhile.
      if previous.handler != action.handler { self.set(previous, at: level, for: signal) }
      replaced.append(previous)
      self.tops[Int(signal.rawValue)].store(UInt(level), ordering: .releasing)
      return true
    }

    /// Restores the previous action. A handler that the program has installed since is left alone.
    ///
    /// The function stays installed if the previous action is the default one and would end the process.
    func uninstall(_ signal: ProcessSignal, _ replaced: inout [SignalAction]) {
      guard let action = SignalAction(of: signal), self.isInstalled(signal, action, &replaced) else { return }
      guard let previous = replaced.last, !previous.isStandard || !signal.endsProcess else { return }
      previous.install(for: signal)
      replaced.removeLast()
    }

    /// Whether a function is installed now. Removes the actions of the functions above it, which are no longer in use.
    private func isInstalled(
      _ signal: ProcessSignal,
      _ action: SignalAction,
      _ replaced: inout [SignalAction]
    ) -> Bool {
      guard let level = Self.level(of: action), level < replaced.count else { return false }
      replaced.removeLast(replaced.count - level - 1)
      self.tops[Int(signal.rawValue)].store(UInt(level), ordering: .releasing)
      return true
    }

    private static func level(of action: SignalAction) -> Int? {
      // The structure of the system has the addresses of functions.
      functions.firstIndex { unsafeBitCast($0, to: UInt.self) == action.handler }
    }

    private func set(_ previous: SignalAction, at level: Int, for signal: ProcessSignal) {
      let index = level * Self.signalCount + Int(signal.rawValue)
      self.areOnce[index].store(previous.isOnce ? 1 : 0, ordering: .releasing)
      self.handlers[index].store(previous.handler, ordering: .releasing)
    }
  }

  // MARK: - Handling a signal

  extension SignalTrap {
    /// Counts the signal and writes to the pipe, unless another function is on top.
    fileprivate func record(_ level: Int, _ signal: CInt) {
      // A child process created by `fork` shares the pipe of its parent.
      guard self.tops[Int(signal)].load(ordering: .acquiring) == UInt(level), self.process == getpid() else { return }
      self.counts[Int(signal)].add(1, ordering: .releasing)
      var byte: UInt8 = 1
      _ = write(self.pipe.writer, &byte, 1)
    }

    /// The handler to call next, or a number that is not a function.
    fileprivate func next(_ level: Int, _ signal: CInt) -> UInt {
      let index = level * Self.signalCount + Int(signal)
      guard self.areOnce[index].load(ordering: .acquiring) != 0 else {
        return self.handlers[index].load(ordering: .acquiring)
      }
      return self.handlers[index].exchange(0, ordering: .acquiringAndReleasing)
    }
  }

  /// The functions, from the lowest to the highest.
  private let functions: [SignalAction.Handler] = [
    { handle(0, $0, $1, $2) }, { handle(1, $0, $1, $2) }, { handle(2, $0, $1, $2) }, { handle(3, $0, $1, $2) },
  ]

  private func handle(
    _ level: Int,
    _ signal: CInt,
    _ information: UnsafeMutablePointer<siginfo_t>?,
    _ context: UnsafeMutableRawPointer?
  ) {
    let code = errno
    SignalTrap.installed?._withUnsafeGuaranteedRef { trap in
      trap.record(level, signal)
      let next = trap.next(level, signal)
      // The kernel also passes all three arguments to a function that takes only the first.
      if SignalAction.isFunction(next) {
        // It is the address of a function, of the type that the system documents.
        unsafeBitCast(next, to: SignalAction.Handler.self)(signal, information, context)
      }
    }
    errno = code
  }
#endif
