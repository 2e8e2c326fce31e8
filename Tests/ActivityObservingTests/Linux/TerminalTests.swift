#if os(Linux)
  import Glibc
  import OperationTesting
  import Testing

  /// A process in the foreground and in the background of a terminal.
  @Suite(.timeLimit(.minutes(10)), .enabled(if: PseudoTerminal.exists, "there are no pseudo terminals"))
  struct TerminalTests {
    private let terminal: PseudoTerminal

    init() throws {
      self.terminal = try #require(PseudoTerminal())
    }

    @Test func `The background counts as active by default`() async throws {
      let subject = try await Subject("terminal=\(self.terminal.path)")
      try await subject.obeys("back")
      #expect(try await subject.obeys("observe") == ["active"])
      subject.send(SIGSTOP)
      try await subject.stops()
      subject.send(SIGCONT)
      try await subject.reports("inactive", "active")
    }

    @Test func `A job that goes on in the background stays inactive where that does not count`() async throws {
      let subject = try await Subject("terminal=\(self.terminal.path)", "background-is-inactive")
      #expect(try await subject.obeys("observe") == ["active"])
      try await subject.obeys("back")
      subject.send(SIGSTOP)
      try await subject.stops()
      subject.send(SIGCONT)
      try await subject.reports("inactive")
      try await subject.obeys("forth")
      subject.send(SIGCONT)
      try await subject.reports("active")
    }

    @Test func `Coming to the foreground is seen without a signal`() async throws {
      let subject = try await Subject("terminal=\(self.terminal.path)", "background-is-inactive", "watch-foreground")
      try await subject.obeys("back")
      #expect(try await subject.obeys("observe") == ["inactive"])
      try await subject.obeys("forth")
      try await subject.reports("active")
      try await subject.obeys("back")
      try await subject.reports("inactive")
    }

    @Test func `Where the background counts too, coming to the foreground is a pulse`() async throws {
      let subject = try await Subject("terminal=\(self.terminal.path)", "watch-foreground")
      try await subject.obeys("back")
      #expect(try await subject.obeys("observe") == ["active"])
      try await subject.obeys("forth")
      try await subject.reports("inactive", "active")
    }
  }

  /// A terminal that is no machine, and the end from which it is driven.
  private final class PseudoTerminal: Sendable {
    static let exists = PseudoTerminal() != nil

    let path: String
    private let driver: CInt

    init?() {
      self.driver = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
      // The macros for these requests are not imported.
      let (unlock, number): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
      var (isLocked, index): (CInt, CInt) = (0, 0)
      guard self.driver >= 0, ioctl(self.driver, unlock, &isLocked) == 0, ioctl(self.driver, number, &index) == 0 else {
        return nil
      }
      self.path = "/dev/pts/\(index)"
    }

    deinit {
      close(self.driver)
    }
  }
#endif
