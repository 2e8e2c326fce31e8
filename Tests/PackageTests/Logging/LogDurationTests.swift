#if SwiftOperationLogging
  import InMemoryLogging
  import Logging
  import OperationBackoff
  import OperationCore
  import OperationLogging
  import OperationPausing
  import OperationRetry
  import OperationTesting
  import TestFixtures
  import Testing

  @Suite(.bounded, .warningsAreIssues) struct LogDurationTests {
    private struct Secret: Error, CustomStringConvertible {
      var description: String { "password" }
    }

    private let handler = InMemoryLogHandler()
    private let clock = ManualClock()
    private let script = OperationScript<Int, any Error>()

    private var context: OperationContext {
      var context = OperationContext()
      context.operationLogger = Logger(label: "test") { _ in self.handler }
      context.operationDeadlines = self.clock
      context.operationDelayer = .noDelay
      return context
    }

    @Test func `A run has one entry with the path, the attempt and the duration`() async throws {
      let query = self.script.query(path: ["search", "a secret"]).logDuration()
      let store = OperationStore.detached(query: query, initialContext: self.context)
      let fetch = Task { try await store.fetch() }
      let run = try await self.script.next()
      #expect(self.handler.entries.isEmpty)
      self.clock.advance(by: .milliseconds(1500))
      run.succeed(4711)
      try await expect(fetch.value, equals: 4711)

      let entry = try #require(self.handler.entries.first)
      expect(self.handler.entries.count, equals: 1)
      expect(entry.level, equals: .info)
      expect(entry.message, equals: "operation succeeded")
      var metadata = entry.metadata
      #expect(metadata.removeValue(forKey: "operation.task") != nil)
      let expected: Logger.Metadata = [
        "operation.name": "ScriptedQuery<Int, Error>",
        "operation.path": ["String", "String"],
        "operation.attempt": "1",
        "operation.cause": "call",
        "operation.outcome": "success",
        "operation.duration": "1.5",
      ]
      expect(metadata, equals: expected)
      #expect(!"\(entry)".contains("secret"))
      #expect(!"\(entry)".contains("4711"))
    }

    @Test func `An error is logged by its type`() async throws {
      self.script.enqueue(.error(Secret()))
      let store = OperationStore.detached(
        query: self.script.query().logDuration("search"),
        initialContext: self.context
      )
      await #expect(throws: Secret.self) { try await store.fetch() }

      let entry = try #require(self.handler.entries.first)
      expect(entry.message, equals: "operation failed")
      expect(entry.metadata["operation.name"], equals: "search")
      expect(entry.metadata["operation.outcome"], equals: "failure")
      #expect("\(entry.metadata["operation.error"], default: "none")".contains("Secret"))
      #expect(!"\(entry)".contains("password"))
    }

    @Test func `Values are logged if the context allows it`() async throws {
      var context = self.context
      context.operationLogsValues = true
      self.script.enqueue(.error(Secret()))
      let query = self.script.query(path: ["search", 7]).logDuration()
      let store = OperationStore.detached(query: query, initialContext: context)
      await #expect(throws: Secret.self) { try await store.fetch() }

      let metadata = try #require(self.handler.entries.first).metadata
      expect(metadata["operation.path"], equals: ["\"search\"", "7"])
      expect(metadata["operation.error"], equals: "password")
    }

    @Test func `Inside of a retry each attempt has an entry`() async throws {
      self.script.enqueue(.error(Secret()), .error(Secret()), .value(3))
      let operation = self.script.operation().logDuration(.debug).retry(limit: 3)
      var context = self.context
      context.operationLogger.logLevel = .debug
      try await expect(OperationRunner(operation: operation, initialContext: context).run(), equals: 3)
      expect(self.handler.entries.map { $0.metadata["operation.attempt"] }, equals: ["1", "2", "3"])
      expect(self.handler.entries.map { $0.metadata["operation.outcome"] }, equals: ["failure", "failure", "success"])
      expect(self.handler.entries.map(\.level), equals: [.debug, .debug, .debug])
    }

    @Test func `Outside of a retry the run has one entry, with the last attempt`() async throws {
      self.script.enqueue(.error(Secret()), .value(2))
      let operation = self.script.operation().retry(limit: 3).logDuration()
      try await expect(OperationRunner(operation: operation, initialContext: self.context).run(), equals: 2)
      expect(self.handler.entries.map { $0.metadata["operation.attempt"] }, equals: ["2"])
      expect(self.handler.entries.first?.metadata["operation.path"], equals: nil)
    }

    @Test func `The time that a run has waited is told`() async throws {
      let gate = SwitchSpecification(false)
      let query = self.script.query().waits(until: gate).logDuration()
      let store = OperationStore.detached(query: query, initialContext: self.context)
      let fetch = Task.immediate { try await store.fetch() }
      #expect(store.isPaused)
      self.clock.advance(by: .milliseconds(2500))
      gate.set(true)
      let run = try await self.script.next()
      self.clock.advance(by: .seconds(1))
      run.succeed(1)
      try await expect(fetch.value, equals: 1)
      let metadata = try #require(self.handler.entries.first).metadata
      expect(metadata["operation.waited"], equals: "2.5")
      expect(metadata["operation.duration"], equals: "3.5")
    }

    @Test func `A cancellation is not logged as a failure`() async throws {
      let runner = OperationRunner(operation: self.script.operation().logDuration(), initialContext: self.context)
      let task = Task { try await runner.run() }
      _ = try await self.script.next()
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      expect(self.handler.entries.map(\.message), equals: ["operation cancelled"])
      expect(self.handler.entries.first?.metadata["operation.outcome"], equals: "cancellation")
    }

    @Test func `A cancelled body that throws its own error is logged as cancelled`() async throws {
      let gate = Gate()
      let body = Work<Int, any Error> { _, _ in
        do { try await gate.wait() } catch { throw Refused() }
        return 1
      }
      let runner = OperationRunner(operation: body.logDuration(), initialContext: self.context)
      let task = Task { try await runner.run() }
      try await gate.arrivals(count: 1)
      task.cancel()
      await #expect(throws: Refused.self) { try await task.value }
      expect(self.handler.entries.map(\.message), equals: ["operation cancelled"])
      expect(self.handler.entries.first?.metadata["operation.outcome"], equals: "cancellation")
    }

    @Test func `Nothing is logged below the level of the logger`() async throws {
      self.script.enqueue(.value(1))
      let operation = self.script.operation().logDuration(level: .debug)
      try await expect(OperationRunner(operation: operation, initialContext: self.context).run(), equals: 1)
      #expect(self.handler.entries.isEmpty)
    }

    @Test func `The level can be set with a name and without one`() async throws {
      self.script.enqueue(.value(1), .value(2))
      var context = self.context
      context.operationLogger.logLevel = .trace
      let named = self.script.operation().logDuration("search", at: .trace)
      try await expect(OperationRunner(operation: named, initialContext: context).run(), equals: 1)
      let unnamed = self.script.operation().logDuration(at: .error)
      try await expect(OperationRunner(operation: unnamed, initialContext: context).run(), equals: 2)
      expect(self.handler.entries.map(\.level), equals: [.trace, .error])
      expect(self.handler.entries.first?.metadata["operation.name"], equals: "search")
      #expect(self.handler.entries.last?.metadata["operation.name"] != "search")
    }

    @Test func `The modifier follows the rules of modifiers`() async throws {
      var context = self.context
      context.operationLogger.logLevel = .trace
      try await checkModifier(in: context) { $0.logDuration() }
    }
  }
#endif
