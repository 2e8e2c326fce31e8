#if SwiftOperationPostgreSQL && os(Linux)
  import Foundation
  import OperationPersistence
  import OperationPersistenceTesting
  import TestFixtures
  import Testing

  @testable import OperationPostgreSQL

  @Suite(.bounded) struct StorageRulesTests {
    @Test(.needsServer) func `The storage keeps the rules of storages`() async throws {
      let server = try await DatabaseServer.shared.value
      let schemas = NamesByObject()
      try await checkStorage(
        reopening: { storage in
          try PostgreSQLStorage(connection: server.connection(), schema: schemas.name(of: storage))
        },
        obstructing: { storage in try await Self.refuse("c", in: schemas.name(of: storage), of: server) },
        refusing: { storage, key in try await Self.refuse(key, in: schemas.name(of: storage), of: server) },
        {
          let schema = ServerTests.newSchema("rules")
          let storage = try PostgreSQLStorage(connection: server.connection(), schema: schema)
          schemas.add(schema, of: storage)
          return storage
        }
      )
    }

    @Test(.needsServer) func `A lease is taken at once if its process was one of this machine and has ended`()
      async throws
    {
      let server = try await DatabaseServer.shared.value
      let storage = try PostgreSQLStorage(connection: server.connection(), schema: ServerTests.newSchema("leases"))
      let own = LeaseOwner.make()
      let parts = own.split(separator: ".")
      try #require(parts.count == 4)
      let ended = Process()
      ended.executableURL = URL(fileURLWithPath: "/bin/true")
      try ended.run()
      ended.waitUntilExit()
      let gone = "\(ended.processIdentifier).1.\(parts[2]).x"
      // Of another machine, and of a process that lives.
      for (index, owner) in [gone, "\(ended.processIdentifier).1.\(parts[2])0.x", own].enumerated() {
        try await expect(storage.acquireLease("lease \(index)", owner: owner, for: .seconds(60)), equals: .held)
        let lease = try await storage.acquireLease("lease \(index)", owner: "b", for: .seconds(60))
        expect((lease == .held), equals: (owner == gone), "\(owner)")
        #expect(try await storage.acquireLease("lease \(index)", owner: "c", for: .seconds(60)) != .held)
      }
      await storage.close()
    }

    @Test(.needsServer)
    func `A storage knows whether another one has changed entries, and its own and other changes apart`()
      async throws
    {
      let server = try await DatabaseServer.shared.value
      let schema = ServerTests.newSchema("changes")
      let first = try PostgreSQLStorage(connection: server.connection(), schema: schema)
      let second = try PostgreSQLStorage(connection: server.connection(), schema: schema)
      try await second.put("journal/z")
      var number = try await first.numberOfForeignChanges(withPrefix: "journal/")
      #expect(number != nil)
      // Own changes, in many stripes.
      for name in 0..<100 { try await first.put("journal/\(name)") }
      let other = StorageVersion(of: [1], at: "journal/0")
      let refused = StorageCondition.unchanged(key: "journal/0", other)
      try await expect(first.apply([.remove(key: "journal/0")], if: [refused]), equals: .refused(refused))
      let entry = try #require(try await first.entries(withPrefix: "journal/1").first)
      let holds = [StorageCondition.unchanged(key: "journal/1", entry.version), .absent(key: "journal/x")]
      try await expect(first.apply([.remove(key: "journal/1"), .remove(key: "journal/2")], if: holds), equals: .made)
      try await expect(first.numberOfForeignChanges(withPrefix: "journal/"), equals: number)
      // Values and leases of another process, and a batch of it that is refused.
      try await second.put("value/a")
      try await second.put("journal")
      try await expect(second.acquireLease("journal:b", owner: "b", for: .seconds(10)), equals: .held)
      try await expect(second.apply([.remove(key: "journal/3")], if: [refused]), equals: .refused(refused))
      try await expect(first.numberOfForeignChanges(withPrefix: "journal/"), equals: number)
      for change in [StorageChange.put(key: "journal/a", value: [2]), .remove(key: "journal/a")] {
        try await second.apply([change])
        let next = try await first.numberOfForeignChanges(withPrefix: "journal/")
        #expect(next != number)
        number = next
      }
      // One that is overwritten before it was looked for.
      try await second.put("journal/b")
      try await first.put("journal/b")
      let next = try await first.numberOfForeignChanges(withPrefix: "journal/")
      #expect(next != number)
      try await expect(first.numberOfForeignChanges(withPrefix: "journal/"), equals: next)
      try await expect(first.numberOfForeignChanges(withPrefix: "journal"), equals: nil)
      for storage in [first, second] { await storage.close() }
    }

    @Test(.needsServer)
    func `An entry that batches only compare is known, until another storage changes it`() async throws {
      let server = try await DatabaseServer.shared.value
      let schema = ServerTests.newSchema("compared")
      let first = try PostgreSQLStorage(connection: server.connection(), schema: schema)
      let second = try PostgreSQLStorage(connection: server.connection(), schema: schema)
      var condition = StorageCondition.absent(key: "era")
      for era in ["1", "2", "1"] {
        for number in 0..<3 {
          let batch = [StorageChange.put(key: "value/\(number)", value: [1])]
          try await expect(first.apply(batch, if: [condition]), equals: .made)
          try await expect(second.apply(batch, if: [condition, .absent(key: "x")]), equals: .made)
        }
        try await second.put("era", era)
        try await expect(first.apply([.remove(key: "value/0")], if: [condition]), equals: .refused(condition))
        try await expect(second.apply([.remove(key: "value/0")], if: [condition]), equals: .refused(condition))
        try await expect(first.keys("value/").count, equals: 3)
        condition = .unchanged(key: "era", StorageVersion(of: Array(era.utf8), at: "era"))
      }
      // Its content is the same, and it was written anew.
      try await second.put("era", "1")
      try await expect(first.apply([.remove(key: "value/0")], if: [condition]), equals: .made)
      // Entries that a batch changes are compared anew.
      for _ in 0..<2 {
        try await expect(first.apply([.remove(key: "era")], if: [condition]), equals: .made)
        try await expect(
          first.apply([.put(key: "era", value: Array("1".utf8))], if: [.absent(key: "era")]),
          equals: .made
        )
      }
      for storage in [first, second] { await storage.close() }
    }

    @Test func `The compared entries of a storage are few`() {
      var compared = ComparedEntries()
      let conditions = (0..<100).map { StorageCondition.absent(key: "\($0)") }
      for (number, condition) in conditions.enumerated() {
        compared.note([condition], [Int64(number)], heldFor: [.remove(key: "other")])
        expect(compared.writers(of: [condition]), equals: [Int64(number)])
      }
      #expect(conditions.count { compared.writers(of: [$0]) != nil } <= 16)
      compared.note([conditions[0]], [7], heldFor: [.remove(key: "0")])
      expect(compared.writers(of: [conditions[0]]), equals: nil)
      compared.forget([conditions[99]])
      expect(compared.writers(of: [conditions[99]]), equals: nil)
      expect(compared.writers(of: []), equals: [])
    }

    /// Makes the server refuse each batch that puts an entry with this key.
    static func refuse(_ key: String, in schema: String, of server: DatabaseServer) async throws {
      try await server.run(
        """
        CREATE FUNCTION \(schema).refuse() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN RAISE EXCEPTION 'no'; END $$;
        CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON \(schema).entry FOR EACH ROW
          WHEN (NEW.head = '\(key)') EXECUTE FUNCTION \(schema).refuse();
        """
      )
    }
  }
#endif
