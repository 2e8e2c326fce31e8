import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

extension NoticeLog {
  /// The names of the notices of events, which have no level.
  fileprivate var events: [String] { self.all.filter { $0.level == nil }.map(\.name.description) }
  /// The numbers of pending calls, in order.
  fileprivate var levels: [Int] { self.all.filter { $0.name == .journalPending }.compactMap(\.level) }
}

@Suite(.bounded, .warningsAreIssues) struct JournalNoticeTests {
  private let server = Server()
  private let script = Script()
  private let notices = NoticeLog()

  private func program(_ storage: any PersistentStorage = InMemoryStorage()) -> Program {
    let program = Program(storage)
    program.client.defaultContext.operationNoticeObservers.append(self.notices)
    return program
  }

  private func send(_ script: Script? = nil) -> Send { Send(server: self.server, script: script ?? self.script) }

  @Test func `A call is reported when it is accepted and when it is sent, with the number of calls that are left`()
    async throws
  {
    let program = self.program()
    _ = program.makeJournal()
    let store = program.client.store(for: self.send().journaled(as: "send"))
    let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a secret")) }
    let run = try await self.script.next()
    expect(self.notices.events, equals: ["journal.accepted"])
    expect(self.notices.levels, equals: [0, 1])
    run.succeed("ok")
    _ = try await call.value
    expect(self.notices.events, equals: ["journal.accepted", "journal.sent"])
    expect(self.notices.levels, equals: [0, 1, 0])
    let event = try #require(self.notices.all.last { $0.level == nil })
    expect(event.operationName, equals: "Send")
    expect(event.attributes, equals: ["journal.name": .string("send")])
    #expect(!"\(self.notices.all)".contains("secret"))
  }

  @Test func `A call that cannot be stored is not reported as accepted`() async throws {
    let storage = TestStorage()
    storage.failToWrite(true)
    let program = self.program(storage)
    _ = program.makeJournal()
    let store = program.client.store(for: self.send().journaled(as: "send"))
    await #expect(throws: JournalError.self) { try await store.mutate(with: Note(id: 1, text: "a")) }
    #expect(self.notices.events.isEmpty)
    expect(Set(self.notices.levels), equals: [0])
  }

  @Test func `A failure that is thrown to the caller is final`() async throws {
    let program = self.program()
    _ = program.makeJournal()
    self.script.enqueue(.error(Refused()))
    let store = program.client.store(for: self.send().journaled(as: "send"))
    await #expect(throws: Refused()) { try await store.mutate(with: Note(id: 1, text: "a")) }
    expect(self.notices.events, equals: ["journal.accepted", "journal.failed"])
    expect(self.notices.levels, equals: [0, 1, 0])
    let attributes: [String: OperationNotice.Value] = [
      "journal.name": .string("send"), "journal.error": .string(String(reflecting: Refused.self)),
      "journal.attempts": .integer(1), "journal.is_final": .flag(true),
    ]
    expect(self.notices.all.first { $0.name == .journalFailed }?.attributes, equals: attributes)
  }

  @Test func `A failure that is not final stays pending until the call is sent`() async throws {
    let program = self.program()
    let journal = program.makeJournal()
    let mutation = self.send().journaled(as: "send", failsForGood: .where { _ in false })
    journal.register(mutation, as: "send")
    self.script.enqueue(.error(Refused()))
    let store = program.client.store(for: mutation)
    await #expect(throws: Refused()) { try await store.mutate(with: Note(id: 1, text: "a")) }
    expect(self.notices.events, equals: ["journal.accepted", "journal.failed"])
    expect(self.notices.levels, equals: [0, 1])
    self.script.enqueue(.value("ok"))
    await journal.resume().settled()
    expect(self.notices.events, equals: ["journal.accepted", "journal.failed", "journal.sent"])
    expect(self.notices.all.last { $0.name == .journalSent }?.operationName, equals: "Send")
    expect(self.notices.levels, equals: [0, 1, 0])
  }

  @Test func `A call that becomes a dead letter is not pending until it is tried again`() async throws {
    let program = self.program()
    let journal = program.makeJournal(attemptsBeforeDeadLetter: 1)
    let mutation = self.send().journaled(as: "send", failsForGood: .where { _ in false })
    journal.register(mutation, as: "send")
    self.script.enqueue(.error(Refused()))
    let store = program.client.store(for: mutation)
    await expectWarning(.journalDeadLetter) {
      await #expect(throws: Refused()) { try await store.mutate(with: Note(id: 1, text: "a")) }
    }
    expect(self.notices.events, equals: ["journal.accepted", "journal.failed", "journal.dead_letter"])
    expect(self.notices.all.last { $0.name == .journalDeadLetter }?.attributes["journal.attempts"], equals: .integer(1))
    expect(self.notices.levels, equals: [0, 1, 0])
    self.script.enqueue(.value("ok"))
    #expect(await journal.retry("k1"))
    expect(self.notices.events.last, equals: "journal.sent")
    expect(self.notices.levels, equals: [0, 1, 0, 1, 0])
  }

  @Test func `Calls of an earlier start are pending, and an unregistered name is reported`() async throws {
    let storage = InMemoryStorage()
    let first = Program(storage)
    let mutation = self.send().journaled(as: "send", failsForGood: .where { _ in false })
    _ = first.makeJournal()
    self.script.enqueue(.error(Refused()), .error(Refused()))
    for text in ["a", "b"] {
      let store = first.client.store(for: mutation)
      await #expect(throws: Refused()) { try await store.mutate(with: Note(id: 1, text: text)) }
    }
    try await storage.apply([.put(key: "journal/0-torn", value: [1, 2])])
    #expect(self.notices.all.isEmpty)

    let program = self.program(storage)
    let journal = expectWarning(.journalEntryUnreadable) { program.makeJournal() }
    expect(self.notices.levels, equals: [2])
    await expectWarning(.journalNameUnregistered) { await journal.resume().settled() }
    expect(self.notices.events, equals: ["journal.unregistered", "journal.unregistered"])
    expect(self.notices.all.last?.operationName, equals: nil)
    expect(self.notices.all.last?.attributes, equals: ["journal.name": .string("send")])
    expect(self.notices.levels, equals: [2])

    #expect(await journal.remove("k1"))
    #expect(await journal.remove("journal/0-torn"))
    expect(self.notices.events.suffix(2), equals: ["journal.removed", "journal.removed"])
    expect(self.notices.levels, equals: [2, 1])
    #expect(!(await journal.remove("k1")))
    expect(self.notices.levels, equals: [2, 1])
  }

  @Test func `The observers of an operation receive its calls, but not the number`() async throws {
    let program = Program()
    _ = program.makeJournal()
    self.script.enqueue(.value("ok"))
    let mutation = self.send().journaled(as: "send").onNotice { notice, context in
      self.notices.receive(notice, in: context)
    }
    _ = try await program.client.store(for: mutation).mutate(with: Note(id: 1, text: "a"))
    expect(self.notices.events, equals: ["journal.accepted", "journal.sent"])
    #expect(self.notices.levels.isEmpty)
  }

  @Test func `The last number that observers receive is the current one, whichever thread changes it`() async throws {
    let program = self.program()
    let journal = program.makeJournal()
    let mutation = self.send(Script(default: .value("ok"))).journaled(as: "send")
    let store = program.client.store(for: mutation)
    let count = ModelRuns.isThorough ? 500 : 200
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<count {
        group.addTask { _ = try await store.mutate(with: Note(id: number, text: "\(number)")) }
      }
      try await group.waitForAll()
    }
    #expect(journal.entries.isEmpty)
    expect(self.notices.levels.last, equals: 0)
    #expect(self.notices.levels.allSatisfy { (0...count).contains($0) })
    expect(self.notices.events.count { $0 == "journal.accepted" }, equals: count)
    expect(self.notices.events.count { $0 == "journal.sent" }, equals: count)
  }

  @Test func `An observer may use the journal`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    let counts = Log<Int>()
    final class Reader: OperationNoticeObserver {
      let read: @Sendable () -> Void
      init(read: @escaping @Sendable () -> Void) { self.read = read }
      func receive(_ notice: OperationNotice, in context: OperationContext) { self.read() }
    }
    let reader = Reader {
      counts.append(journal.entries.count)
    }
    program.client.defaultContext.operationNoticeObservers.append(reader)
    self.script.enqueue(.value("ok"))
    _ = try await program.client.store(for: self.send().journaled(as: "send")).mutate(with: Note(id: 1, text: "a"))
    // Accepted and one pending; none pending and sent.
    expect(counts.all, equals: [1, 1, 0, 0])
  }
}
