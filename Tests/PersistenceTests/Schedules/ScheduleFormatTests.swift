import FoundationEssentials
import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Schedules that other versions of the library have stored.
@Suite(.bounded, .warningsAreIssues) struct ScheduleFormatTests {
  private let server = Server()
  private let clock = ManualClock()
  private let storage = InMemoryStorage()
  private let key = "journal/=schedule=/n"

  private var send: some MutationRequest<Note, String, any Error> { Send(server: self.server).journaled(as: "send") }

  private func put(format: Int, _ more: String = "", times: String = "\"interval\":10,\"next\":0") async throws {
    let json = """
      {"format":\(format),"name":"n","id":"k","call":"send","arguments":"{\\"id\\":1,\\"text\\":\\"a\\"}","scheduledAt":0,\
      "start":10,\(times),"longestWait":10\(more)}
      """
    try await self.storage.apply([.put(key: self.key, value: Array(json.utf8))])
  }

  @Test func `A schedule of a later form is kept, reported and not overwritten`() async throws {
    try await self.put(format: 2)
    let entries = try await self.storage.entries(withPrefix: "")
    let scheduled = expectWarning(.journalEntryUnreadable) { ScheduledProgram(self.storage, self.clock) }
    expect(scheduled.journal.statuses, equals: [.unreadable])
    #expect(scheduled.journal.schedules.isEmpty)
    await #expect {
      try await scheduled.journal.schedule(self.send, with: Note("b"), named: "n", after: .zero)
    } throws: { ($0 as? JournalError)?.code == .notAccepted }
    await scheduled.journal.resume()
    await scheduled.pass(100)
    #expect(self.server.requests.isEmpty)
    try await expect(self.storage.entries(withPrefix: ""), equals: entries)
    #expect(await scheduled.journal.remove(self.key))
    #expect(try await self.storage.keys().isEmpty)
  }

  @Test(arguments: [(10.0, -1), (10, 9_000_000_000_000_000_000), (0, 0), (-5, 0)])
  func `A damaged schedule is kept and reported`(interval: Double, next: Int) async throws {
    try await self.put(format: 1, times: "\"interval\":\(interval),\"next\":\(next)")
    let scheduled = expectWarning(.journalEntryUnreadable) { ScheduledProgram(self.storage, self.clock) }
    scheduled.register(self.send)
    await scheduled.journal.resume()
    await scheduled.pass(100)
    expect(scheduled.journal.statuses, equals: [.unreadable])
    #expect(self.server.requests.isEmpty)
  }

  @Test func `What a later version has added is written again`() async throws {
    try await self.put(format: 1, ",\"new\":{\"a\":[1,null]}")
    let scheduled = ScheduledProgram(self.storage, self.clock)
    scheduled.register(self.send)
    await scheduled.journal.resume()
    await scheduled.pass(10)
    expect(self.server.keys, equals: ["k#0"])
    let entry = try #require(try await self.storage.entries(withPrefix: self.key).first)
    let text = String(decoding: entry.value, as: UTF8.self)
    #expect(text.contains("\"next\":1"), "\(text)")
    #expect(text.contains("\"new\":{\"a\":[1,null]}"), "\(text)")
    try await scheduled.journal.schedule(self.send, with: Note("b"), named: "n", every: .seconds(10))
    let updated = try #require(try await self.storage.entries(withPrefix: self.key).first)
    #expect(String(decoding: updated.value, as: UTF8.self).contains("\"new\":{"))
  }
}
