#if SwiftOperationLogging
  import InMemoryLogging
  import Logging
  import OperationCore
  import OperationLogging
  import OperationRetry
  import OperationTesting
  import TestFixtures
  import Testing

  @Suite(.bounded, .warningsAreIssues) struct NoticeLoggingTests {
    private let handler = InMemoryLogHandler()
    private let script = OperationScript<Int, any Error>(default: .value(1))

    private var context: OperationContext {
      var context = OperationContext.withoutDelays
      context.operationLogger = Logger(label: "test") { _ in self.handler }
      return context
    }

    @Test func `A notice has an entry with its name, its operation and its attributes`() async throws {
      let attributes: [String: OperationNotice.Value] = [
        "quota.limit": .integer(10), "quota.wait": .duration(.milliseconds(1500)), "quota.share": .number(0.5),
        "quota.name": .string("free"), "quota.is_hard": .flag(true),
      ]
      let query = self.script.query(path: ["search", "a secret"]).announcing(attributes: attributes).logNotices()
      _ = try await OperationStore.detached(query: query, initialContext: self.context).fetch()

      let entry = try #require(self.handler.entries.first)
      expect(self.handler.entries.count, equals: 1)
      expect(entry.level, equals: .info)
      expect(entry.message, equals: "quota.exceeded")
      var metadata = entry.metadata
      #expect(metadata.removeValue(forKey: "operation.task") != nil)
      let expected: Logger.Metadata = [
        "operation.notice": "quota.exceeded", "operation.name": "ScriptedQuery<Int, Error>",
        "operation.path": ["String", "String"], "operation.attempt": "1", "operation.cause": "call",
        "quota.limit": "10", "quota.wait": "1.5",
        "quota.share": "0.5", "quota.name": "free", "quota.is_hard": "true",
      ]
      expect(metadata, equals: expected)
      #expect(!"\(entry)".contains("secret"))
    }

    @Test func `Paths are logged if the context allows it`() async throws {
      var context = self.context
      context.operationLogsValues = true
      let query = self.script.query(path: ["search", 7]).announcing().logNotices(at: .error)
      _ = try await OperationStore.detached(query: query, initialContext: context).fetch()
      expect(self.handler.entries.map { $0.metadata["operation.path"] }, equals: [["\"search\"", "7"]])
      expect(self.handler.entries.map(\.level), equals: [.error])
    }

    @Test func `The entry has the attempt of the notice`() async throws {
      self.script.enqueue(.error(Refused()), .value(1))
      let query = self.script.query().announcing().retry(limit: 1).logNotices()
      _ = try await OperationStore.detached(query: query, initialContext: self.context).fetch()
      expect(self.handler.entries.map { $0.metadata["operation.attempt"] }, equals: ["1", "2"])
    }

    @Test func `The level may depend on the notice, and nil logs nothing`() async throws {
      let query = self.script.query().announcing().announcing(OperationNotice.Name("quota.checked"))
        .logNotices { $0.name == .quotaExceeded ? .warning : nil }
      _ = try await OperationStore.detached(query: query, initialContext: self.context).fetch()
      expect(self.handler.entries.map(\.message), equals: ["quota.exceeded"])
      expect(self.handler.entries.map(\.level), equals: [.warning])
    }

    @Test func `Below the level of the logger nothing is logged`() async throws {
      let query = self.script.query().announcing().logNotices(at: .debug)
      _ = try await OperationStore.detached(query: query, initialContext: self.context).fetch()
      #expect(self.handler.entries.isEmpty)
    }

    @Test func `A client logs the notices of its operations and its own, but no levels`() async throws {
      let client = OperationClient(defaultContext: self.context)
      client.logNotices(at: .notice)
      _ = try await client.store(for: self.script.query().announcing()).fetch()
      client.defaultContext.send(OperationNotice(.quotaExceeded))
      client.defaultContext.send(OperationNotice(.quotaExceeded, level: 4))
      expect(self.handler.entries.map(\.level), equals: [.notice, .notice])
      expect(self.handler.entries.last?.metadata, equals: ["operation.notice": "quota.exceeded"])
    }

    @Test func `Of several logs, the innermost one logs a notice`() async throws {
      let client = OperationClient(defaultContext: self.context)
      client.logNotices(at: .notice)
      let query = self.script.query().announcing().logNotices(at: .warning).logNotices(at: .error)
      let store = client.store(for: query)
      _ = try await store.fetch()
      expect(self.handler.entries.map(\.level), equals: [.warning])

      // The context of another operation's body.
      var context = self.context
      context.logNotices(at: .critical)
      _ = try await store.fetch(using: context)
      expect(self.handler.entries.map(\.level), equals: [.warning, .critical])
    }

    @Test func `The modifier follows the rules of modifiers`() async throws {
      try await checkModifier(in: self.context) { $0.logNotices() }
    }
  }
#endif
