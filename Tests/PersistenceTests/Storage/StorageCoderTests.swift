import FoundationEssentials
import OperationCore
import OperationMutation
import OperationPausing
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Values in JSON and in other formats.
@Suite(.bounded, .warningsAreIssues) struct StorageCoderTests {
  private struct Numbers: Codable, Hashable, Sendable {
    var doubles: [Double] = [
      0, -0.0, 0.1, 1.0 / 3, .pi, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .leastNormalMagnitude, .infinity,
      -.infinity, 1e22, 123_456_789.123_456_79,
    ]
    var floats: [Float] = [0.1, .greatestFiniteMagnitude, .leastNonzeroMagnitude, -.infinity, 16_777_215]
    var integers: [Int64] = [.min, .max, 9_007_199_254_740_993]
    var unsigned: [UInt64] = [.max, 9_007_199_254_740_993]
    var wide: [Int128] = [.min, .max, 170_141_183_460_469_231]
    var dates = [0, 0.1, -1e9, 1_234_567_890.123_456_7, 7e8 + 1e-6].map { Date(timeIntervalSinceReferenceDate: $0) }
    var decimals = [Decimal(string: "79228162514264337593543950335"), Decimal(string: "0.1")]
  }

  @Test func `Dates, numbers and large integers keep their exact values in JSON`() throws {
    let numbers = Numbers()
    let bytes = try JSONStorageCoder().encode(numbers)
    let decoded = try JSONStorageCoder().decode(Numbers.self, from: bytes)
    expect(decoded, equals: numbers)
    #expect(zip(decoded.doubles, numbers.doubles).allSatisfy { $0.bitPattern == $1.bitPattern })
    let nan = try JSONStorageCoder().decode([Double].self, from: try JSONStorageCoder().encode([Double.nan]))
    expect(nan.first?.isNaN, equals: true)
  }

  @Test(arguments: 0..<40) func `Random numbers keep their exact values in JSON`(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let doubles = (0..<200).map { _ in Double(bitPattern: random.next()) }.filter(\.isFinite)
    let decoded = try JSONStorageCoder().decode([Double].self, from: try JSONStorageCoder().encode(doubles))
    expect(decoded.map(\.bitPattern), equals: doubles.map(\.bitPattern))
    let integers = (0..<200).map { _ in random.next() }
    try expect(
      JSONStorageCoder().decode([UInt64].self, from: try JSONStorageCoder().encode(integers)),
      equals: integers
    )
  }

  @Test func `A value is stored by a coder of one's own`() async throws {
    let program = Program()
    let query = Script().query(path: ["text"]).persisted(as: "text", coder: Flipping())
    program.client.store(for: query).currentValue = "hello"
    #expect(await program.client.persistence.flush())
    let stored = try await program.storage.entries(withPrefix: "").map(\.value)
    #expect(!stored.contains { String(decoding: $0, as: UTF8.self).contains("hello") })
    expect(program.restarted().client.store(for: query).currentValue, equals: "hello")
  }

  @Test func `Arguments that are no text are stored, merged and made again`() async throws {
    let server = Server()
    let network = NetworkSwitch()
    let joining = JournalPolicy<Note>.merge(by: \.id) { Note(id: $1.id, text: $0.text + $1.text) }
    let mutation = Send(server: server).waits(until: network).scope("s")
      .journaled(as: "send", policy: joining, coder: Flipping())
    let program = Program()
    let journal = program.makeJournal()
    let store = program.client.store(for: mutation)
    let calls = ["a", "b"].map { text in
      Task.immediate { try await store.mutate(with: Note(id: 1, text: text)) }
    }
    let bytes = try #require(journal.entries.first?.arguments)
    try expect(Flipping().decode(Note.self, from: bytes), equals: Note(id: 1, text: "ab"))
    let after = Program(InMemoryStorage(entries: try await program.storage.entries(withPrefix: "")))
    for call in calls.reversed() {
      call.cancel()
      _ = await call.result
    }
    let restored = after.makeJournal()
    restored.register(mutation, as: "send")
    network.turnOn()
    await restored.resume().settled()
    expect(server.requests.map(\.text), equals: ["ab"])
    #expect(restored.entries.isEmpty)
  }
}

/// JSON with all bits flipped, which is no text.
private struct Flipping: StorageCoder {
  func encode(_ value: some Encodable) throws -> [UInt8] { try JSONStorageCoder().encode(value).map { ~$0 } }

  func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
    try JSONStorageCoder().decode(type, from: bytes.map { ~$0 })
  }
}
