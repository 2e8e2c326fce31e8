import FoundationEssentials
import OperationCore
import OperationMutation
import OperationPausing
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// What counts as an attempt, what counts as a failure, and which failures keep a call.
@Suite(.bounded, .warningsAreIssues) struct JournalAttemptTests {
  private let server = Server()
  private let script = Script()

  private func stored(_ storage: any PersistentStorage) async throws -> InMemoryStorage {
    InMemoryStorage(entries: try await storage.entries(withPrefix: ""))
  }

  @Test func `A call that waits behind another counts no attempt, however often the program starts`() async throws {
    var storage = InMemoryStorage()
    let first = Program(storage)
    _ = first.makeJournal()
    let store = first.client.store(for: Send(server: self.server, script: self.script).scope("s").journaled(as: "send"))
    let calls = ["a", "b"].map { text in Task.immediate { try await store.mutate(with: Note(id: 1, text: text)) } }
    let run = try await self.script.next()
    expect(first.client.journal.entries.map(\.attempts), equals: [1, 0])
    let left = try await self.stored(storage)
    run.succeed("ok")
    try await self.script.next().succeed("ok")
    for call in calls { _ = try await call.value }

    storage = left
    for start in 1...8 {
      let program = Program(storage)
      let journal = program.makeJournal(attemptsBeforeDeadLetter: 100)
      journal.register(Send(server: self.server, script: self.script).scope("s").journaled(as: "send"), as: "send")
      let resumption = await journal.resume()
      _ = try await self.script.next()
      expect(journal.entries.map(\.attempts), equals: [1 + start, 0])
      storage = try await self.stored(storage)
      resumption.cancel()
      await resumption.settled()
    }
  }

  @Test func `Starts during a backoff use no attempts up`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a"], in: storage, attempts: 0)
    var last = storage
    for start in 1...12 {
      let program = Program(last)
      let journal = program.makeJournal(attemptsBeforeDeadLetter: 3)
      let wait = NetworkSwitch()
      self.script.enqueue(.error(Refused()))
      let mutation = Send(server: self.server, script: self.script).tryingAgain(when: wait).scope("s").journaled(
        as: "send"
      )
      journal.register(mutation, as: "send")
      let resumption = await journal.resume()
      // The body has failed, and the call waits for its next attempt when the program ends.
      expect(wait.observerCount, equals: 1)
      expect(journal.entries.map(\.attempts), equals: [start])
      last = try await self.stored(last)
      resumption.cancel()
      await resumption.settled()
    }
    let journal = Program(last).makeJournal(attemptsBeforeDeadLetter: 3)
    journal.register(Send(server: self.server).scope("s").journaled(as: "send"), as: "send")
    await journal.resume().settled()
    #expect(journal.entries.isEmpty)
  }

  @Test func `A body that ends the process becomes a dead letter after the limit, before it begins`() async throws {
    var storage = InMemoryStorage()
    try await leaveCalls(["poison"], in: storage, attempts: 0)
    for _ in 0..<3 {
      let journal = Program(storage).makeJournal(attemptsBeforeDeadLetter: 3)
      journal.register(Send(server: self.server, script: self.script).journaled(as: "send"), as: "send")
      let resumption = await journal.resume()
      _ = try await self.script.next()
      let left = try await self.stored(storage)
      resumption.cancel()
      await resumption.settled()
      storage = left
    }
    let journal = Program(storage).makeJournal(attemptsBeforeDeadLetter: 3)
    journal.register(Send(server: self.server, script: self.script).journaled(as: "send"), as: "send")
    await expectWarning(.journalDeadLetter) { await journal.resume().settled() }
    expect(journal.entries.map(\.status), equals: [.deadLetter])
    expect(self.server.requests.count, equals: 3)
  }

  @Test func `A failed connection is no failure of the call, and makes no dead letter`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a"], in: storage, attempts: 0)
    let journal = Program(storage).makeJournal(attemptsBeforeDeadLetter: 2)
    journal.register(Send(server: self.server, script: self.script).scope("s").journaled(as: "send"), as: "send")
    for _ in 0..<5 {
      self.script.enqueue(.error(POSIXError(.ECONNREFUSED)))
      await expectWarning(.journalCallFailed) { await journal.resume().settled() }
    }
    expect(journal.entries.map(\.status), equals: [.waiting])
    expect(journal.entries.map(\.attempts), equals: [5])
  }

  static let passing: [any Error] = [
    POSIXError(.ECONNRESET), POSIXError(.ETIMEDOUT), LikeURLError(code: -1009), Classified(.retry),
    Classified(.retryAfter(.seconds(1))), OperationWaitTimedOut(after: .seconds(1)),
  ]

  @Test(arguments: passing) func `A failure that can pass keeps the call, though its caller receives it`(
    error: any Error
  ) async throws {
    let program = Program()
    let journal = program.makeJournal()
    let mutation = Send(server: self.server, script: self.script).scope("s").journaled(as: "send")
    journal.register(mutation, as: "send")
    self.script.enqueue(.error(error))
    await #expect(throws: (any Error).self) {
      try await program.client.store(for: mutation).mutate(with: Note(id: 1, text: "a"))
    }
    expect(journal.texts, equals: ["a"])
    self.script.enqueue(.value("ok"))
    await journal.resume().settled()
    #expect(journal.entries.isEmpty)
    expect(Set(self.server.requests.map(\.key)), equals: ["k1"])
  }

  static let final: [any Error] = [
    Refused(), Classified(.never), POSIXError(.EACCES), LikeURLError(code: -1000), Refused(code: 500),
  ]

  @Test(arguments: final) func `Another failure is final for a call with a caller`(error: any Error) async throws {
    let program = Program()
    let journal = program.makeJournal()
    self.script.enqueue(.error(error))
    let store = program.client.store(for: Send(server: self.server, script: self.script).journaled(as: "send"))
    await #expect(throws: (any Error).self) { try await store.mutate(with: Note(id: 1, text: "a")) }
    #expect(journal.entries.isEmpty)
    #expect(try await program.storage.keys().isEmpty)
  }
}

private struct Classified: RetryClassifying {
  let retryClassification: RetryClassification

  init(_ classification: RetryClassification) {
    self.retryClassification = classification
  }
}

/// An error with the domain and the code of one of `URLSession`.
private struct LikeURLError: Error {
  let code: Int
  var _domain: String { "NSURLErrorDomain" }
  var _code: Int { self.code }
}
