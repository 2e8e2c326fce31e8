#if SwiftOperationPostgreSQL && os(Linux)
  import OperationPersistence
  import OperationPersistenceTesting
  import OperationPostgreSQL
  import TestFixtures
  import Testing

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
