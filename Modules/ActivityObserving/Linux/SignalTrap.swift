#if os(Linux)
  internal import OperationEventLoop
  internal import Synchronization

  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// The functions that the system calls when a signal comes: they count it, write to a pipe, and call what was called before.
  ///
  /// A program may put a handler of its own in the place of one of them at any time, and that handler may call what it has
  /// replaced. So each time that one is put on top it is another function, which knows what lies below it, and what a program
  /// puts back is recognized.
  ///
  /// What a function touches stays for good: it may be running on any thread. Nothing in it takes a lock or memory.
  final class SignalTrap: @unchecked Sendable {
    // Unchecked because the pointers never change, and what they lead to is atomic.

    /// How often one can be put on top of another handler.
    static let levelCount = 4
    private static let signalCount = 65

    private static let current = Mutex<SignalTrap?>(nil)
    // Unsafe only to the compiler: it is set once, before any of the functions is installed.
    fileprivate nonisolated(unsafe) static var inForce: Unmanaged<SignalTrap>?

    let pipe: WakePipe
    private let process = getpid()
    /// For each signal: how often it came, and which function is on top.
    private let counts = SignalTrap.numbers(SignalTrap.signalCount)
    private let tops = SignalTrap.numbers(SignalTrap.signalCount)
    /// For each function and signal: what is called next, and whether that is called once.
    private let handlers = SignalTrap.numbers(SignalTrap.signalCount * SignalTrap.levelCount)
    private let areOnce = SignalTrap.numbers(SignalTrap.signalCount * SignalTrap.levelCount)

    private init() throws(LoopFailure) {
      self.pipe = try WakePipe()
    }

    /// The trap of the process, which is made when it is first wanted, and stays.
    static func make() throws(LoopFailure) -> SignalTrap {
      try self.current.withLock { current throws(LoopFailure) in
        if let current { return current }
        let trap = try SignalTrap()
        self.inForce = Unmanaged.passRetained(trap)
        // What a function does for the first time may take memory: that is over when a signal comes. There is no signal 0.
        for entry in entries { entry(0, nil, nil) }
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

  // MARK: - Taking signals

  extension SignalTrap {
    /// How often a signal has come.
    func count(of signal: ProcessSignal) -> UInt {
      self.counts[Int(signal.rawValue)].load(ordering: .acquiring)
    }

    /// Whether one of the functions is called.
    func isOwn(_ action: SignalAction) -> Bool { Self.level(of: action) != nil }

    /// Takes a signal, unless it is taken. Returns false when other handlers have been put on top too often.
    ///
    /// - Parameter formers: What was done with the signal below each of the functions that are in use.
    func take(_ signal: ProcessSignal, _ formers: inout [SignalAction]) -> Bool {
      guard let action = SignalAction(of: signal) else { return false }
      if self.rollBack(signal, action, &formers) { return true }
      let level = formers.count
      guard level < Self.levelCount else { return false }
      self.set(action, at: level, for: signal)
      let former = action.replaced(by: entries[level]).install(for: signal)
      // Another thread may have been faster.
      if former.handler != action.handler { self.set(former, at: level, for: signal) }
      formers.append(former)
      self.tops[Int(signal.rawValue)].store(UInt(level), ordering: .releasing)
      return true
    }

    /// Puts back what was done with a signal before. A handler that the program has put on top is left alone.
    func release(_ signal: ProcessSignal, _ formers: inout [SignalAction]) {
      guard let action = SignalAction(of: signal), self.rollBack(signal, action, &formers) else { return }
      guard let former = formers.last, former.isFunction || !former.isStandard || !signal.endsProcess else { return }
      former.install(for: signal)
      formers.removeLast()
    }

    /// Whether the signal is taken. Functions above the one that is on top now are no longer in use.
    private func rollBack(_ signal: ProcessSignal, _ action: SignalAction, _ formers: inout [SignalAction]) -> Bool {
      guard let level = Self.level(of: action), level < formers.count else { return false }
      formers.removeLast(formers.count - level - 1)
      self.tops[Int(signal.rawValue)].store(UInt(level), ordering: .releasing)
      return true
    }

    private static func level(of action: SignalAction) -> Int? {
      entries.firstIndex { unsafeBitCast($0, to: UInt.self) == action.handler }
    }

    private func set(_ former: SignalAction, at level: Int, for signal: ProcessSignal) {
      let index = level * Self.signalCount + Int(signal.rawValue)
      self.areOnce[index].store(former.isOnce ? 1 : 0, ordering: .releasing)
      self.handlers[index].store(former.handler, ordering: .releasing)
    }
  }

  // MARK: - When a signal comes

  extension SignalTrap {
    fileprivate func note(_ level: Int, _ signal: CInt) {
      // A child that was made by fork has the pipe of its parent.
      guard self.tops[Int(signal)].load(ordering: .acquiring) == UInt(level), self.process == getpid() else { return }
      self.counts[Int(signal)].add(1, ordering: .releasing)
      var byte: UInt8 = 1
      _ = write(self.pipe.writer, &byte, 1)
    }

    /// What is called next; a number that is no function when nothing is.
    fileprivate func next(_ level: Int, _ signal: CInt) -> UInt {
      let index = level * Self.signalCount + Int(signal)
      guard self.areOnce[index].load(ordering: .acquiring) != 0 else {
        return self.handlers[index].load(ordering: .acquiring)
      }
      return self.handlers[index].exchange(0, ordering: .acquiringAndReleasing)
    }
  }

  /// The functions, from the lowest to the highest.
  private let entries: [SignalAction.Handler] = [
    { hear(0, $0, $1, $2) }, { hear(1, $0, $1, $2) }, { hear(2, $0, $1, $2) }, { hear(3, $0, $1, $2) },
  ]

  private func hear(
    _ level: Int,
    _ signal: CInt,
    _ information: UnsafeMutablePointer<siginfo_t>?,
    _ context: UnsafeMutableRawPointer?
  ) {
    let code = errno
    SignalTrap.inForce?._withUnsafeGuaranteedRef { trap in
      trap.note(level, signal)
      let next = trap.next(level, signal)
      // The system, too, hands all three to a function that takes the first one alone.
      if SignalAction.isFunction(next) {
        unsafeBitCast(next, to: SignalAction.Handler.self)(signal, information, context)
      }
    }
    errno = code
  }
#endif
