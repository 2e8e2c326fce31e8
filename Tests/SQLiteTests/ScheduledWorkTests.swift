#if SwiftOperationSQLite && os(Linux)
  import Foundation
  import OperationCore
  import OperationMutation
  import OperationPersistence
  import OperationSQLite
  import OperationTesting
  import TestFixtures
  import Testing

  /// Scheduled calls of a database.
  @Suite(.bounded, .warningsAreIssues) struct ScheduledWorkTests {
    private struct Work: MutationRequest {
      let keys: Log<String>
      let script: OperationScript<String, any Error>
      let path: OperationPath = ["work"]

      func mutate(
        isolation: isolated (any Actor)?,
        with arguments: String,
        in context: OperationContext,
        with continuation: OperationContinuation<String, any Error>
      ) async throws -> String {
        self.keys.append(context.operationIdempotencyKey ?? "")
        return try await self.script.run(in: context, with: continuation)
      }
    }

    private struct Start {
      let storage: SQLiteStorage
      let client: OperationClient
      let journal: MutationJournal
    }

    private let clock = ManualClock()
    private let keys = Log<String>()
    private let script = OperationScript<String, any Error>()

    private var work: some MutationRequest<String, String, any Error> {
      Work(keys: self.keys, script: self.script).journaled(as: "work")
    }

    private func start(_ path: String, prefix: String) throws -> Start {
      let storage = try SQLiteStorage(path: path)
      var context = OperationContext()
      context.use(self.clock)
      let client = OperationClient(defaultContext: context)
      let counter = Counter()
      let journal = MutationJournal(storage: storage, makeKey: { "\(prefix)\(counter.increment())" })
      client.journal = journal
      journal.register(self.work, as: "work")
      return Start(storage: storage, client: client, journal: journal)
    }

    @Test func `What a killed program has scheduled goes on with its times and keys`() async throws {
      let folder = try Folder.inMemory()
      let first = try self.start(folder.file(), prefix: "a")
      try await first.journal.schedule(self.work, with: "daily", named: "n", every: .seconds(100))
      try await first.journal.schedule(self.work, with: "once", after: .seconds(250))
      self.clock.advance(by: .seconds(100))
      try await self.script.next().succeed("ok")
      await first.journal.settled()
      expect(self.keys.all, equals: ["a1#0"])
      // As a killed process leaves it.
      first.client.stopAutomaticRuns()
      let killed = try Folder.inMemory()
      for name in ["state.sqlite", "state.sqlite-wal"] { try killed.write(try folder.read(name), to: name) }
      await first.storage.close()
      self.clock.advance(by: .seconds(100))
      let second = try self.start(killed.file(), prefix: "b")
      await second.journal.resume()
      try await self.script.next().succeed("ok")
      self.clock.advance(by: .seconds(50))
      try await self.script.next().succeed("ok")
      await second.journal.settled()
      expect(self.keys.all, equals: ["a1#0", "a1#1", "a2"])
      expect(second.journal.schedules.map(\.name), equals: ["n"])
      try await expect(second.storage.entries(withPrefix: "").map(\.key), equals: ["journal/=schedule=/n"])
      second.client.stopAutomaticRuns()
      await second.storage.close()
    }
  }
#endif
