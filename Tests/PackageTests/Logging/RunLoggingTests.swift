#if SwiftOperationLogging
  import InMemoryLogging
  import Logging
  import OperationCore
  import OperationLogging
  import OperationPausing
  import OperationRetry
  import OperationTesting
  import TestFixtures
  import Testing

  @Suite(.bounded, .warningsAreIssues)
  struct RunLoggingTests {
    private let entries = SignalingLog()
    private let clock = ManualClock()
    private let script = OperationScript<Int, any Error>()

    private func client(logsValues: Bool = false) -> OperationClient {
      var context = OperationContext()
      context.use(self.clock)
      context.operationLogger = Logger(label: "test") { _ in self.entries }
      context.operationLogsValues = logsValues
      return OperationClient(defaultContext: context)
    }

    @Test func `A run that has not ended has a line with its cause, without user data`() async throws {
      let client = self.client()
      client.logRuns(at: .debug)
      let store = client.store(
        for: self.script.query(path: ["posts", 1]).enableAutomaticRunning(onlyWhen: .always(true))
      )
      let subscription = store.subscribe(named: "PostView")
      let entry = try #require(await self.entries.first(1).last)
      #expect(entry.level == .debug && entry.message == "run began")
      var metadata = entry.metadata
      #expect(metadata.removeValue(forKey: "operation.task") != nil)
      expect(
        metadata,
        equals: [
          "operation.name": "ScriptedQuery<Int, Error>", "operation.path": ["String", "Int"],
          "operation.cause": "subscriber",
        ]
      )
      subscription.cancel()
      try await expect(self.entries.first(2).last?.message, equals: "run cancelled")
    }

    @Test func `Attempts and ends have lines with the delay, the reason and the type of the error`() async throws {
      let client = self.client()
      client.logRuns()
      self.script.enqueue(.error(Hinted(retryAfter: .seconds(2))), .error(Refused(code: 2)))
      let query = self.script.query(path: ["posts", 1]).retry(limit: 1)
      let store = client.store(for: query.context { $0.operationRetryAfterJitter = .none })
      let fetch = Task.immediate { try await store.fetch() }
      try await self.clock.sleepers(count: 1)
      self.clock.advance(by: .seconds(2))
      await #expect(throws: Refused.self) { try await fetch.value }
      let entries = try await self.entries.first(4)
      expect(entries.map(\.message), equals: ["run began", "attempt failed", "attempt began", "run failed"])
      expect(entries.map { $0.metadata["operation.attempt"] }, equals: [nil, "1", "2", nil])
      expect(entries[1].metadata["operation.next"], equals: "2.0")
      expect(entries[1].metadata["operation.reason"], equals: "the server asked for it")
      expect(entries[3].metadata["operation.duration"], equals: "2.0")
      #expect("\(entries[3].metadata["operation.error"], default: "none")".hasSuffix("Refused"))
    }

    @Test func `A pause has a line with what the run waits for, and values are logged if the context allows it`()
      async throws
    {
      let client = self.client(logsValues: true)
      client.logRuns()
      let condition = SwitchSpecification(false)
      let store = client.store(for: self.script.query(path: ["posts", 1]).waits(until: condition))
      let fetch = Task.immediate { try await store.fetch() }
      _ = try await self.entries.first(2)
      self.clock.advance(by: .seconds(3))
      condition.set(true)
      try await self.script.next().fail(Refused(code: 4))
      await #expect(throws: Refused.self) { try await fetch.value }
      let entries = try await self.entries.first(4)
      expect(entries.map(\.message), equals: ["run began", "run paused", "run resumed", "run failed"])
      expect(entries[0].metadata["operation.path"], equals: ["\"posts\"", "1"])
      expect(entries[0].metadata["operation.cause"], equals: "a call")
      expect(entries[1].metadata["operation.waits_for"], equals: "SwitchSpecification")
      expect(entries[2].metadata["operation.waited"], equals: "3.0")
      expect(entries[3].metadata["operation.error"], equals: "Refused(code: 4)")
    }

    @Test func `A run that waits for something else has lines with it, and each line has the cause`() async throws {
      let client = self.client()
      client.logRuns()
      let query = QueryOperation<Int, any Error>("posts") { [clock] context in
        let wait = context.beginWait(for: { "a permit of the printer" })
        clock.advance(by: .seconds(2))
        context.endWait(wait)
        return 1
      }
      try await client.store(for: query).fetch()
      let entries = try await self.entries.first(4)
      expect(entries.map(\.message), equals: ["run began", "run waits", "run waited", "run succeeded"])
      expect(entries.map { $0.metadata["operation.cause"] }, equals: ["call", "call", "call", "call"])
      expect(entries[1].metadata["operation.waits_for"], equals: "a permit of the printer")
      expect(entries[2].metadata["operation.waited"], equals: "2.0")
    }

    @Test func `The log ends with the client`() async throws {
      let lifetimes = LifetimeTracker()
      do {
        let client = self.client()
        client.attach(lifetimes.token())
        client.logRuns()
        client.logRuns()
      }
      try await lifetimes.noneAlive()
    }
  }

  private struct Hinted: RetryHinting {
    let retryAfter: OperationDuration?
  }

  /// A log handler whose entries a test can wait for.
  private struct SignalingLog: LogHandler {
    private let stream = AsyncStream.makeStream(of: InMemoryLogHandler.Entry.self)
    private let received = Log<InMemoryLogHandler.Entry>()

    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    init() {}

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { self.metadata[key] }
      set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      self.stream.continuation.yield(
        InMemoryLogHandler.Entry(level: event.level, message: event.message, metadata: event.metadata ?? [:])
      )
    }

    /// Waits for a number of entries from the beginning.
    func first(_ count: Int) async throws -> [InMemoryLogHandler.Entry] {
      try await withTimeLimit("\(count) log entries") {
        var iterator = self.stream.stream.makeAsyncIterator()
        while self.received.count < count, let entry = await iterator.next() { self.received.append(entry) }
      }
      return Array(self.received.all.prefix(count))
    }
  }
#endif
