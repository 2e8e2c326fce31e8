import FoundationEssentials
import OperationCore
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct DroppingTests {
  private static let key = "value/stext/i1/=text="

  /// Expects that a new store reports what is stored, begins without it, and that it is removed.
  private func expectDropped(
    by program: Program,
    _ make: (Program) -> TextStore,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let restarted = program.restarted()
    let store = expectWarning(.storedValueDropped, sourceLocation: sourceLocation) { make(restarted) }
    expect(store.currentValue, equals: nil, sourceLocation: sourceLocation)
    await restarted.client.persistence.flush()
    #expect(try await program.storage.keys().isEmpty, sourceLocation: sourceLocation)
    // It is reported once.
    expect(make(program.restarted()).currentValue, equals: nil, sourceLocation: sourceLocation)
  }

  @Test(arguments: [3, 7]) func `An earlier version without a migration is dropped`(version: Int) async throws {
    let program = Program()
    program.store(version: 2).currentValue = "stored"
    await program.client.persistence.flush()
    expect(program.restarted().store(version: 2).currentValue, equals: "stored")
    try await self.expectDropped(by: program) { $0.store(version: version) }
  }

  @Test(arguments: [
    "", "{", "null", "[]", "{}", "not JSON", "\n", "value1", "value1 1 0", "value1 1 0\n", "value1 1 0\n{}",
    "value0 1 0\n{\"hasValue\":false,\"valueUpdateCount\":1,\"valueLastUpdatedAt\":0,\"errorUpdateCount\":0}",
    "value1 1 0\n{\"hasValue\":true,\"value\":7,\"valueUpdateCount\":1,\"valueLastUpdatedAt\":0,\"errorUpdateCount\":0}",
  ])
  func `Bytes that cannot be decoded are dropped`(text: String) async throws {
    let storage = InMemoryStorage(entries: [StorageEntry(key: Self.key, value: Array(text.utf8))])
    try await self.expectDropped(by: Program(storage)) { $0.store() }
  }

  @Test func `A cut entry is dropped, wherever it is cut`() async throws {
    let program = Program()
    program.store().currentValue = "stored"
    await program.client.persistence.flush()
    let bytes = try #require(try await program.storage.entries(withPrefix: "").first).value
    for count in bytes.indices {
      let storage = InMemoryStorage(entries: [StorageEntry(key: Self.key, value: Array(bytes.prefix(count)))])
      try await self.expectDropped(by: Program(storage)) { $0.store() }
    }
  }

  @Test func `A value that is too old is dropped, and one from the far future`() async throws {
    func store(_ program: Program) -> TextStore {
      let query = Script().query(path: ["text", 1]).persisted(as: "text", maximumAge: .seconds(60))
      return program.client.store(for: query)
    }
    for (seconds, isKept) in [(59.0, true), (60, true), (61, false), (-30, true), (-61, false)] {
      let program = Program()
      store(program).currentValue = "stored"
      await program.client.persistence.flush()
      program.clock.setDate(Date(timeIntervalSinceReferenceDate: seconds))
      if isKept {
        expect(store(program.restarted()).currentValue, equals: "stored", "after \(seconds) seconds")
      } else {
        try await self.expectDropped(by: program, store)
      }
    }
  }

  @Test func `An operation without a storage is reported, and works`() async throws {
    let client = OperationClient()
    let store = expectWarning(.noStorage) {
      client.store(for: Script(default: .value("a")).query(path: ["a"]).persisted(as: "text"))
    }
    try await expect(store.fetch(), equals: "a")
    #expect(await client.persistence.flush())
    await expectWarning(.noStorage) { await expect(client.restore(), equals: 0) }
  }

  @Test func `A path with an object in it is reported, and its value is not stored`() async throws {
    let program = Program()
    let script = Script(default: .value("a"))
    let store = expectWarning(.unstorablePath) { program.client.store(for: script.query().persisted(as: "text")) }
    try await expect(store.fetch(), equals: "a")
    await program.client.persistence.flush()
    #expect(try await program.storage.keys().isEmpty)
    await expectWarning(.unstorablePath) {
      await expect(program.client.restore(matching: [ObjectIdentifier(script)]), equals: 0)
    }
  }
}
