#if SwiftOperationCrypto
  import Crypto
  import OperationCore
  import OperationCrypto
  import OperationPersistence
  import OperationTesting
  import TestFixtures
  import Testing

  /// Entries that are sealed with ChaCha20-Poly1305, and their key when it changes.
  @Suite(.bounded, .warningsAreIssues) struct SealedFormatTests {
    private static func key(_ number: UInt8) throws -> ChaChaPolyKey {
      try ChaChaPolyKey(SymmetricKey(data: [UInt8](repeating: number, count: 32)))
    }

    @Test func `Entries of the first form open`() async throws {
      let entries = try StoredFormats.entries(of: "sealed-1").map { StorageEntry(key: $0.key, value: $0.value) }
      let storage = SealedStorage(InMemoryStorage(entries: entries), key: try Self.key(7))
      #expect(
        try await storage.entries(withPrefix: "") == [
          StorageEntry(key: "journal/00000000000000000001-k", value: Array("a call".utf8)),
          StorageEntry(key: "mine", value: [0, 255]),
          StorageEntry(key: "value/sposts/i1/=post=", value: Array("a value".utf8)),
        ]
      )
      #expect(try await storage.entries(withPrefix: "value/sposts/i1/=post=").count == 1)
    }

    @Test func `The key changes, and the old one is not needed any more`() async throws {
      let base = InMemoryStorage()
      let first = SealedStorage(base, key: try Self.key(1))
      try await first.apply((0..<300).map { .put(key: "value/s\($0)/=x=", value: [UInt8(truncatingIfNeeded: $0)]) })
      let second = SealedStorage(base, key: try Self.key(2), previousKeys: [try Self.key(1)])
      #expect(try await second.entries(withPrefix: "value/s77/=x=").map(\.value) == [[77]])
      #expect(try await second.reseal() == 300)
      let third = SealedStorage(base, key: try Self.key(2))
      #expect(try await third.entries(withPrefix: "value/").count == 300)
      #expect(try await third.entries(withPrefix: "value/s77/=x=").map(\.value) == [[77]])
    }

    @Test func `Another secret opens nothing, and is told from the first`() async throws {
      let base = InMemoryStorage()
      try await SealedStorage(base, key: try Self.key(1)).apply([.put(key: "value/=x=", value: [1])])
      let other = SealedStorage(base, key: try Self.key(2))
      let entries = try await expectWarning(.sealingKeyUnknown) { try await other.entries(withPrefix: "value/=x=") }
      #expect(entries.isEmpty)
    }

    @Test func `An entry is 33 bytes longer than its key and its value`() async throws {
      let base = InMemoryStorage()
      try await SealedStorage(base, key: try Self.key(1)).apply([.put(key: "value/=x=", value: [1, 2, 3])])
      let entry = try #require(try await base.entries(withPrefix: "sealed-value/").first)
      #expect(entry.value.count == "value/=x=".utf8.count + 3 + 33)
    }
  }
#endif
