#if os(Linux)
  import Glibc
  import OperationTesting
  import Testing

  /// Signals, sent to a process of their own.
  @Suite(.timeLimit(.minutes(10)))
  struct SignalTests {
    @Test(arguments: [SIGSTOP, SIGTSTP])
    func `A process that is stopped and goes on was inactive and is active again`(_ signal: CInt) async throws {
      let subject = try await Subject()
      #expect(try await subject.obeys("observe") == ["active"])
      for _ in 0..<3 {
        subject.send(signal)
        try await subject.stops()
        subject.send(SIGCONT)
        try await subject.reports("inactive", "active")
      }
    }

    @Test func `A cancelled subscriber receives nothing any more, and a new one does`() async throws {
      let subject = try await Subject()
      try await subject.obeys("observe")
      #expect(try await subject.obeys("cancel").isEmpty)
      subject.send(SIGCONT)
      #expect(try await subject.obeys("census").count == 1)
      // The signal before may still be on its way, and is received like the one after.
      #expect(try await subject.obeys("observe").first == "active")
      subject.send(SIGCONT)
      try await subject.reports("inactive", "active")
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2])
    func `No signal is taken unasked`(_ signal: CInt) async throws {
      let subject = try await Subject()
      try await subject.obeys("observe")
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
    func `A signal that ends the process is refused and never taken`(_ signal: CInt) async throws {
      let subject = try await Subject("inactive=\(signal)")
      #expect(try await subject.obeys("observe") == ["warning signalInUse", "active"])
      subject.send(signal)
      #expect(try await subject.ends() == signal)
    }

    @Test func `Signals that are asked for mark the process`() async throws {
      let subject = try await Subject("inactive=\(SIGUSR1)", "active=\(SIGUSR2)")
      #expect(try await subject.obeys("observe") == ["active"])
      subject.send(SIGUSR1)
      try await subject.reports("inactive")
      subject.send(SIGUSR1)
      subject.send(SIGUSR2)
      try await subject.reports("active")
      #expect(try await subject.obeys("mark") == ["inactive"])
      subject.send(SIGUSR2)
      try await subject.reports("active")
    }

    /// Sends the signal, and returns so many lines that are said then, in alphabetical order.
    private func lines(of subject: Subject, _ count: Int) async throws -> [String] {
      subject.send(SIGCONT)
      var lines: [String] = []
      for _ in 0..<count { lines.append(try #require(try await subject.line())) }
      return lines.sorted()
    }

    @Test func `A handler of the program is called as before, and is alone again in the end`() async throws {
      let subject = try await Subject("own-handler=\(SIGCONT)")
      for _ in 0..<3 {
        #expect(try await subject.obeys("observe") == ["active"])
        #expect(try await self.lines(of: subject, 3) == ["active", "handler", "inactive"])
        #expect(try await subject.obeys("cancel").isEmpty)
        #expect(try await self.lines(of: subject, 1) == ["handler"])
        #expect(try await subject.obeys("mark") == [])
        #expect(try await subject.obeys("unmark") == [])
      }
    }

    @Test func `The former action of a signal is restored in the end`() async throws {
      let subject = try await Subject()
      #expect(try await subject.obeys("disposition") == ["standard"])
      for _ in 0..<10 {
        #expect(try await subject.obeys("observe") == ["active"])
        #expect(try await subject.obeys("disposition") == ["handled"])
        try await subject.obeys("cancel")
        #expect(try await subject.obeys("disposition") == ["standard"])
      }
    }

    @Test func `A handler that the program installs later misses no signal, and both are called`() async throws {
      let subject = try await Subject()
      #expect(try await subject.obeys("observe") == ["active"])
      try await subject.obeys("handle")
      // The observer would do it by itself after a while.
      try await subject.obeys("renew")
      for _ in 0..<100 { #expect(try await self.lines(of: subject, 3) == ["active", "handler", "inactive"]) }
      try await subject.obeys("cancel")
      for _ in 0..<100 { #expect(try await self.lines(of: subject, 1) == ["handler"]) }
      #expect(try await subject.obeys("observe") == ["active"])
      #expect(try await self.lines(of: subject, 3) == ["active", "handler", "inactive"])
    }

    @Test func `A handler that calls the one before it may be put on top and taken away`() async throws {
      let subject = try await Subject("own-handler=\(SIGCONT)")
      #expect(try await subject.obeys("observe") == ["active"])
      for _ in 0..<10 {
        try await subject.obeys("chain")
        #expect(try await self.lines(of: subject, 4) == ["active", "chained", "handler", "inactive"])
        try await subject.obeys("renew")
        #expect(try await self.lines(of: subject, 4) == ["active", "chained", "handler", "inactive"])
        try await subject.obeys("unchain")
        try await subject.obeys("renew")
        #expect(try await self.lines(of: subject, 3) == ["active", "handler", "inactive"])
      }
      try await subject.obeys("cancel")
      #expect(try await self.lines(of: subject, 1) == ["handler"])
    }

    @Test func `A handler that is on top when the observer goes is left alone, with what lies below it`() async throws {
      let subject = try await Subject("own-handler=\(SIGCONT)")
      try await subject.obeys("observe")
      try await subject.obeys("chain")
      try await subject.obeys("cancel")
      #expect(try await self.lines(of: subject, 2) == ["chained", "handler"])
      try await subject.obeys("unchain")
      #expect(try await self.lines(of: subject, 1) == ["handler"])
    }

    @Test func `A program that installs ever new handlers keeps its signal, and that is reported once`() async throws {
      let subject = try await Subject()
      try await subject.obeys("observe")
      var warnings: [String] = []
      for _ in 0..<6 {
        try await subject.obeys("handle")
        warnings += try await subject.obeys("renew")
        try await subject.obeys("chain")
        warnings += try await subject.obeys("renew")
      }
      #expect(warnings == ["warning signalInUse"])
      subject.send(SIGCONT)
      try await subject.reports("chained", "handler")
    }

    @Test func `An event source that the program makes later shares the signal`() async throws {
      let subject = try await Subject()
      #expect(try await subject.obeys("observe") == ["active"])
      try await subject.obeys("source")
      try await subject.obeys("renew")
      for _ in 0..<20 { #expect(try await self.lines(of: subject, 3) == ["active", "inactive", "source"]) }
      try await subject.obeys("cancel")
      for _ in 0..<20 { #expect(try await self.lines(of: subject, 1) == ["source"]) }
    }

    @Test func `An event source of the program shares the signal`() async throws {
      let subject = try await Subject("own-source=\(SIGCONT)")
      #expect(try await subject.obeys("observe") == ["active"])
      subject.send(SIGCONT)
      let received = try await [subject.line(), subject.line(), subject.line()].compactMap { $0 }
      #expect(received.sorted() == ["active", "inactive", "source"])
      #expect(received.filter { $0 != "source" } == ["inactive", "active"])
    }

    @Test func `An event source for the end of the process works on beside an observer`() async throws {
      let subject = try await Subject("own-source=\(SIGTERM)")
      try await subject.obeys("observe")
      subject.send(SIGTERM)
      try await subject.reports("source")
      #expect(try await subject.obeys("mark") == ["inactive"])
    }

    @Test func `Nothing is left when the last subscriber has gone`() async throws {
      let subject = try await Subject()
      // The pipe that a handler may be writing to stays.
      try await subject.obeys("observe")
      try await subject.obeys("cancel")
      let before = try await subject.obeys("census")
      #expect(before.first?.hasSuffix(" 0") == true)
      try await subject.obeys("observe")
      let meanwhile = try await subject.obeys("census")
      #expect(meanwhile.first?.hasSuffix(" 1") == true)
      #expect(meanwhile != before)
      try await subject.obeys("cancel")
      #expect(try await subject.obeys("census") == before)
    }
  }
#endif
