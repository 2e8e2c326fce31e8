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
    #expect(try await program.storage.keys().count == expected.count)
    let restarted = program.restarted()
    #expect(await restarted.client.restore(matching: ["text"]) == expected.count)
    for element in elements {
      #expect(self.store(restarted, element).currentValue == expected[element], "\(element)")
      let read = program.restarted()
      #expect(await read.client.restore(matching: ["text", element]) == 1)
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
    #expect(recorder.warnings.map(\.code) == [.unstorablePath, .unstorablePath])
    #expect(recorder.warnings.first?.message.contains("KeyPlain") == true)
    #expect(recorder.warnings.last?.message.contains("KeyObject") == true)
    #expect(self.store(program, KeyPlain(number: 2)).currentValue == "2")
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
    await expectWarning(.storedValueDropped) { #expect(await program.client.restore(matching: ["text"]) == 0) }
    #expect(try await storage.keys() == keys.filter { $0 != keys[0] }.sorted())
    await expectWarning(.storedValueDropped) { #expect(await program.client.restore() == 1) }
    #expect(try await storage.keys() == ["value/sa%2F/=x/x="])
    #expect(await program.client.restore() == 1)
  }
}
