#if os(Linux)
  import Glibc
  import OperationTesting
  import Testing

  /// Signals, sent to a process of their own.
  @Suite(.timeLimit(.minutes(3)))
  struct SignalTests {
    @Test(arguments: [SIGSTOP, SIGTSTP])
    func `A process that is stopped and goes on was inactive and is active again`(_ signal: CInt) async throws {
      let subject = try await Subject()
      #expect(try await subject.obeys("observe") == ["active"])
      for _ in 0..<3 {
        subject.send(signal)
        try await subject.stops()
        subject.send(SIGCONT)
        try await subject.hears("inactive", "active")
      }
    }

    @Test func `Who has cancelled hears nothing any more, and who comes again does`() async throws {
      let subject = try await Subject()
      try await subject.obeys("observe")
      #expect(try await subject.obeys("cancel").isEmpty)
      subject.send(SIGCONT)
      #expect(try await subject.obeys("census").count == 1)
      // The signal before may still be on its way, and is heard like the one after.
      #expect(try await subject.obeys("observe").first == "active")
      subject.send(SIGCONT)
      try await subject.hears("inactive", "active")
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2])
    func `No signal is taken that nobody has asked for`(_ signal: CInt) async throws {
      let subject = try await Subject()
      try await subject.obeys("observe")
      subject.send(signal)
      #expect(try await subject.ends() == signal)
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
      try await subject.hears("inactive")
      subject.send(SIGUSR1)
      subject.send(SIGUSR2)
      try await subject.hears("active")
      #expect(try await subject.obeys("mark") == ["inactive"])
      subject.send(SIGUSR2)
      try await subject.hears("active")
    }

    @Test func `A handler of the program keeps its signal, and is reported once`() async throws {
      let subject = try await Subject("own-handler=\(SIGCONT)")
      #expect(try await subject.obeys("observe") == ["active", "warning signalInUse"])
      subject.send(SIGSTOP)
      try await subject.stops()
      subject.send(SIGCONT)
      try await subject.hears("handler")
      #expect(try await subject.obeys("cancel").isEmpty)
      #expect(try await subject.obeys("observe") == ["active"])
      subject.send(SIGCONT)
      try await subject.hears("handler")
      #expect(try await subject.obeys("mark") == ["inactive"])
    }

    @Test func `An event source of the program shares the signal`() async throws {
      let subject = try await Subject("own-source=\(SIGCONT)")
      #expect(try await subject.obeys("observe") == ["active"])
      subject.send(SIGCONT)
      let heard = try await [subject.line(), subject.line(), subject.line()].compactMap { $0 }
      #expect(heard.sorted() == ["active", "inactive", "source"])
      #expect(heard.filter { $0 != "source" } == ["inactive", "active"])
    }

    @Test func `An event source for the end of the process works on, whoever observes`() async throws {
      let subject = try await Subject("own-source=\(SIGTERM)")
      try await subject.obeys("observe")
      subject.send(SIGTERM)
      try await subject.hears("source")
      #expect(try await subject.obeys("mark") == ["inactive"])
    }

    @Test func `Nothing is left when the last subscriber has gone`() async throws {
      let subject = try await Subject()
      // What the event source of the signal needs stays, as the signal stays taken.
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
