#if os(Linux)
  import Glibc
  import OperationTesting
  import TestFixtures
  import Testing

  /// A process in the foreground and in the background of a terminal.
  @Suite(.bounded, .enabled(if: PseudoTerminal.exists, "there are no pseudo terminals"))
  struct TerminalTests {
    private let terminal: PseudoTerminal

    init() throws {
      self.terminal = try #require(PseudoTerminal())
    }

    @Test func `The background counts as active by default`() async throws {
      let subject = try await Subject("terminal=\(self.terminal.path)")
      try await subject.run("background")
      try await expect(subject.run("observe"), equals: ["active"])
      subject.send(SIGSTOP)
      try await subject.stops()
      subject.send(SIGCONT)
      try await subject.expectLines("inactive", "active")
    }

    @Test func `A job that continues in the background is inactive if that does not count as active`() async throws {
      let subject = try await Subject("terminal=\(self.terminal.path)", "background-is-inactive")
      try await expect(subject.run("observe"), equals: ["active"])
      try await subject.run("background")
      subject.send(SIGSTOP)
      try await subject.stops()
      subject.send(SIGCONT)
      try await subject.expectLines("inactive")
      try await subject.run("foreground")
      subject.send(SIGCONT)
      try await subject.expectLines("active")
    }

    @Test func `Coming to the foreground is noticed without a signal`() async throws {
      let subject = try await Subject("terminal=\(self.terminal.path)", "background-is-inactive", "watch-foreground")
      try await subject.run("background")
      try await expect(subject.run("observe"), equals: ["inactive"])
      try await subject.run("foreground")
      try await subject.expectLines("active")
      try await subject.run("background")
      try await subject.expectLines("inactive")
    }

    @Test func `Coming to the foreground reports inactive and active if the background is active`() async throws {
      let subject = try await Subject("terminal=\(self.terminal.path)", "watch-foreground")
      try await subject.run("background")
      try await expect(subject.run("observe"), equals: ["active"])
      try await subject.run("foreground")
      try await subject.expectLines("inactive", "active")
    }
  }

  /// A pseudo terminal, and the descriptor that controls it.
  private final class PseudoTerminal: Sendable {
    static let exists = PseudoTerminal() != nil

    let path: String
    private let controller: CInt

    init?() {
      self.controller = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
      // The macros for these requests are not imported.
      let (unlock, number): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
      var (isLocked, index): (CInt, CInt) = (0, 0)
      guard self.controller >= 0 else { return nil }
      guard ioctl(self.controller, unlock, &isLocked) == 0, ioctl(self.controller, number, &index) == 0 else {
        return nil
      }
      self.path = "/dev/pts/\(index)"
    }

    deinit {
      close(self.controller)
    }
  }
#endif
