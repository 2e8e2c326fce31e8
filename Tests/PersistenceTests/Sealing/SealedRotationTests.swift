import OperationCore
import OperationPersistence
import OperationTesting
import SubjectFixtures
import TestFixtures
import Testing

/// The keys of a sealed storage change, and nothing is lost.
@Suite(.bounded, .warningsAreIssues) struct SealedRotationTests {
  private let base = InMemoryStorage()
  private let keys = ["value/spost/i1/=a=", "value/spost/i2/=a=", "journal/00000000000000000001-k", "x"]

  private func storage(
    _ key: UInt64,
    _ previous: UInt64...,
    over base: (any PersistentStorage)? = nil,
    rewriting: SealedStorage.Rewriting = .whenWritten
  ) -> SealedStorage {
    SealedStorage(
      base ?? self.base,
      key: TestKey(key),
      previousKeys: previous.map { TestKey($0) },
      rewriting: rewriting
    )
  }

  private func fill(_ storage: SealedStorage) async throws {
    try await storage.apply(self.keys.map { .put(key: $0, value: Array($0.utf8)) })
  }

  private func expectEverything(in storage: SealedStorage) async throws {
    try await expect(storage.keys(), equals: self.keys.sorted())
    for key in self.keys {
      try await expect(storage.entries(withPrefix: key), equals: [StorageEntry(key: key, value: Array(key.utf8))])
    }
  }

  @Test func `A previous key opens what it has sealed`() async throws {
    try await self.fill(self.storage(1))
    try await self.expectEverything(in: self.storage(2, 1))
    try await self.expectEverything(in: self.storage(3, 2, 1))
    // A key that is named twice counts once.
    try await self.expectEverything(in: self.storage(1, 1, 1))
  }

  @Test func `A written entry is sealed with the current key, and its older form goes in the same batch`() async throws
  {
    try await self.fill(self.storage(1))
    let base = TestStorage(self.base)
    let storage = self.storage(2, 1, over: base)
    for key in self.keys { try await storage.apply([.put(key: key, value: Array(key.utf8))]) }
    expect(base.batches.count, equals: self.keys.count)
    try await self.expectEverything(in: self.storage(2))
    try await expect(self.base.everything.count, equals: self.keys.count + 1)
  }

  @Test func `A removed entry does not come back from a previous key`() async throws {
    try await self.fill(self.storage(1))
    let storage = self.storage(2, 1)
    for key in self.keys { try await storage.apply([.remove(key: key)]) }
    #expect(try await self.storage(2, 1).keys().isEmpty)
    #expect(try await self.storage(1).keys().isEmpty)
  }

  @Test func `An entry that is read is sealed anew, if the storage is told to`() async throws {
    try await self.fill(self.storage(1))
    let base = TestStorage(self.base)
    let storage = self.storage(2, 1, over: base, rewriting: .whenRead)
    try await self.expectEverything(in: storage)
    let count = base.batches.count
    try await self.expectEverything(in: storage)
    expect(base.batches.count, equals: count)
    try await self.expectEverything(in: self.storage(2))
  }

  @Test func `An entry that another process seals with the other key meanwhile is found`() async throws {
    let key = "journal/=schedule=/n"
    let shared = SharedStorage(self.base)
    let (here, elsewhere) = (self.storage(1, 2, over: shared), self.storage(2, 1))
    try await here.apply([.put(key: key, value: [1])])
    // Not among the entries of the previous key, and a moment later not among those of the current one.
    let held = shared.holdNextReading(of: "sealed-journal/")
    let reading = Task.immediate { try await here.entries(withPrefix: key) }
    try await held.arrivals(count: 1)
    try await elsewhere.apply([.put(key: key, value: [2])])
    held.open()
    try await expect(reading.value.map(\.value), equals: [[2]])
  }

  @Test func `A failure to seal what was read is reported once, and the entry is read`() async throws {
    try await self.fill(self.storage(1))
    let base = TestStorage(self.base)
    base.failToWrite(true)
    let storage = self.storage(2, 1, over: base, rewriting: .whenRead)
    let recorder = WarningRecorder()
    try await recorder.recording { try await self.expectEverything(in: storage) }
    expect(recorder.warnings.map(\.code), equals: [.storageFailed])
  }

  @Test func `Sealing everything anew makes the previous key needless`() async throws {
    let first = self.storage(1)
    try await self.fill(first)
    try await first.apply((0..<600).map { .put(key: "many/\($0)", value: [UInt8(truncatingIfNeeded: $0)]) })
    try await expect(self.storage(2, 1).reseal(), equals: self.keys.count + 600)
    try await expect(self.storage(2, 1).reseal(), equals: 0)
    let storage = self.storage(2)
    try await expect(storage.keys("many/").count, equals: 600)
    for key in self.keys { try await expect(storage.entries(withPrefix: key).map(\.value), equals: [Array(key.utf8)]) }
    // Nothing is left of the first key, also not its note.
    try await expect(self.base.everything.count, equals: self.keys.count + 600 + 1)
  }

  @Test func `A batch waits while entries are sealed anew, and is not undone`() async throws {
    try await self.fill(self.storage(1))
    let base = TestStorage(self.base, writes: false)
    let storage = self.storage(2, 1, over: base)
    let reseal = Task.immediate { try await storage.reseal() }
    try await base.writing.arrivals(count: 1)
    let put = Task.immediate { try await storage.apply([.put(key: "x", value: [9]), .remove(key: self.keys[0])]) }
    expect(base.writing.arrivalCount, equals: 1)
    base.writing.open()
    try await expect(reseal.value, equals: self.keys.count)
    try await put.value
    try await expect(storage.entries(withPrefix: "x").map(\.value), equals: [[9]])
    try await expect(self.storage(2).keys("value/"), equals: [self.keys[1]])
  }

  @Test func `Sealing anew waits for the batches that are being applied`() async throws {
    try await self.fill(self.storage(1))
    let base = TestStorage(self.base, writes: false)
    let storage = self.storage(2, 1, over: base)
    let put = Task.immediate { try await storage.apply([.put(key: "x", value: [9])]) }
    try await base.writing.arrivals(count: 1)
    let reseal = Task.immediate { try await storage.reseal() }
    expect(base.writing.arrivalCount, equals: 1)
    base.writing.open()
    try await put.value
    try await expect(reseal.value, equals: self.keys.count - 1)
    try await expect(self.storage(2).entries(withPrefix: "x").map(\.value), equals: [[9]])
  }

  @Test func `Entries that are not sealed are sealed on demand, and the calls among them are reported before`()
    async throws
  {
    try await self.base.apply(self.keys.map { .put(key: $0, value: Array($0.utf8)) })
    let storage = self.storage(1)
    let recorder = WarningRecorder()
    try await recorder.recording { () async throws in
      for _ in 0..<2 { #expect(try await storage.keys("journal/").isEmpty) }
    }
    expect(recorder.warnings.map(\.code), equals: [.unsealedCalls])
    try await storage.apply([.put(key: "x", value: [9])])
    try await expect(storage.sealUnsealedEntries(), equals: self.keys.count)
    try await expect(storage.sealUnsealedEntries(), equals: 0)
    #expect(try await self.base.keys().allSatisfy { $0.hasPrefix("sealed-") })
    let again = self.storage(1)
    try await expect(again.keys(), equals: self.keys.sorted())
    try await expect(again.entries(withPrefix: "x").map(\.value), equals: [[9]])
  }
}
