#if SwiftOperationPostgreSQL && os(Linux)
  import OperationCore
  import OperationFleet
  import OperationPersistence
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationPostgreSQL

  @Suite(.bounded) struct ValueSizeTests {
    @Test func `A value that is too large is refused with the limit`() async throws {
      let storage = try PostgreSQLStorage(connection: "host=db.example")
      let value = [UInt8](repeating: 0, count: PostgreSQLStorage.maximumValueSize + 1)
      let error = await #expect(throws: StorageError.self) {
        try await storage.apply([.put(key: "large", value: value)])
      }
      expect(error?.message.contains("32000001 bytes, and PostgreSQLStorage takes up to 32000000"), equals: true)
      await storage.close()
    }

    @Test func `A connection that is retired makes room for another one`() {
      final class Connection: Sendable {}
      var machine = PoolMachine<Connection>(maximumConnections: 1, maximumCallers: 9, name: "The pool")
      _ = machine.acquire(1)
      let old = Connection()
      expect(machine.didOpen(old).grants.map(\.caller), equals: [1])
      expect(machine.acquire(2).openingCount, equals: 0)
      let actions = machine.retire(old)
      #expect(actions.closing.first === old && actions.openingCount == 1)
      #expect(machine.retire(old).closing.isEmpty)
      expect(machine.didOpen(Connection()).grants.map(\.caller), equals: [2])
    }
  }

  /// Passwords that change, connections that end after a time, and what is told of them.
  @Suite(.bounded, .needsServer) struct ConnectionLifeTests {
    @Test func `Each connection asks for the password, which may be another one by then`() async throws {
      let server = try await DatabaseServer()
      try await server.run("CREATE ROLE guarded SUPERUSER LOGIN PASSWORD 'first'")
      let file = try await server.run("SHOW hba_file")
      try await server.run(
        """
        COPY (
          SELECT line FROM (VALUES (1, 'local all guarded scram-sha-256'), (2, 'local all all trust')) v (n, line) ORDER BY n
        ) TO '\(file)'
        """
      )
      try await server.run("SELECT pg_reload_conf()")
      let (password, calls) = (Box("first"), Counter())
      let storage = try PostgreSQLStorage(connection: server.connection(user: "guarded", "password=none")) {
        calls.increment()
        return password.value
      }
      try await storage.put("a")
      #expect(calls.value >= 1)
      let before = calls.value
      try await server.run("ALTER ROLE guarded PASSWORD 'second'")
      password.value = "second"
      try await server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'guarded'")
      try await storage.put("b")
      #expect(calls.value > before)
      await storage.close()
      let wrong = try PostgreSQLStorage(connection: server.connection(user: "guarded")) { "third" }
      let refusal = await #expect(throws: StorageError.self) { try await wrong.put("c") }
      expect((refusal?.cause as? PostgreSQLError)?.code, equals: .noRights, "\(String(describing: refusal))")
      expect(refusal?.description.contains("third"), equals: false)
      await wrong.close()
      let broken = try PostgreSQLFleet(connection: server.connection(user: "guarded"), password: { throw Refused() })
      let failure = await #expect(throws: FleetError.self) { try await broken.lookUp([FleetKey("a", subjects: [])]) }
      expect(
        failure?.message.contains("the closure for its password threw"),
        equals: true,
        "\(String(describing: failure))"
      )
      #expect(broken.snapshot().failedOpenings >= 1 && broken.snapshot().failure != nil)
      await broken.close()
    }

    @Test func `A connection is closed after its time, and the snapshot counts the openings and the waits`()
      async throws
    {
      let server = try await DatabaseServer.shared.value
      let clock = ManualClock()
      let pool = ConnectionPool(
        try ConnectionOpening(server.connection(), deadlines: clock),
        maximumConnections: 1,
        timeout: .seconds(60),
        maximumAge: .seconds(600),
        deadlines: clock,
        setUp: { _ in }
      )
      let statement = Statement("SELECT pg_backend_pid()::bigint")
      func process() async throws -> Int64? { try await pool.perform(statement).first?.integer(0) }
      let first = try await process()
      try await expect(process(), equals: first)
      clock.advance(by: .seconds(600))
      // The one that is old by now makes this one, and is closed then, unless it became free only now.
      _ = try await process()
      let second = try await process()
      #expect(second != first && second != nil)
      let snapshot = pool.snapshot("pool")
      #expect(snapshot.openings == 2 && snapshot.failedOpenings == 0 && snapshot.failure == nil)
      #expect(snapshot.waits >= 2 && snapshot.maximumConnections == 1)
      #expect(snapshot.gauges["pool.openings"] == 2 && snapshot.gauges["pool.listening"] == nil)
      pool.close()
    }

    @Test func `A snapshot says whether a fleet listens`() async throws {
      let server = try await DatabaseServer.shared.value
      let fleet = try PostgreSQLFleet(connection: server.connection(), schema: ServerTests.newSchema("listens"))
      expect(fleet.snapshot().isListening, equals: false)
      let isListening = Gate()
      let subscription = fleet.messages { if $0 == .missed { isListening.open() } }
      try await isListening.wait(within: .seconds(30))
      _ = try await fleet.lookUp([FleetKey("a", subjects: [])])
      let snapshot = fleet.snapshot()
      #expect(snapshot.isListening == true && snapshot.gauges["pool.listening"] == 1)
      #expect(snapshot.name.hasPrefix("PostgreSQLFleet listens_"))
      #expect(snapshot.openings >= 1)
      subscription.cancel()
      await fleet.close()
    }
  }
#endif
