#if os(Linux)
  import Glibc
  import OperationTesting
  import TestFixtures
  import Testing

  /// Signals that are sent to a separate process.
  @Suite(.bounded)
  struct SignalTests {
    @Test(arguments: [SIGSTOP, SIGTSTP])
    func `A process that is stopped and continues reports inactive and active`(_ signal: CInt) async throws {
      let subject = try await Subject()
      try await expect(subject.run("observe"), equals: ["active"])
      for _ in 0..<3 {
        subject.send(signal)
        try await subject.stops()
        subject.send(SIGCONT)
        try await subject.expectLines("inactive", "active")
      }
    }

    @Test func `A cancelled subscriber receives nothing, and a new one does`() async throws {
      let subject = try await Subject()
      try await subject.run("observe")
      #expect(try await subject.run("cancel").isEmpty)
      subject.send(SIGCONT)
      try await expect(subject.run("resources").count, equals: 1)
      // The first signal may be delivered only now, and is received like the second one.
      try await expect(subject.run("observe").first, equals: "active")
      subject.send(SIGCONT)
      try await subject.expectLines("inactive", "active")
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2])
    func `Only signals that the program names are handled`(_ signal: CInt) async throws {
      let subject = try await Subject()
      try await subject.run("observe")
      subject.send(signal)
      try await expect(subject.ends(), equals: signal)
    }

    @Test func `The subject has the default actions where its parent ignores a signal`() async {
      await #expect(processExitsWith: .success) {
        signal(SIGUSR2, SIG_IGN)
        let subject = try await Subject()
        subject.send(SIGUSR2)
        try await expect(subject.ends(), equals: SIGUSR2)
      }
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `A signal that ends the process is refused and not handled`(_ signal: CInt) async throws {
      let subject = try await Subject("inactive=\(signal)")
      try await expect(subject.run("observe"), equals: ["warning signalInUse", "active"])
      subject.send(signal)
      try await expect(subject.ends(), equals: signal)
    }

    @Test func `Signals that the program names mark the process`() async throws {
      let subject = try await Subject("inactive=\(SIGUSR1)", "active=\(SIGUSR2)")
      try await expect(subject.run("observe"), equals: ["active"])
      subject.send(SIGUSR1)
      try await subject.expectLines("inactive")
      subject.send(SIGUSR1)
      subject.send(SIGUSR2)
      try await subject.expectLines("active")
      try await expect(subject.run("mark"), equals: ["inactive"])
      subject.send(SIGUSR2)
      try await subject.expectLines("active")
    }

    /// Sends the signal, and returns the next lines of the subject, in alphabetical order.
    private func lines(of subject: Subject, _ count: Int) async throws -> [String] {
      subject.send(SIGCONT)
      var lines: [String] = []
      for _ in 0..<count { lines.append(try #require(try await subject.line())) }
      return lines.sorted()
    }

    @Test func `A handler of the program is called as before, and alone after the last subscription`() async throws {
      let subject = try await Subject("own-handler=\(SIGCONT)")
      for _ in 0..<3 {
        try await expect(subject.run("observe"), equals: ["active"])
        try await expect(self.lines(of: subject, 3), equals: ["active", "handler", "inactive"])
        #expect(try await subject.run("cancel").isEmpty)
        try await expect(self.lines(of: subject, 1), equals: ["handler"])
        try await expect(subject.run("mark"), equals: [])
        try await expect(subject.run("unmark"), equals: [])
      }
    }

    @Test func `The previous action of a signal is restored after the last subscription`() async throws {
      let subject = try await Subject()
      try await expect(subject.run("disposition"), equals: ["standard"])
      for _ in 0..<10 {
        try await expect(subject.run("observe"), equals: ["active"])
        try await expect(subject.run("disposition"), equals: ["handled"])
        try await subject.run("cancel")
        try await expect(subject.run("disposition"), equals: ["standard"])
      }
    }

    @Test func `A handler that the program installs later misses no signal, and both are called`() async throws {
      let subject = try await Subject()
      try await expect(subject.run("observe"), equals: ["active"])
      try await subject.run("handle")
      // The observer also does this by itself, after a while.
      try await subject.run("renew")
      for _ in 0..<100 { try await expect(self.lines(of: subject, 3), equals: ["active", "handler", "inactive"]) }
      try await subject.run("cancel")
      for _ in 0..<100 { try await expect(self.lines(of: subject, 1), equals: ["handler"]) }
      try await expect(subject.run("observe"), equals: ["active"])
      try await expect(self.lines(of: subject, 3), equals: ["active", "handler", "inactive"])
    }

    @Test func `A handler that calls the previous one may be installed on top and removed`() async throws {
      let subject = try await Subject("own-handler=\(SIGCONT)")
      try await expect(subject.run("observe"), equals: ["active"])
      for _ in 0..<10 {
        try await subject.run("chain")
        try await expect(self.lines(of: subject, 4), equals: ["active", "chained", "handler", "inactive"])
        try await subject.run("renew")
        try await expect(self.lines(of: subject, 4), equals: ["active", "chained", "handler", "inactive"])
        try await subject.run("unchain")
        try await subject.run("renew")
        try await expect(self.lines(of: subject, 3), equals: ["active", "handler", "inactive"])
      }
      try await subject.run("cancel")
      try await expect(self.lines(of: subject, 1), equals: ["handler"])
    }

    @Test func `A handler that is on top after the last subscription stays, with the handlers below it`() async throws {
      let subject = try await Subject("own-handler=\(SIGCONT)")
      try await subject.run("observe")
      try await subject.run("chain")
      try await subject.run("cancel")
      try await expect(self.lines(of: subject, 2), equals: ["chained", "handler"])
      try await subject.run("unchain")
      try await expect(self.lines(of: subject, 1), equals: ["handler"])
    }

    @Test func `A program that keeps installing handlers keeps its signal, which is reported once`() async throws {
      let subject = try await Subject()
      try await subject.run("observe")
      var warnings: [String] = []
      for _ in 0..<6 {
        try await subject.run("handle")
        warnings += try await subject.run("renew")
        try await subject.run("chain")
        warnings += try await subject.run("renew")
      }
      expect(warnings, equals: ["warning signalInUse"])
      subject.send(SIGCONT)
      try await subject.expectLines("chained", "handler")
    }

    @Test func `An event source that the program makes later shares the signal`() async throws {
      let subject = try await Subject()
      try await expect(subject.run("observe"), equals: ["active"])
      try await subject.run("source")
      try await subject.run("renew")
      for _ in 0..<20 { try await expect(self.lines(of: subject, 3), equals: ["active", "inactive", "source"]) }
      try await subject.run("cancel")
      for _ in 0..<20 { try await expect(self.lines(of: subject, 1), equals: ["source"]) }
    }

    @Test func `An event source of the program shares the signal`() async throws {
      let subject = try await Subject("own-source=\(SIGCONT)")
      try await expect(subject.run("observe"), equals: ["active"])
      subject.send(SIGCONT)
      let received = try await [subject.line(), subject.line(), subject.line()].compactMap { $0 }
      expect(received.sorted(), equals: ["active", "inactive", "source"])
      expect(received.filter { $0 != "source" }, equals: ["inactive", "active"])
    }

    @Test func `An event source for a signal that ends the process still works beside an observer`() async throws {
      let subject = try await Subject("own-source=\(SIGTERM)")
      try await subject.run("observe")
      subject.send(SIGTERM)
      try await subject.expectLines("source")
      try await expect(subject.run("mark"), equals: ["inactive"])
    }

    @Test func `Nothing is left after the last subscription but the pipe`() async throws {
      let subject = try await Subject()
      // The first subscription creates the pipe, which stays, because a handler may be writing to it.
      try await subject.run("observe")
      try await subject.run("cancel")
      let before = try await subject.run("resources")
      expect(before.first?.hasSuffix(" 0"), equals: true)
      try await subject.run("observe")
      let meanwhile = try await subject.run("resources")
      expect(meanwhile.first?.hasSuffix(" 1"), equals: true)
      #expect(meanwhile != before)
      try await subject.run("cancel")
      try await expect(subject.run("resources"), equals: before)
    }
  }
#endif
