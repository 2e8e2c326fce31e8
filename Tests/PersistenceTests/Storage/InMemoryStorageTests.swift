import OperationPersistence
import Synchronization
import TestFixtures
import Testing

@Suite(.bounded) struct InMemoryStorageTests {
  @Test func `Entries are in the order of the bytes of their keys`() async throws {
    let storage = InMemoryStorage()
    try await storage.apply(["b", "a/2", "a/10", "a", "B"].map { .put(key: $0, value: [1]) })
    try await expect(storage.keys(), equals: ["B", "a", "a/10", "a/2", "b"])
    try await expect(storage.keys("a/"), equals: ["a/10", "a/2"])
    try await expect(storage.keys("c"), equals: [])
  }

  @Test func `Any prefix finds the entries of many, while they change`() async throws {
    let storage = InMemoryStorage()
    var model: [String: UInt8] = [:]
    var random = SeededGenerator(seed: 1)
    for step in 0..<ModelRuns.count(600) {
      let key = String(Int.random(in: 0..<600, using: &random), radix: 4)
      if Int.random(in: 0..<3, using: &random) == 0 {
        model[key] = nil
        try await storage.apply([.remove(key: key)])
      } else {
        model[key] = UInt8(step % 256)
        try await storage.apply([.put(key: key, value: [UInt8(step % 256)])])
      }
      let prefix = String(key.prefix(Int.random(in: 0...3, using: &random)))
      let expected = model.filter { $0.key.hasPrefix(prefix) }.sorted { $0.key < $1.key }
      let found = try await storage.entries(withPrefix: prefix)
      expect(found, equals: expected.map { StorageEntry(key: $0.key, value: [$0.value]) })
    }
  }

  @Test func `The last change of a key in a batch applies`() async throws {
    let storage = InMemoryStorage(entries: [StorageEntry(key: "c", value: [0])])
    try await storage.apply([
      .put(key: "a", value: [1]), .put(key: "a", value: [2]), .remove(key: "b"), .put(key: "b", value: [3]),
      .put(key: "d", value: [4]), .remove(key: "d"), .remove(key: "c"),
    ])
    try await expect(
      storage.entries(withPrefix: ""),
      equals: [
        StorageEntry(key: "a", value: [2]), StorageEntry(key: "b", value: [3]),
      ]
    )
  }

  @Test func `Keys with different bytes are different, even if the strings are equal`() async throws {
    let (composed, decomposed) = ("\u{E9}", "e\u{301}")
    expect(composed, equals: decomposed)
    let storage = InMemoryStorage(entries: [StorageEntry(key: composed, value: [1])])
    try await storage.apply([.put(key: decomposed, value: [2])])
    try await expect(storage.entries(withPrefix: "").map(\.value), equals: [[2], [1]])
    try await storage.apply([.remove(key: composed)])
    try await expect(storage.entries(withPrefix: "").map(\.value), equals: [[2]])
  }

  @Test func `A closed storage refuses everything and may be closed again`() async {
    let storage = InMemoryStorage()
    await storage.close()
    await storage.close()
    await #expect { try await storage.entries(withPrefix: "") } throws: { ($0 as? StorageError)?.code == .closed }
    await #expect { try await storage.apply([]) } throws: { ($0 as? StorageError)?.code == .closed }
    await #expect { try await storage.acquireLease("a", owner: "b", for: .zero) } throws: {
      ($0 as? StorageError)?.code == .closed
    }
    await #expect { try await storage.releaseLease("a", owner: "b") } throws: { ($0 as? StorageError)?.code == .closed }
  }

  @Test func `One owner holds a lease, until it ends or is released`() async throws {
    let time = Mutex(Duration.zero)
    let storage = InMemoryStorage(elapsed: { time.withLock { $0 } })
    try await expect(storage.acquireLease("journal", owner: "a", for: .seconds(10)), equals: .held)
    time.withLock { $0 = .seconds(9) }
    try await expect(
      storage.acquireLease("journal", owner: "b", for: .seconds(10)),
      equals: .heldByAnother(remaining: .seconds(1))
    )
    try await expect(storage.acquireLease("other", owner: "b", for: .seconds(10)), equals: .held)
    try await storage.releaseLease("journal", owner: "b")
    try await expect(storage.acquireLease("journal", owner: "a", for: .seconds(10)), equals: .held)
    time.withLock { $0 = .seconds(19) }
    try await expect(storage.acquireLease("journal", owner: "b", for: .seconds(Int64.max)), equals: .held)
    try await storage.releaseLease("journal", owner: "b")
    try await expect(storage.acquireLease("journal", owner: "a", for: .seconds(-1)), equals: .held)
    try await expect(storage.acquireLease("journal", owner: "b", for: .seconds(1)), equals: .held)
  }
}
