import FoundationEssentials
import OperationCore
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct PersistenceStatisticsTests {
  @Test func `They tell names, rows, bytes, the oldest value and what waits`() async throws {
    let storage = TestStorage(writes: false)
    let program = Program(storage)
    try await expect(program.client.persistence.statistics.total.rows, equals: 0)
    program.clock.setDate(Date(timeIntervalSinceReferenceDate: 1_000))
    func store(_ number: Int, _ name: String, age: Duration? = nil) -> TextStore {
      let query = Script().query(path: ["text", number]).persisted(as: name, maximumAge: age)
      return program.client.store(for: query)
    }
    store(1, "notes, read", age: .seconds(600)).currentValue = "a"
    program.clock.advance(by: .seconds(10))
    store(2, "notes, read", age: .seconds(600)).currentValue = "b"
    store(3, "drafts").currentValue = "c"
    try await expect(program.client.persistence.statistics.pendingWrites, equals: 3)
    storage.writing.open()
    await program.client.persistence.flush()
    let statistics = try await program.client.persistence.statistics
    expect(statistics.pendingWrites, equals: 0)
    expect(statistics.names.mapValues(\.rows), equals: ["notes, read": 2, "drafts": 1])
    expect(statistics.names["notes, read"]?.oldest, equals: Date(timeIntervalSinceReferenceDate: 1_000))
    expect(statistics.names["drafts"]?.oldest, equals: nil)
    expect(statistics.total.rows, equals: 3)
    let entries = try await program.storage.entries(withPrefix: "value/")
    expect(statistics.total.bytes, equals: entries.reduce(0) { $0 + $1.key.utf8.count + $1.value.count })
    expect(statistics.total.bytes, equals: statistics.names.values.reduce(0) { $0 + $1.bytes })
    #expect((statistics.evictions, statistics.expirations, statistics.rejections) == (0, 0, 0))
  }

  @Test func `Without a storage they are empty, with a report, and a failure is thrown`() async throws {
    let client = OperationClient()
    let statistics = try await expectWarning(.noStorage) { () async throws -> PersistenceStatistics in
      try await client.persistence.statistics
    }
    #expect(statistics.names.isEmpty)
    let storage = TestStorage()
    storage.failToRead(true)
    let program = Program(storage)
    await #expect(throws: Broken.self) { try await program.client.persistence.statistics }
  }
}
