#if SwiftOperationPostgreSQL && os(Linux)
  import OperationCore
  import OperationFleet
  import TestFixtures
  import Testing

  @testable import OperationPostgreSQL

  /// What calls read while a transaction keeps old versions of rows, as a dump does.
  @Suite(.bounded, .needsServer) struct GrowthTests {
    private let server: DatabaseServer
    private let schema = ServerTests.newSchema("growth")

    init() async throws {
      self.server = try await DatabaseServer.shared.value
    }

    private func key(_ text: String) -> FleetKey { FleetKey(text, subjects: [FleetSubject(text)]) }

    private func put(_ text: String, in fleet: PostgreSQLFleet) async throws {
      let request = FleetLeaseRequest(key: self.key(text), owner: "o", duration: .seconds(60), knownRevision: .max)
      guard case .granted(let lease, let epoch) = try await fleet.acquireLease(request) else {
        throw DatabaseServer.Failure(description: "no lease")
      }
      _ = try await fleet.store(FleetWrite(lease: lease, epoch: epoch, bytes: [1], timeToLive: .seconds(3_600)))
    }

    /// The number of pages that a statement reads.
    private func pages(
      _ sql: String,
      _ type: QueryType,
      _ value: QueryValue,
      in fleet: PostgreSQLFleet
    ) async throws -> Int {
      let plan = try await fleet.perform(Statement("EXPLAIN (ANALYZE, BUFFERS) " + sql, type), [value])
      let line = plan.lazy.compactMap { $0.text(0) }.first { $0.contains("Buffers: ") } ?? ""
      return line.split(separator: " ").compactMap { $0.split(separator: "=").last.flatMap { Int($0) } }.reduce(0, +)
    }

    private func pages(in fleet: PostgreSQLFleet) async throws -> [String: Int] {
      let statements = FleetStatements(try SchemaName(self.schema))
      let since = "SELECT * FROM \(self.schema).fleet_moment() WHERE $1::bigint IS NOT NULL"
      let invalidate = "SELECT \(self.schema).fleet_invalidate($1, 'node')"
      var pages: [String: Int] = [:]
      for text in ["hot", "cold", "none"] {
        let keys = QueryValue.byteArray([Array(text.utf8)])
        pages["look-up of \(text)"] = try await self.pages(statements.lookUp.sql, .byteArray, keys, in: fleet)
      }
      pages["epoch"] = try await self.pages(since, .integer, .integer(0), in: fleet)
      pages["invalidation"] = try await self.pages(invalidate, .byteArray, .byteArray([Array("hot".utf8)]), in: fleet)
      return pages
    }

    @Test func `Look-ups and invalidations read no more while an old snapshot is open`() async throws {
      let fleet = try PostgreSQLFleet(
        connection: self.server.connection(),
        schema: self.schema,
        maximumConnections: 1,
        bounds: FleetBounds(),
        cleans: false
      )
      try await self.put("hot", in: fleet)
      try await self.put("cold", in: fleet)
      _ = try await self.pages(in: fleet)
      let before = try await self.pages(in: fleet)
      let opening = try ConnectionOpening(self.server.connection(), deadlines: .system)
      let dump = try await opening.open(within: .seconds(30))
      defer { dump.close() }
      for sql in ["BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT count(*) FROM \(self.schema).fleet_clock"] {
        _ = try await dump.perform(Statement(script: sql), within: .seconds(30))
      }
      try await self.server.run(
        """
        DO $$ BEGIN
          FOR i IN 1..3000 LOOP
            PERFORM \(self.schema).fleet_invalidate(ARRAY['hot'::bytea], 'node');
            COMMIT;
          END LOOP;
        END $$
        """
      )
      let during = try await self.pages(in: fleet)
      try await self.put("hot", in: fleet)
      let after = try await self.pages(in: fleet)
      try await expect(
        fleet.lookUp([self.key("hot"), self.key("cold")]).values.map { $0 == nil },
        equals: [true, false]
      )
      for (what, count) in before {
        #expect(count > 0)
        // The trees of the indexes have one level more.
        #expect(during[what] ?? .max <= count * 2 + 12, "\(what): \(count) and \(during[what] ?? -1) pages")
        #expect(after[what] ?? .max <= count * 2 + 12, "\(what): \(count) and \(after[what] ?? -1) pages")
      }
      await fleet.close()
    }

    @Test func `A fleet of the version before epochs without a row keeps its values, and goes on with its epochs`()
      async throws
    {
      let name = try SchemaName(self.schema)
      for step in SchemaMigration.all.prefix(5) { try await self.server.run(step.script(name)) }
      try await self.server.run(
        """
        INSERT INTO \(self.schema).schema_version (version) SELECT generate_series(1, 5);
        SELECT \(self.schema).fleet_invalidate(ARRAY['a'::bytea, 'b'], 'early');
        SELECT \(self.schema).fleet_store(
          'b', ARRAY['b'::bytea], 'o', (\(self.schema).fleet_acquire_lease('b', 'o', 60000000, -1)).token, 1, '\\x01',
          3600000000, false
        );
        SELECT \(self.schema).fleet_store(
          'c', ARRAY['c'::bytea], 'o', (\(self.schema).fleet_acquire_lease('c', 'o', 60000000, -1)).token, 0, '\\x02',
          3600000000, false
        );
        SELECT \(self.schema).fleet_invalidate(ARRAY['b'::bytea], 'late');
        """
      )
      let fleet = try PostgreSQLFleet(connection: self.server.connection(), schema: self.schema)
      let lookup = try await fleet.lookUp(["a", "b", "c"].map { self.key($0) })
      expect(lookup.epoch, equals: FleetEpoch(rawValue: 2))
      expect(lookup.values.map { $0?.bytes }, equals: [nil, nil, [2]])
      guard case .listed(let list, _) = try await fleet.invalidations(since: .zero) else {
        Issue.record("not listed")
        return
      }
      expect(Set(list.map { "\($0.subject) \($0.epoch) \($0.node)" }), equals: ["a 1 early", "b 2 late"])
      try await expect(fleet.invalidate([FleetSubject("c")], by: "node"), equals: FleetEpoch(rawValue: 3))
      try await expect(fleet.lookUp([self.key("c")]).values, equals: [nil])
      await fleet.close()
    }
  }
#endif
