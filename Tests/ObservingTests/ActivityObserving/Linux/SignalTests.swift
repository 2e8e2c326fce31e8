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
      #expect(try await subject.run("observe") == ["active"])
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
      #expect(try await subject.run("resources").count == 1)
      // The first signal may be delivered only now, and is received like the second one.
      #expect(try await subject.run("observe").first == "active")
      subject.send(SIGCONT)
      try await subject.expectLines("inactive", "active")
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2])
    func `Only signals that the program names are handled`(_ signal: CInt) async throws {
      let subject = try await Subject()
      try await subject.run("observe")
      subject.send(signal)
      #expect(try await subject.ends() == signal)
    }

    @Test func `The subject has the default actions where its parent ignores a signal`() async {
      await #expect(processExitsWith: .success) {
        signal(SIGUSR2, SIG_IGN)
        let subject = try await Subject()
        subject.send(SIGUSR2)
        #expect(try await subject.ends() == SIGUSR2)
      }
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `A signal that ends the process is refused and not handled`(_ signal: CInt) async throws {
      let subject = try await Subject("inactive=\(signal)")
      #expect(try await subject.run("observe") == ["warning signalInUse", "active"])
      subject.send(signal)
      #expect(try await subject.ends() == signal)
    }

    @Test func `Signals that the program names mark the process`() async throws {
      let subject = try await Subject("inactive=\(SIGUSR1)", "active=\(SIGUSR2)")
      #expect(try await subject.run("observe") == ["active"])
      subject.send(SIGUSR1)
      try await subject.expectLines("inactive")
      subject.send(SIGUSR1)
      subject.send(SIGUSR2)
      try await subject.expectLines("active")
      #expect(try await subject.run("mark") == ["inactive"])
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
        #expect(try await subject.run("observe") == ["active"])
        #expect(try await self.lines(of: subject, 3) == ["active", "handler", "inactive"])
        #expect(try await subject.run("cancel").isEmpty)
        #expect(try await self.lines(of: subject, 1) == ["handler"])
        #expect(try await subject.run("mark") == [])
        #expect(try await subject.run("unmark") == [])
      }
    }

    @Test func `The previous action of a signal is restored after the last subscription`() async throws {
      let subject = try await Subject()
      #expect(try await subject.run("disposition") == ["standard"])
      for _ in 0..<10 {
        #expect(try await subject.run("observe") == ["active"])
        #expect(try await subject.run("disposition") == ["handled"])
        try await subject.run("cancel")
        #expect(try await subject.run("disposition") == ["standard"])
      }
    }

    @Test func `A handler that the program installs later misses no signal, and both are called`() async throws {
      let subject = try await Subject()
      #expect(try await subject.run("observe") == ["active"])
      try await subject.run("handle")
      // The observer also does this by itself, after a while.
      try await subject.run("renew")
      for _ in 0..<100 { #expect(try await self.lines(of: subject, 3) == ["active", "handler", "inactive"]) }
      try await subject.run("cancel")
      for _ in 0..<100 { #expect(try await self.lines(of: subject, 1) == ["handler"]) }
      #expect(try await subject.run("observe") == ["active"])
      #expect(try await self.lines(of: subject, 3) == ["active", "handler", "inactive"])
    }

    @Test func `A handler that calls the previous one may be installed on top and removed`() async throws {
      let subject = try await Subject("own-handler=\(SIGCONT)")
      #expect(try await subject.run("observe") == ["active"])
      for _ in 0..<10 {
        try await subject.run("chain")
        #expect(try await self.lines(of: subject, 4) == ["active", "chained", "handler", "inactive"])
        try await subject.run("renew")
        #expect(try await self.lines(of: subject, 4) == ["active", "chained", "handler", "inactive"])
        try await subject.run("unchain")
        try await subject.run("renew")
        #expect(try await self.lines(of: subject, 3) == ["active", "handler", "inactive"])
      }
      try await subject.run("cancel")
      #expect(try await self.lines(of: subject, 1) == ["handler"])
    }

    @Test func `A handler that is on top after the last subscription stays, with the handlers below it`() async throws {
      let subject = try await Subject("own-handler=\(SIGCONT)")
      try await subject.run("observe")
      try await subject.run("chain")
      try await subject.run("cancel")
      #expect(try await self.lines(of: subject, 2) == ["chained", "handler"])
      try await subject.run("unchain")
      #expect(try await self.lines(of: subject, 1) == ["handler"])
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
      #expect(warnings == ["warning signalInUse"])
      subject.send(SIGCONT)
      try await subject.expectLines("chained", "handler")
    }

    @Test func `An event source that the program makes later shares the signal`() async throws {
      let subject = try await Subject()
      #expect(try await subject.run("observe") == ["active"])
      try await subject.run("source")
      try await subject.run("renew")
      for _ in 0..<20 { #expect(try await self.lines(of: subject, 3) == ["active", "inactive", "source"]) }
      try await subject.run("cancel")
      for _ in 0..<20 { #expect(try await self.lines(of: subject, 1) == ["source"]) }
    }

    @Test func `An event source of the program shares the signal`() async throws {
      let subject = try await Subject("own-source=\(SIGCONT)")
      #expect(try await subject.run("observe") == ["active"])
      subject.send(SIGCONT)
      let received = try await [subject.line(), subject.line(), subject.line()].compactMap { $0 }
      #expect(received.sorted() == ["active", "inactive", "source"])
      #expect(received.filter { $0 != "source" } == ["inactive", "active"])
    }

    @Test func `An event source for a signal that ends the process still works beside an observer`() async throws {
      let subject = try await Subject("own-source=\(SIGTERM)")
      try await subject.run("observe")
      subject.send(SIGTERM)
      try await subject.expectLines("source")
      #expect(try await subject.run("mark") == ["inactive"])
    }

    @Test func `Nothing is left after the last subscription but the pipe`() async throws {
      let subject = try await Subject()
      // The first subscription creates the pipe, which stays, because a handler may be writing to it.
      try await subject.run("observe")
      try await subject.run("cancel")
      let before = try await subject.run("resources")
      #expect(before.first?.hasSuffix(" 0") == true)
      try await subject.run("observe")
      let meanwhile = try await subject.run("resources")
      #expect(meanwhile.first?.hasSuffix(" 1") == true)
      #expect(meanwhile != before)
      try await subject.run("cancel")
      #expect(try await subject.run("resources") == before)
    }
  }
#endif
