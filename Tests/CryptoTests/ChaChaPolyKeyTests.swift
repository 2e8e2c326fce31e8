#if SwiftOperationCrypto
  import Crypto
  import OperationCrypto
  import OperationPersistence
  import OperationPersistenceTesting
  import OperationTesting
  import TestFixtures
  import Testing

  @Suite(.bounded, .warningsAreIssues) struct ChaChaPolyKeyTests {
    private static func key(_ byte: UInt8 = 7) throws -> ChaChaPolyKey {
      try ChaChaPolyKey(SymmetricKey(data: [UInt8](repeating: byte, count: 32)))
    }

    @Test(arguments: [0, 1, 15, 16, 1_000]) func `What was sealed opens again, at its place`(count: Int) throws {
      let key = try Self.key()
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
      let sealed = try key.seal(bytes, at: "a/b")
      #expect(sealed.count == count + 28)
      #expect(try key.open(sealed, at: "a/b") == bytes)
      #expect(throws: (any Error).self) { try key.open(sealed, at: "a/c") }
      #expect(throws: (any Error).self) { try key.open(sealed, at: "") }
      #expect(throws: (any Error).self) { try Self.key(8).open(sealed, at: "a/b") }
    }

    @Test func `Bytes that were changed anywhere, or cut, do not open`() throws {
      let key = try Self.key()
      let sealed = try key.seal(Array("hello".utf8), at: "a")
      for index in sealed.indices {
        for bit in 0..<8 {
          var changed = sealed
          changed[index] ^= 1 << bit
          #expect(throws: (any Error).self) { try key.open(changed, at: "a") }
        }
        #expect(throws: (any Error).self) { try key.open(Array(sealed.prefix(index)), at: "a") }
      }
      #expect(throws: (any Error).self) { try key.open(sealed + [0], at: "a") }
    }

    @Test func `Each time something is sealed it looks different`() throws {
      let key = try Self.key()
      let sealed = Set(try (0..<100).map { _ in try key.seal([1, 2, 3], at: "a") })
      #expect(sealed.count == 100)
    }

    @Test func `The digest of a text is the same in each process, and another one with another key`() throws {
      // Computed with Python: hmac and hashlib, by RFC 5869.
      #expect(try Self.key().digest(of: "entry value/spost/").prefix(8).elementsEqual(Self.digest))
      #expect(try Self.key(8).digest(of: "entry value/spost/") != Self.key().digest(of: "entry value/spost/"))
      #expect(try Self.key().digest(of: "a") != Self.key().digest(of: "b"))
    }

    @Test func `Sealed bytes of an earlier version open`() throws {
      // Sealed with Python's cryptography and a nonce of twelve ones.
      #expect(try Self.key().open(Self.sealed, at: "sealed-value/a/b") == Array("hello".utf8))
    }

    @Test(arguments: [0, 8, 128, 255 / 8 * 8]) func `A short secret is refused`(bits: Int) {
      let error = #expect(throws: StorageError.self) {
        try ChaChaPolyKey(SymmetricKey(data: [UInt8](repeating: 1, count: bits / 8)))
      }
      #expect(error?.code == .sealingFailed)
      #expect(error?.message.contains("\(bits) bits") == true)
    }

    @Test func `A storage that is sealed with it keeps the rules of storages`() async throws {
      let rules = StorageRule.allCases.filter { $0 != .leases }
      try await checkStorage(rules) { SealedStorage(InMemoryStorage(), key: try Self.key()) }
    }

    private static let digest: [UInt8] = [0x6D, 0x83, 0xC7, 0x29, 0x33, 0x1D, 0x2D, 0x16]
    private static let sealed: [UInt8] = [
      0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x59, 0x31, 0xC8, 0x28,
      0x14, 0x82, 0xDE, 0x6B, 0x36, 0x27, 0x64, 0xED, 0x42, 0x80, 0x47, 0x72, 0xF0, 0x15, 0xCC, 0xCF,
      0x8D,
    ]
  }
#endif
