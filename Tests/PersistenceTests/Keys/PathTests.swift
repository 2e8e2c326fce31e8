import FoundationEssentials
import OperationCore
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct PathTests {
  private func store(_ program: Program, _ element: any Hashable & Sendable) -> TextStore {
    program.client.store(for: Script().query(path: ["text", element]).persisted(as: "text"))
  }

  @Test func `Each element has a value of its own after a restart, and equal ones share it`() async throws {
    let program = Program()
    let elements = keyElements.map { OperationPath.Element($0) }
    var expected: [OperationPath.Element: String] = [:]
    for (number, element) in elements.enumerated() {
      self.store(program, element).currentValue = "\(number)"
      expected[element] = "\(number)"
    }
    #expect(await program.client.persistence.flush())
    try await expect(program.storage.keys().count, equals: expected.count)
    let restarted = program.restarted()
    await expect(restarted.client.restore(matching: ["text"]), equals: expected.count)
    for element in elements {
      expect(self.store(restarted, element).currentValue, equals: expected[element], "\(element)")
      let read = program.restarted()
      await expect(read.client.restore(matching: ["text", element]), equals: 1)
    }
  }

  @Test func `A type without a key is reported once, and its stores work`() async throws {
    let program = Program()
    let recorder = WarningRecorder()
    recorder.recording {
      for number in 0..<3 { self.store(program, KeyPlain(number: number)).currentValue = "\(number)" }
      self.store(program, [KeyPlain(number: 7)]).currentValue = "list"
      self.store(program, KeyObject()).currentValue = "object"
    }
    expect(recorder.warnings.map(\.code), equals: [.unstorablePath, .unstorablePath])
    expect(recorder.warnings.first?.message.contains("KeyPlain"), equals: true)
    expect(recorder.warnings.last?.message.contains("KeyObject"), equals: true)
    expect(self.store(program, KeyPlain(number: 2)).currentValue, equals: "2")
    #expect(await program.client.persistence.flush())
    #expect(try await program.storage.keys().isEmpty)
    try await expectWarning(.unstorablePath) {
      try await program.client.persistence.removeAll(matching: [KeyPlain(number: 1)])
    }
  }

  @Test func `Entries under keys of earlier versions are removed and reported`() async throws {
    let keys = ["value/stext/xUUID:1/=text=", "value/xUInt8:1/=text=", "value/se%CC%81/=text=", "value/sa%2F/=x/x="]
    let storage = InMemoryStorage(entries: keys.map { StorageEntry(key: $0, value: []) })
    let program = Program(storage)
    await expectWarning(.storedValueDropped) { await expect(program.client.restore(matching: ["text"]), equals: 0) }
    try await expect(storage.keys(), equals: keys.filter { $0 != keys[0] }.sorted())
    await expectWarning(.storedValueDropped) { await expect(program.client.restore(), equals: 1) }
    try await expect(storage.keys(), equals: ["value/sa%2F/=x/x="])
    await expect(program.client.restore(), equals: 1)
  }
}
