#if SwiftOperationPostgreSQL && os(Linux)
  import OperationCore
  import OperationFleet
  import OperationPersistence
  import TestFixtures
  import Testing

  @testable import OperationPostgreSQL

  @Suite(.bounded) struct ConnectionStringTests {
    @Test func `A connection is named without its password`() throws {
      for text in [
        "host=db.example port=5433 dbname=app user=service password=secret",
        "postgresql://service:secret@db.example:5433/app?sslmode=require",
      ] {
        let name = ConnectionName(try ConnectionOptions(text))
        expect("\(name)", equals: "The database \"app\" of db.example:5433")
        expect(name.user, equals: "service")
      }
    }

    @Test(arguments: [
      "password=secret nonsense", "postgresql://a:secret@[", "secret", "postgresql://a:p@secret@b/c",
      "postgresql://a:p@secret/word@b/c", "postgresql://a:p@secret:5432@b/c", "postgresql://a:1/secret@b/c",
      "postgres://a:secret@@b", "postgresql://a:p@b/c?secret=1",
    ])
    func `A connection string that cannot be read is refused without being quoted`(text: String) throws {
      let error = #expect(throws: StorageError.self) { try PostgreSQLStorage(connection: text) }
      #expect(error?.code == .cannotOpen && (error?.cause as? PostgreSQLError)?.code == .invalidConnection)
      expect(error?.description.contains("secret"), equals: false)
    }

    @Test func `An option that libpq does not know is told as such`() throws {
      for text in ["host=b timeout=1", "postgresql://a:p@b/c?timeout=1"] {
        let error = #expect(throws: StorageError.self) { try PostgreSQLStorage(connection: text) }
        expect(error?.message.hasPrefix("The connection string has an option that libpq does not know."), equals: true)
      }
      // Characters of a user or of a database that are written as they have to be.
      let name = ConnectionName(try ConnectionOptions("postgresql://a%40b:p%40%2F@c/d%40e?user=f@g"))
      #expect(name.host == "c" && name.database == "d@e")
    }

    @Test(arguments: ["", "pg_mine", "information_schema", "a\"b", "a'b", String(repeating: "a", count: 64)])
    func `A name of a schema that PostgreSQL would change is refused`(name: String) throws {
      let error = #expect(throws: FleetError.self) { try PostgreSQLFleet(connection: "", schema: name) }
      expect(error?.message.contains("1 to 63 bytes"), equals: true)
    }
  }

  @Suite(.bounded, .needsServer) struct SchemaTests {
    @Test func `Of many processes that connect first, one migrates`() async throws {
      let server = try await DatabaseServer.shared.value
      let schema = ServerTests.newSchema("Of \u{E9}")
      let storages = try (0..<8).map { _ in try PostgreSQLStorage(connection: server.connection(), schema: schema) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (number, storage) in storages.enumerated() { group.addTask { try await storage.put("\(number)") } }
        try await group.waitForAll()
      }
      try await expect(storages[3].keys().count, equals: 8)
      let versions = try await server.run(
        "SELECT string_agg(version::text, ',' ORDER BY version) FROM \"\(schema)\".schema_version"
      )
      expect(versions, equals: (1...PostgreSQLSchema.currentVersion).map { "\($0)" }.joined(separator: ","))
      for storage in storages { await storage.close() }
    }

    @Test func `A schema of a newer version is refused, with both versions`() async throws {
      let server = try await DatabaseServer.shared.value
      let schema = ServerTests.newSchema()
      try await PostgreSQLSchema(schema).migrate(connection: server.connection())
      try await server.run("INSERT INTO \(schema).schema_version (version) VALUES (99)")
      let storage = try PostgreSQLStorage(connection: server.connection(), schema: schema)
      let error = await #expect(throws: StorageError.self) { try await storage.keys() }
      expect(error?.code, equals: .newerSchema)
      let version = PostgreSQLSchema.currentVersion
      expect(error?.message.contains("has the version 99, and this program knows \(version)"), equals: true)
      await storage.close()
      let fleet = try PostgreSQLFleet(connection: server.connection(), schema: schema)
      let refusal = await #expect(throws: FleetError.self) { try await fleet.lookUp([FleetKey("a", subjects: [])]) }
      expect((refusal?.cause as? PostgreSQLError)?.code, equals: .newerSchema)
      await fleet.close()
      await #expect(throws: PostgreSQLError.self) {
        try await PostgreSQLSchema(schema).migrate(connection: server.connection())
      }
    }

    @Test func `A missing or older schema is an error where it is not migrated`() async throws {
      let server = try await DatabaseServer.shared.value
      let schema = ServerTests.newSchema()
      let storage = try PostgreSQLStorage(connection: server.connection(), schema: schema, isMigrating: false)
      let error = await #expect(throws: StorageError.self) { try await storage.keys() }
      expect((error?.cause as? PostgreSQLError)?.code, equals: .olderSchema)
      let version = PostgreSQLSchema.currentVersion
      expect(
        error?.message.contains("is missing, and this program needs \(version). Migrate it as its owner"),
        equals: true
      )
      await storage.close()
    }

    @Test func `A schema of an older version is migrated, and keeps its entries`() async throws {
      let server = try await DatabaseServer.shared.value
      let schema = ServerTests.newSchema()
      let name = try SchemaName(schema)
      try await server.run(SchemaMigration.all[0].script(name))
      try await server.run(
        "INSERT INTO \(schema).schema_version (version) VALUES (1); "
          + "INSERT INTO \(schema).entry VALUES ('old', '', '', '\\x07')"
      )
      let storage = try PostgreSQLStorage(connection: server.connection(), schema: schema)
      try await expect(storage.entries(withPrefix: ""), equals: [StorageEntry(key: "old", value: [7])])
      await storage.close()
      let fleet = try PostgreSQLFleet(connection: server.connection(), schema: schema)
      try await expect(fleet.lookUp([FleetKey("a", subjects: [])]).values, equals: [nil])
      await fleet.close()
    }

    @Test func `A user without rights is told how to get them, and has no more than it needs`() async throws {
      let server = try await DatabaseServer()
      try await server.run("CREATE ROLE service LOGIN")
      try await server.run("CREATE DATABASE app")
      let connection = server.connection(user: "service", database: "app")
      let storage = try PostgreSQLStorage(connection: connection)
      let error = await #expect(throws: StorageError.self) { try await storage.put("a") }
      expect(error?.code, equals: .readOnly, "\(String(describing: error))")
      expect((error?.cause as? PostgreSQLError)?.code, equals: .noRights)
      expect(
        error?.message.contains("The user \"service\" may not migrate the schema \"swift_operation\""),
        equals: true
      )
      await storage.close()
      // The owner has migrated, and granted nothing.
      let owner = server.connection(database: "app")
      try await PostgreSQLSchema().migrate(connection: owner)
      let second = try PostgreSQLStorage(connection: connection)
      let refused = await #expect(throws: StorageError.self) { try await second.put("a") }
      expect((refused?.cause as? PostgreSQLError)?.code, equals: .noRights, "\(String(describing: refused))")
      expect(refused?.message.contains("grantingTo:"), equals: true)
      await second.close()
      try await PostgreSQLSchema().migrate(connection: owner, grantingTo: "service")
      let third = try PostgreSQLStorage(connection: connection, isMigrating: false)
      try await third.put("a")
      try await third.apply([.remove(key: "a"), .put(key: "b", value: [1])])
      try await expect(third.keys(), equals: ["b"])
      try await expect(third.acquireLease("x", owner: "y", for: .seconds(9)), equals: .held)
      try await third.releaseLease("x", owner: "y")
      // Each batch in 200 removes what is old.
      for number in 0..<200 { try await third.put("\(number)") }
      await third.close()
      let fleet = try PostgreSQLFleet(connection: connection, isMigrating: false)
      let key = FleetKey("a", subjects: [FleetSubject("s")])
      guard
        case .granted(let lease, let epoch) = try await fleet.acquireLease(
          FleetLeaseRequest(key: key, owner: "o", duration: .seconds(9))
        )
      else {
        Issue.record("no lease")
        return
      }
      _ = try await fleet.store(FleetWrite(lease: lease, epoch: epoch, bytes: [1], timeToLive: .seconds(9)))
      _ = try await fleet.invalidate([FleetSubject("s")], by: "node")
      await fleet.close()
      for statement in [
        "CREATE TABLE swift_operation.mine (a int)", "DROP TABLE swift_operation.entry",
        "UPDATE swift_operation.schema_version SET version = 9", "CREATE SCHEMA mine",
      ] {
        await #expect(throws: DatabaseServer.Failure.self) {
          try await server.run(statement, user: "service", database: "app")
        }
      }
    }

    @Test func `A database or a user that is not there is named`() async throws {
      let server = try await DatabaseServer.shared.value
      for (connection, code, text) in [
        (
          server.connection(database: "nowhere"), PostgreSQLError.Code.invalidConnection,
          "database \"nowhere\" does not exist"
        ),
        (server.connection(user: "nobody_here"), .noRights, "role \"nobody_here\" does not exist"),
      ] {
        let storage = try PostgreSQLStorage(connection: connection)
        let error = await #expect(throws: StorageError.self) { try await storage.keys() }
        expect((error?.cause as? PostgreSQLError)?.code, equals: code, "\(String(describing: error))")
        expect(error?.message.contains(text), equals: true, "\(String(describing: error))")
        await storage.close()
      }
    }

    @Test func `Keys of any length have entries, and the server has no more connections than allowed`() async throws {
      let server = try await DatabaseServer.shared.value
      let storage = try PostgreSQLStorage(
        connection: server.connection(),
        schema: ServerTests.newSchema(),
        maximumConnections: 3
      )
      var random = SystemRandomNumberGenerator()
      // Without "~", which is the end of the last key alone.
      let noise = String((0..<20_000).map { _ in Character(UnicodeScalar(UInt8.random(in: 33...125, using: &random))) })
      let keys =
        [999, 1_000, 1_001, 5_000, 20_000].map { String(noise.prefix($0)) }
        + [noise.prefix(1_000) + "~"].map(String.init)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (number, key) in keys.enumerated() { group.addTask { try await storage.put(key, "\(number)") } }
        try await group.waitForAll()
      }
      for prefix in keys + ["", String(noise.prefix(1_002))] {
        let expected = keys.filter { $0.hasPrefix(prefix) }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        try await expect(storage.keys(prefix), equals: expected)
      }
      try await storage.apply([.remove(key: keys[3])])
      try await expect(storage.keys().count, equals: keys.count - 1)
      #expect(storage.pool.connectionCount <= 3)
      await storage.close()
    }

    @Test func `What is old is removed in small steps, and another process does not wait for it`() async throws {
      let server = try await DatabaseServer.shared.value
      let schema = ServerTests.newSchema()
      let storage = try PostgreSQLStorage(connection: server.connection(), schema: schema)
      try await storage.put("a")
      try await server.run(
        """
        INSERT INTO \(schema).batch SELECT int4send(n), now() - interval '2 hours' FROM generate_series(1, 1200) n;
        INSERT INTO \(schema).lease SELECT int4send(n), '', now() - interval '2 hours' FROM generate_series(1, 10) n;
        """
      )
      let counts = try await [510, 500, 200, 0].asyncMap { _ in
        try await storage.pool.perform(StorageStatements(SchemaName(schema)).cleanUp).first?.integer(0)
      }
      expect(counts, equals: [510, 500, 200, 0])
      try await expect(server.run("SELECT count(*) FROM \(schema).batch"), equals: "1")
      await storage.close()
    }
  }

  extension Array {
    fileprivate func asyncMap<R>(_ body: (Element) async throws -> R) async throws -> [R] {
      var results: [R] = []
      for element in self { results.append(try await body(element)) }
      return results
    }
  }
#endif
