#if SwiftOperationPostgreSQL && os(Linux)
  import OperationCore
  import OperationFleet
  import OperationFleetTesting
  import OperationPersistence
  import OperationPersistenceTesting
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationPostgreSQL

  /// Behind a pooler that gives a session to another client after each transaction.
  @Suite(.bounded, .needsServer, .needsPooler) struct PoolerTests {
    private let key = FleetKey("a", subjects: [FleetSubject("s")])

    /// Uses all that writes and reads.
    private func use(_ fleet: PostgreSQLFleet, _ storage: PostgreSQLStorage) async throws {
      let request = FleetLeaseRequest(key: self.key, owner: "o", duration: .seconds(3_600))
      guard case .granted(let lease, let epoch) = try await fleet.acquireLease(request) else {
        Issue.record("no lease")
        return
      }
      #expect(try await fleet.renewLease(lease, for: .seconds(3_600)))
      let write = FleetWrite(lease: lease, epoch: epoch, bytes: [1], timeToLive: .seconds(3_600))
      guard case .stored = try await fleet.store(write) else {
        Issue.record("not stored")
        return
      }
      try await expect(fleet.lookUp([self.key]).values.first??.bytes, equals: [1])
      _ = try await fleet.invalidate([FleetSubject("s")], by: "node")
      _ = try await fleet.invalidations(since: epoch)
      try await fleet.releaseLease(lease)
      try await storage.put("a")
      try await storage.apply([.remove(key: "a")])
      #expect(try await storage.keys().isEmpty)
      try await expect(storage.acquireLease("l", owner: "o", for: .seconds(60)), equals: .held)
      try await storage.releaseLease("l", owner: "o")
    }

    @Test func `Nothing that the library sets or prepares is there for the next user of a session`() async throws {
      let server = try await DatabaseServer()
      let pooler = try await Pooler(before: server, sessions: 1)
      let application = """
        SELECT current_setting('search_path'), current_setting('synchronous_commit'), current_setting('statement_timeout'),
          current_setting('client_min_messages'), current_setting('jit'), (SELECT count(*) FROM pg_prepared_statements),
          (SELECT count(*) FROM pg_listening_channels()), pg_backend_pid()
        """
      let before = try await server.run(application, over: pooler.connection())
      let fleet = try PostgreSQLFleet(connection: pooler.connection(), listeningConnection: server.connection())
      let storage = try PostgreSQLStorage(connection: pooler.connection())
      let subscription = fleet.messages { _ in }
      for _ in 0..<3 {
        try await self.use(fleet, storage)
        try await expect(server.run(application, over: pooler.connection()), equals: before)
      }
      subscription.cancel()
      await fleet.close()
      await storage.close()
    }

    @Test func `The functions have their path with them, and a fleet's commits alone do not wait for the disk`()
      async throws
    {
      let server = try await DatabaseServer.shared.value
      let schema = ServerTests.newSchema("paths")
      let fleet = try PostgreSQLFleet(connection: server.connection(), schema: schema)
      _ = try await fleet.invalidate([FleetSubject("s")], by: "node")
      let rows = try await fleet.perform(Statement("SELECT current_setting('synchronous_commit')"), [])
      expect(rows.first?.text(0), equals: "on")
      let names = try await server.run(
        """
        SELECT string_agg(proname, ',' ORDER BY proname) FROM pg_proc
        WHERE pronamespace = '\(schema)'::regnamespace AND proconfig @> ARRAY['search_path=pg_catalog, pg_temp']
        """
      )
      expect(
        names,
        equals: """
          acquire_lease,apply_batch,apply_batch_if,apply_changes,clean_up,fleet_acquire_lease,fleet_acquire_leases,fleet_begin,\
          fleet_clean_up,fleet_invalidate,fleet_is_invalidated,fleet_moment,fleet_release_lease,fleet_store
          """
      )
      await fleet.close()
    }

    @Test func `No batch that was acknowledged is lost in a crash while a fleet uses the same session`() async throws {
      let server = try await DatabaseServer()
      let pooler = try await Pooler(before: server, sessions: 1)
      let fleet = try PostgreSQLFleet(connection: pooler.connection(), listeningConnection: server.connection())
      let storage = try PostgreSQLStorage(connection: pooler.connection())
      for number in 0..<100 {
        _ = try await fleet.invalidate([FleetSubject("s")], by: "node")
        try await storage.put("\(number)")
      }
      // What a commit has left in memory is lost.
      try await server.crash()
      try await server.start()
      try await expect(server.run("SELECT count(*) FROM swift_operation.entry"), equals: "100")
      await fleet.close()
      await storage.close()
    }

    @Test func `No crash brings back a call that was removed behind a pooler, after a fleet's commit`() async throws {
      // Nothing writes the log for what does not wait for it.
      let server = try await DatabaseServer(settings: [
        "fsync=on", "wal_writer_delay=10s", "wal_writer_flush_after=1GB",
      ])
      let pooler = try await Pooler(before: server, sessions: 1)
      let fleet = try PostgreSQLFleet(connection: pooler.connection(), listeningConnection: server.connection())
      let storage = try PostgreSQLStorage(connection: pooler.connection(), timeout: .seconds(30))
      try await storage.apply([.put(key: "journal/1", value: [1]), .put(key: "value/1", value: [1])])
      // Both are undone with the crash if the next batch does not wait for the disk either.
      _ = try await fleet.invalidate([FleetSubject("s")], by: "node")
      try await storage.apply([.remove(key: "value/1")])
      try await storage.apply([.remove(key: "journal/1")])
      try await server.crash()
      try await server.start()
      try await expect(server.run("SELECT count(*) FROM swift_operation.entry"), equals: "0")
      await fleet.close()
      await storage.close()
    }

    @Test func `The fleet keeps the rules of backends behind a pooler`() async throws {
      let server = try await DatabaseServer.shared.value
      let pooler = try await Pooler(before: server, sessions: 3)
      let schemas = NamesByObject()
      let connect = { @Sendable (schema: String) in
        try PostgreSQLFleet(
          connection: pooler.connection(),
          listeningConnection: server.connection(),
          schema: schema
        )
      }
      try await checkFleetBackend(
        connecting: { fleet in try connect(schemas.name(of: fleet)) },
        {
          let schema = ServerTests.newSchema("pooled_fleet")
          let fleet = try connect(schema)
          schemas.add(schema, of: fleet)
          return fleet
        }
      )
    }

    @Test func `The storage keeps the rules of storages behind a pooler`() async throws {
      let server = try await DatabaseServer.shared.value
      let pooler = try await Pooler(before: server, sessions: 3)
      let schemas = NamesByObject()
      try await checkStorage(
        reopening: { storage in
          try PostgreSQLStorage(connection: pooler.connection(), schema: schemas.name(of: storage))
        },
        obstructing: { storage in try await StorageRulesTests.refuse("c", in: schemas.name(of: storage), of: server) },
        refusing: { storage, key in
          try await StorageRulesTests.refuse(key, in: schemas.name(of: storage), of: server)
        },
        {
          let schema = ServerTests.newSchema("pooled")
          let storage = try PostgreSQLStorage(connection: pooler.connection(), schema: schema)
          schemas.add(schema, of: storage)
          return storage
        }
      )
    }

    @Test func `A fleet without an address for its listener says what to pass, and listens in no shared session`()
      async throws
    {
      let server = try await DatabaseServer()
      let pooler = try await Pooler(before: server, sessions: 2)
      let fleet = try PostgreSQLFleet(connection: pooler.connection())
      let client = OperationClient()
      let isTold = Gate()
      let subscription = client.onNotice { if $0.name == .fleetNoMessages { isTold.open() } }
      client.join(fleet, settings: FleetSettings(lookupTimeout: .seconds(30), heartbeat: .milliseconds(50)))
      try await isTold.wait(within: .seconds(30))
      expect(fleet.messagesFailure?.message.contains("Pass a `listeningConnection`"), equals: true)
      expect(client.fleet?.connection, equals: .connected)
      let listeners = "SELECT count(*) FROM pg_stat_activity WHERE query ILIKE '%listen%' AND pid <> pg_backend_pid()"
      try await expect(server.run(listeners), equals: "0")
      client.fleet?.leave()
      subscription.cancel()
      await fleet.close()
    }

    @Test func `What a pooler refuses by itself is told with its remedy`() async throws {
      let server = try await DatabaseServer()
      let pooler = try await Pooler(before: server, sessions: 1, settings: ["max_client_conn=1"])
      let missing = try ConnectionOpening(pooler.connection(database: "nowhere"), deadlines: .system)
      let error = await #expect(throws: PostgreSQLError.self) { try await missing.open(within: .seconds(30)) }
      expect(error?.code, equals: .invalidConnection, "\(String(describing: error))")
      expect(error?.message.contains("Add the database to `[databases]` of the pooler"), equals: true)
      let opening = try ConnectionOpening(pooler.connection(), deadlines: .system)
      let first = try await opening.open(within: .seconds(30))
      let full = await #expect(throws: PostgreSQLError.self) { try await opening.open(within: .seconds(30)) }
      expect(full?.code, equals: .busy, "\(String(describing: full))")
      expect(full?.message.contains("Raise `max_client_conn` of the pooler"), equals: true)
      first.close()
    }

    @Test func `Another level of isolation is refused behind a pooler, and set without one`() async throws {
      let server = try await DatabaseServer()
      let pooler = try await Pooler(before: server, sessions: 1)
      try await server.run("ALTER ROLE owner SET default_transaction_isolation = 'serializable'")
      let pooled = try PostgreSQLStorage(connection: pooler.connection())
      let error = await #expect(throws: StorageError.self) { try await pooled.keys() }
      expect(error?.message.contains("ALTER ROLE \"owner\" SET default_transaction_isolation = 'read"), equals: true)
      let direct = try PostgreSQLStorage(connection: server.connection())
      try await direct.put("a")
      try await expect(direct.keys(), equals: ["a"])
      await pooled.close()
      await direct.close()
    }

    @Test func `A prepared statement that somebody removes is made without a name from then on`() async throws {
      let server = try await DatabaseServer.shared.value
      let connection = try await ConnectionOpening(server.connection(), deadlines: .system).open(within: .seconds(30))
      try await SchemaSession(connection: connection, schema: SchemaName("none"), timeout: .seconds(30)).setUp()
      #expect(connection.ownsSession)
      let statement = Statement("SELECT $1", .integer)
      for number in 0..<3 as Range<Int64> {
        if number == 1 { _ = try await connection.perform(Statement(script: "DEALLOCATE ALL"), within: .seconds(30)) }
        let rows = try await connection.perform(statement, [.integer(number)], within: .seconds(30))
        expect(rows.first?.integer(0), equals: number)
        expect(connection.ownsSession, equals: (number == 0))
      }
      let names = Statement("SELECT count(*) FROM pg_prepared_statements")
      try await expect(connection.perform(names, within: .seconds(30)).first?.integer(0), equals: 0)
      connection.close()
    }
  }
#endif
