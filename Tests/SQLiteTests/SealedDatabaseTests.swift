#if SwiftOperationSQLite && os(Linux)
  import Foundation
  import OperationPersistence
  import OperationPersistenceTesting
  import SubjectFixtures
  import OperationSQLite
  import Synchronization
  import TestFixtures
  import Testing

  @Suite(.bounded) struct SealedDatabaseTests {
    @Test func `A sealed database keeps the rules of storages`() async throws {
      let folder = try Folder.inMemory()
      let count = Atomic(0)
      // Leases end by the clock of the machine.
      let rules = StorageRule.allCases.filter { $0 != .leases }
      let reopen: @Sendable (SealedStorage) async throws -> SealedStorage = { storage in
        let path = try #require(storage.base as? SQLiteStorage).path
        return SealedStorage(try SQLiteStorage(path: path), key: TestKey(2), previousKeys: [TestKey(1)])
      }
      try await checkStorage(rules, reopening: reopen) {
        let number = count.wrappingAdd(1, ordering: .relaxed).newValue
        return SealedStorage(try SQLiteStorage(path: folder.file("\(number).sqlite")), key: TestKey(1))
      }
    }

    @Test func `Nothing of a key or a value is in the bytes of the file or of its log`() async throws {
      let folder = try Folder.inMemory()
      let storage = SealedStorage(try SQLiteStorage(path: folder.file()), key: TestKey(1))
      for number in 0..<50 {
        let text = Array("my secret text \(number)".utf8)
        try await storage.apply([
          .put(key: "value/ssecretpath/i\(number)/=secretname=", value: text),
          .put(key: "journal/\(number)-secretkey", value: text),
          .remove(key: "journal/\(number - 1)-secretkey"),
        ])
      }
      for isOpen in [true, false] {
        if !isOpen { await storage.close() }
        var size = 0
        for name in ["state.sqlite", "state.sqlite-wal", "state.sqlite-shm"] {
          let bytes = (try? folder.read(name)) ?? Data()
          size += bytes.count
          expect(bytes.range(of: Data("secret".utf8)), equals: nil, "\(name)")
        }
        #expect(size > 10_000)
      }
    }
  }
#endif
