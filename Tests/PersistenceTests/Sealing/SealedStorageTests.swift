import OperationCore
import OperationPersistence
import OperationTesting
import SubjectFixtures
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct SealedStorageTests {
  private let base = InMemoryStorage()

  @Test func `Entries come back as they were put, and another instance with the key has them`() async throws {
    let storage = SealedStorage(self.base, key: TestKey(1))
    let keys = [
      "value/spost/i1/=post=", "value/=all=", "journal/00000000000000000001-k", "value/", "", "a", "a/", "a/b",
    ]
    try await storage.apply(keys.map { .put(key: $0, value: Array("value of \($0)".utf8)) })
    let again = SealedStorage(self.base, key: TestKey(1))
    let expected = keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    try await expect(again.entries(withPrefix: "").map(\.key), equals: expected)
    for key in keys {
      try await expect(again.entries(withPrefix: key).first?.value, equals: Array("value of \(key)".utf8))
    }
  }

  @Test func `The base sees no name of a lease, and processes with other current keys find it`() async throws {
    let name = "journal:salice@example.org/"
    let first = SealedStorage(self.base, key: TestKey(1))
    let rotated = SealedStorage(self.base, key: TestKey(2), previousKeys: [TestKey(1)])
    let last = SealedStorage(self.base, key: TestKey(3), previousKeys: [TestKey(2)])
    func isHeld(_ storage: SealedStorage, by owner: String) async throws -> Bool {
      try await storage.acquireLease(name, owner: owner, for: .seconds(60)) == .held
    }
    #expect(try await isHeld(first, by: "a"))
    try await expect(self.base.acquireLease(name, owner: "x", for: .seconds(60)), equals: .held)
    #expect(try await isHeld(first, by: "a"))
    #expect(try await !isHeld(first, by: "b"))
    #expect(try await !isHeld(rotated, by: "b"))
    try await first.releaseLease(name, owner: "a")
    // What was taken in vain is free.
    #expect(try await isHeld(rotated, by: "b"))
    #expect(try await !isHeld(first, by: "a"))
    #expect(try await !isHeld(last, by: "c"))
    try await rotated.releaseLease(name, owner: "b")
    #expect(try await isHeld(first, by: "a"))
    #expect(try await isHeld(last, by: "c"))
  }

  @Test(arguments: [
    "", "v", "value/", "value/s", "value/spost", "value/spost/", "value/spost/i1", "value/spost/i1/=",
    "value/spost/i1/=p", "value/spost/i1/=post=", "value/spost/i1/=post=x", "j", "journal/", "journal/0", "journal/1",
    "a", "a/", "a/b", "b", "none/",
  ])
  func `Every prefix finds what it finds in a plain storage`(prefix: String) async throws {
    let keys = [
      "value/spost/i1/=post=", "value/spost/i1/=likes=", "value/spost/i12/=post=", "value/spost/=all=", "value/=top=",
      "journal/0001-a", "journal/0002-b", "a", "a/b", "a/b/c", "a=b", "b",
    ]
    let plain = InMemoryStorage()
    let sealed = SealedStorage(self.base, key: TestKey(1))
    for storage in [plain, sealed] as [any PersistentStorage] {
      try await storage.apply(keys.map { .put(key: $0, value: Array($0.utf8)) })
    }
    let expected = try await plain.entries(withPrefix: prefix)
    try await expect(sealed.entries(withPrefix: prefix), equals: expected)
  }

  @Test func `Reading one value reads no other value of the base`() async throws {
    let base = TestStorage(self.base)
    let storage = SealedStorage(base, key: TestKey(1))
    try await storage.apply((0..<10).map { .put(key: "value/spost/i\($0)/=post=", value: [1]) })
    let place = try await self.place(of: "value/spost/i3/=post=", TestKey(1))
    try await expect(base.entries(withPrefix: place).count, equals: 1)
    let before = base.readCount
    try await expect(storage.entries(withPrefix: "value/spost/i3/=post=").count, equals: 1)
    // One is the look at the keys.
    expect(base.readCount - before, equals: 2)
    try await expect(storage.entries(withPrefix: "value/spost/i3/=post=").count, equals: 1)
    expect(base.readCount - before, equals: 3)
  }

  @Test func `No part of a key or of a value is in the base`() async throws {
    let storage = SealedStorage(self.base, key: TestKey(1))
    let (path, name, text) = ("ssecretpath", "secretname", "a secret that nobody reads")
    try await storage.apply([
      .put(key: "value/\(path)/=\(name)=", value: Array(text.utf8)),
      .put(key: "journal/00000000000000000001-secretname", value: Array(text.utf8)),
      .put(key: "secretpath", value: Array(text.utf8)),
    ])
    let everything = try await self.base.everything
    expect(everything.count, equals: 4)
    for entry in everything {
      let bytes = Array(entry.key.utf8) + entry.value
      for secret in ["secret", "nobody", "00000001"] {
        #expect(!bytes.contains(Array(secret.utf8)), "\(entry.key)")
      }
    }
  }

  @Test func `A removed entry is gone, and a batch is one of the base`() async throws {
    let base = TestStorage(self.base)
    let storage = SealedStorage(base, key: TestKey(1))
    try await storage.apply([.put(key: "a", value: [1]), .put(key: "b", value: [2])])
    try await storage.apply([.remove(key: "a"), .put(key: "b", value: [3]), .remove(key: "none")])
    expect(base.batches.map(\.count), equals: [3, 3])
    try await expect(storage.entries(withPrefix: ""), equals: [StorageEntry(key: "b", value: [3])])
    base.failToWrite(true)
    await #expect(throws: Broken.self) { try await storage.apply([.remove(key: "b")]) }
    try await expect(storage.keys(), equals: ["b"])
  }

  @Test func `A batch that only removes entries stays one`() async throws {
    let base = TestStorage(self.base)
    let storage = SealedStorage(base, key: TestKey(1), previousKeys: [TestKey(2)])
    try await storage.apply([.remove(key: "a")])
    let isPut = base.batches[0].contains { if case .put = $0 { true } else { false } }
    #expect(!isPut)
  }

  @Test func `A key that does not work is named, and nothing is stored`() async throws {
    for key in [TestKey(1, digestCount: 15), TestKey(1, fails: true)] {
      let storage = SealedStorage(self.base, key: key)
      let error = await #expect(throws: StorageError.self) {
        try await storage.apply([.put(key: "a", value: [1])])
      }
      expect(error?.code, equals: .sealingFailed)
    }
    #expect(try await self.base.everything.isEmpty)
    let storage = SealedStorage(self.base, key: TestKey(1, digestCount: 0))
    await #expect(throws: StorageError.self) { try await storage.entries(withPrefix: "") }
  }

  @Test func `A closed storage refuses everything, and so does its base`() async throws {
    let storage = SealedStorage(self.base, key: TestKey(1))
    await storage.close()
    await #expect(throws: StorageError.self) { try await storage.entries(withPrefix: "") }
    await #expect(throws: StorageError.self) { try await storage.apply([]) }
    await #expect(throws: StorageError.self) { try await self.base.apply([]) }
  }

  @Test func `Leases are those of the base, or those of the process if it has none`() async throws {
    let shared = SharedStorage(self.base)
    let storage = SealedStorage(shared, key: TestKey(1))
    let other = SealedStorage(shared, key: TestKey(1))
    try await expect(storage.acquireLease("a", owner: "1", for: .seconds(1)), equals: .held)
    #expect(try await other.acquireLease("a", owner: "2", for: .seconds(1)) != .held)
    try await storage.releaseLease("a", owner: "1")
    try await expect(other.acquireLease("a", owner: "2", for: .seconds(1)), equals: .held)
    let alone = SealedStorage(TestStorage(), key: TestKey(1))
    try await expect(alone.acquireLease("a", owner: "1", for: .seconds(1)), equals: .held)
    #expect(try await alone.acquireLease("a", owner: "2", for: .seconds(1)) != .held)
  }

  private func place(of key: String, _ sealingKey: TestKey) async throws -> String {
    let storage = InMemoryStorage()
    try await SealedStorage(storage, key: sealingKey).apply([.put(key: key, value: [])])
    return try await storage.keys().first { !$0.hasPrefix("sealed-key/") } ?? ""
  }
}

extension InMemoryStorage {
  /// All entries, as bytes on a disk.
  var everything: [StorageEntry] {
    get async throws { try await self.entries(withPrefix: "") }
  }
}
