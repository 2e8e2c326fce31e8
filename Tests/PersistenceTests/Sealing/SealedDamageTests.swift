import OperationCore
import OperationPersistence
import OperationTesting
import SubjectFixtures
import TestFixtures
import Testing

/// Entries that do not open are reported and kept.
@Suite(.bounded, .warningsAreIssues) struct SealedDamageTests {
  private let base = InMemoryStorage()
  private let value = "value/spost/=post="
  private let call = "journal/00000000000000000001-k"

  private func storage(_ key: Int = 1, _ previous: Int...) -> SealedStorage {
    SealedStorage(self.base, key: TestKey(UInt64(key)), previousKeys: previous.map { TestKey(UInt64($0)) })
  }

  private func sealed(_ kind: String) async throws -> [StorageEntry] {
    try await self.base.entries(withPrefix: "sealed-\(kind)/")
  }

  @Test func `A byte that was changed anywhere keeps an entry from opening, and the entry is kept`() async throws {
    try await self.storage().apply([.put(key: self.value, value: Array("hello".utf8))])
    let original = try await self.sealed("value")[0]
    for index in original.value.indices {
      for change: UInt8 in [1, 0x80] {
        var bytes = original.value
        bytes[index] ^= change
        try await self.base.apply([.put(key: original.key, value: bytes)])
        let storage = self.storage()
        let recorder = WarningRecorder()
        try await recorder.recording { () async throws in
          #expect(try await storage.entries(withPrefix: self.value).isEmpty, "byte \(index)")
          #expect(try await storage.entries(withPrefix: "value/").isEmpty)
        }
        expect(recorder.warnings.map(\.code), equals: [.sealedEntryUnopened])
        try await expect(self.sealed("value"), equals: [StorageEntry(key: original.key, value: bytes)])
      }
    }
    for count in original.value.indices {
      try await self.base.apply([.put(key: original.key, value: Array(original.value.prefix(count)))])
      let recorder = WarningRecorder()
      let found = try await recorder.recording { try await self.storage().entries(withPrefix: self.value) }
      #expect(found.isEmpty && recorder.warnings.count == 1, "\(count) bytes")
    }
    try await self.base.apply([.put(key: original.key, value: original.value)])
    try await expect(self.storage().entries(withPrefix: self.value).map(\.value), equals: [Array("hello".utf8)])
  }

  @Test(arguments: [false, true])
  func `An entry that was moved to another place does not open`(ignoresPlaces: Bool) async throws {
    let key = TestKey(1, ignoresPlaces: ignoresPlaces)
    let keys = [
      "value/spost/i1/=a=", "value/spost/i1/=b=", "value/spost/i2/=a=", "value/=a=", self.call, "x", "value/",
    ]
    let storage = SealedStorage(self.base, key: key)
    try await storage.apply(keys.map { .put(key: $0, value: Array($0.utf8)) })
    let entries = try await self.base.everything.filter { !$0.key.hasPrefix("sealed-key/") }
    expect(entries.count, equals: keys.count)
    for from in entries {
      for to in entries where from.key != to.key {
        let base = InMemoryStorage(entries: [StorageEntry(key: to.key, value: from.value)])
        let recorder = WarningRecorder()
        let found = try await recorder.recording {
          try await SealedStorage(base, key: key).entries(withPrefix: "").filter { !$0.key.hasPrefix("journal/=") }
        }
        #expect(found.isEmpty)
        expect(recorder.warnings.map(\.code), equals: [.sealedEntryUnopened])
      }
    }
  }

  @Test func `What does not open is set aside when another value is stored in its place`() async throws {
    try await self.storage().apply([.put(key: self.value, value: [1])])
    let place = try await self.sealed("value")[0].key
    let storage = self.storage()
    for round in 1...3 {
      let damage: [UInt8] = [9, UInt8(round)]
      try await self.base.apply([.put(key: place, value: damage)])
      let recorder = WarningRecorder()
      try await recorder.recording { () async throws in
        #expect(try await storage.entries(withPrefix: self.value).isEmpty)
        try await storage.apply([.put(key: self.value, value: [UInt8(round)])])
      }
      expect(recorder.warnings.map(\.code), equals: [.sealedEntryUnopened])
      try await expect(storage.entries(withPrefix: self.value).map(\.value), equals: [[UInt8(round)]])
      try await expect(self.sealed("aside").map(\.value), equals: (1...round).map { [9, UInt8($0)] })
    }
    try await expect(storage.removeUnopened(), equals: 3)
    #expect(try await self.sealed("aside").isEmpty)
    try await expect(storage.keys(), equals: [self.value])
  }

  @Test func `A value that is removed is removed, whether it opens or not`() async throws {
    try await self.storage().apply([.put(key: self.value, value: [1])])
    let place = try await self.sealed("value")[0].key
    try await self.base.apply([.put(key: place, value: [9])])
    try await self.storage().apply([.remove(key: self.value)])
    #expect(try await self.sealed("value").isEmpty)
  }

  @Test func `With another key nothing is read or changed, one report names the key, and the key brings all back`()
    async throws
  {
    try await self.storage(1).apply([.put(key: self.value, value: [1]), .put(key: "x", value: [2])])
    let before = try await self.base.everything
    let other = self.storage(2)
    let recorder = WarningRecorder()
    try await recorder.recording { () async throws in
      for prefix in ["", "value/", self.value, "x"] { #expect(try await other.entries(withPrefix: prefix).isEmpty) }
    }
    expect(recorder.warnings.map(\.code), equals: [.sealingKeyUnknown])
    try await other.apply([.put(key: self.value, value: [7])])
    #expect(Set(before).isSubset(of: Set(try await self.base.everything)))
    let both = self.storage(2, 1)
    try await expect(
      both.entries(withPrefix: ""),
      equals: [
        StorageEntry(key: self.value, value: [7]), StorageEntry(key: "x", value: [2]),
      ]
    )
  }

  @Test func `Removing what does not open removes what another key has sealed, and nothing else`() async throws {
    try await self.storage(1).apply([.put(key: self.value, value: [1]), .put(key: self.call, value: [2])])
    let other = self.storage(2)
    try await other.apply([.put(key: "y", value: [3])])
    try await expect(other.removeUnopened(), equals: 2)
    try await expect(other.entries(withPrefix: ""), equals: [StorageEntry(key: "y", value: [3])])
    // The first key is not known any more, and nothing is to be reported.
    try await expect(self.storage(2).keys(), equals: ["y"])
    try await expect(self.base.everything.count, equals: 2)
  }

  @Test func `A key whose entries are all gone is not reported`() async throws {
    let first = self.storage(1)
    try await first.apply([.put(key: "x", value: [1])])
    try await first.apply([.remove(key: "x")])
    #expect(try await self.storage(2).keys().isEmpty)
    #expect(try await self.base.everything.isEmpty)
  }

  @Test func `Bytes that another program has put under a place are kept, whatever they are`() async throws {
    let keys = [
      "sealed-", "sealed-value", "sealed-value/", "sealed-value/a", "sealed-value//", "sealed-journal/x/",
      "sealed-none/a/b",
    ]
    try await self.base.apply(keys.map { .put(key: $0, value: [1, 2, 3]) })
    let recorder = WarningRecorder()
    try await recorder.recording { () async throws in
      let storage = self.storage()
      for prefix in ["", "value/", "journal/", "x"] {
        #expect(try await storage.keys(prefix).allSatisfy { $0.hasPrefix("journal/=unopened=/") })
      }
    }
    expect(recorder.warnings.map(\.code), equals: [.sealedEntryUnopened])
    try await expect(self.base.keys().sorted(), equals: keys.sorted())
  }
}
