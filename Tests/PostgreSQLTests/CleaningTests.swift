#if SwiftOperationPostgreSQL && os(Linux)
  import OperationCore
  import OperationFleet
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationPostgreSQL

  @Suite(.bounded) struct FleetCleanerTests {
    /// Steps that end as the test says.
    private final class Steps: Sendable {
      let begun = Log<Int>()
      private let results: [FleetCleaner.Step]

      init(_ results: [FleetCleaner.Step]) {
        self.results = results
      }

      func next() -> FleetCleaner.Step {
        self.begun.append(1)
        let count = self.begun.all.count
        return self.results.indices.contains(count - 1) ? self.results[count - 1] : .done
      }
    }

    private func cleaner(_ clock: ManualClock, _ steps: Steps) -> FleetCleaner {
      FleetCleaner(pause: .seconds(10), deadlines: clock, random: { 0.5 }, step: { steps.next() })
    }

    @Test func `The first step is made at once, a next one soon if there is more, and later if others clean`()
      async throws
    {
      let clock = ManualClock()
      let steps = Steps([.hasMore, .done, .notDue, .failed])
      let cleaner = self.cleaner(clock, steps)
      cleaner.start()
      cleaner.start()
      for (number, delay) in [Duration.milliseconds(100), .seconds(10), .seconds(30), .seconds(30)].enumerated() {
        try await clock.sleepers(count: 1)
        expect(steps.begun.all.count, equals: number + 1)
        expect(clock.remainingTimes(), equals: [delay])
        clock.advance(by: delay)
      }
      try await clock.sleepers(count: 1)
      cleaner.close()
      expect(clock.sleeperCount(), equals: 0)
      cleaner.start()
      expect(steps.begun.all.count, equals: 5)
    }

    @Test func `A cleaner that is released or closed makes no further step`() async throws {
      let clock = ManualClock()
      let steps = Steps([])
      do {
        let cleaner = self.cleaner(clock, steps)
        cleaner.start()
        try await clock.sleepers(count: 1)
      }
      try await clock.noSleepers()
      let closed = self.cleaner(clock, steps)
      closed.close()
      closed.start()
      expect(clock.sleeperCount(), equals: 0)
      expect(steps.begun.all.count, equals: 1)
    }
  }

  @Suite(.bounded, .needsServer) struct CleaningTests {
    private let server: DatabaseServer
    private let schema = ServerTests.newSchema("cleaning")

    init() async throws {
      self.server = try await DatabaseServer.shared.value
    }

    private func makeFleet(cleans: Bool = false) throws -> PostgreSQLFleet {
      try PostgreSQLFleet(
        connection: self.server.connection(),
        schema: self.schema,
        bounds: FleetBounds(),
        cleans: cleans
      )
    }

    private func key(_ text: String) -> FleetKey {
      FleetKey(text, subjects: [FleetSubject("all"), FleetSubject(text)])
    }

    /// A step that is due, and how many rows it has removed; nil if it was not due.
    private func step(_ fleet: PostgreSQLFleet, _ bounds: FleetBounds) async throws -> (removed: Int64?, hasMore: Bool)
    {
      let row = try await fleet.perform(FleetStatements(SchemaName(self.schema)).cleanUp, bounds.parameters).first
      return (row?.integer(0), row?.boolean(1) == true)
    }

    /// Bounds with which each step is due, and counts.
    private var bounds: FleetBounds {
      var bounds = FleetBounds()
      bounds.pause = .zero
      bounds.countingPause = .zero
      return bounds
    }

    /// Inserts values of a size that the database cannot compress, which end one minute after the other.
    private func insert(_ count: Int, from first: Int, size: Int = 32) async throws {
      try await self.server.run(
        """
        INSERT INTO \(self.schema).fleet_value
          SELECT int4send(n), '{}', b.bytes, n, 0, now(), now() + n * interval '1 minute'
          FROM generate_series(\(first), \(first + count - 1)) n CROSS JOIN (
            SELECT substring(string_agg(sha256(int4send(i)), '') FOR \(size)) AS bytes
            FROM generate_series(1, \(size / 32 + 1)) i
          ) b
        """
      )
    }

    private func count(_ table: String) async throws -> Int? {
      Int(try await self.server.run("SELECT count(*) FROM \(self.schema).\(table)"))
    }

    @Test func `What has ended is removed, and forgotten invalidations leave nothing fresh`() async throws {
      let fleet = try self.makeFleet()
      func grant(_ text: String) async throws -> (FleetLease, FleetEpoch) {
        let request = FleetLeaseRequest(key: self.key(text), owner: text, duration: .seconds(3_600))
        guard case .granted(let lease, let epoch) = try await fleet.acquireLease(request) else {
          throw DatabaseServer.Failure(description: "no lease")
        }
        return (lease, epoch)
      }
      func store(_ text: String, _ byte: UInt8 = 1, for duration: Duration = .seconds(3_600)) async throws {
        let (lease, epoch) = try await grant(text)
        _ = try await fleet.store(FleetWrite(lease: lease, epoch: epoch, bytes: [byte], timeToLive: duration))
      }
      let early = try await grant("early")
      try await store("kept")
      try await store("ended", for: .zero)
      let first = try await fleet.invalidate([FleetSubject("kept")], by: "node")
      let second = try await fleet.invalidate([FleetSubject("other")], by: "node")
      try await store("new", 2)
      var bounds = self.bounds
      bounds.keptInvalidations = 1
      try await expect(self.step(fleet, bounds).removed, equals: 2)
      // One is kept, and the values from before the forgotten one are stale.
      try await expect(self.count("fleet_value"), equals: 2)
      try await expect(
        fleet.invalidations(since: first),
        equals: .listed(
          [FleetInvalidation(of: FleetSubject("other"), epoch: second, by: "node")],
          upTo: second
        )
      )
      try await expect(fleet.invalidations(since: .zero), equals: .everything(upTo: second))
      try await expect(fleet.lookUp([self.key("kept"), self.key("new")]).values.map { $0?.bytes }, equals: [nil, [2]])
      let late = FleetWrite(lease: early.0, epoch: early.1, bytes: [1], timeToLive: .seconds(9))
      try await expect(fleet.store(late), equals: .invalidated)
      await fleet.close()
    }

    @Test func `A step removes a bounded number of rows and of bytes, and says that there are more`() async throws {
      let fleet = try self.makeFleet()
      _ = try await fleet.lookUp([self.key("a")])
      // They have ended.
      try await self.insert(40, from: -100, size: 1_000_000)
      try await self.insert(1_200, from: -2_000)
      var removed: [Int64?] = []
      var hasMore = true
      while hasMore, removed.count < 20 {
        let step = try await self.step(fleet, self.bounds)
        removed.append(step.removed)
        hasMore = step.hasMore
      }
      expect(removed.compactMap { $0 }.reduce(0, +), equals: 1_240)
      expect(removed.prefix(2), equals: [500, 500])
      // The rest are 200 small ones and 40 of a megabyte.
      expect(removed.count, equals: 5)
      #expect(removed.suffix(2).allSatisfy { ($0 ?? 0) <= 17 })
      try await expect(self.count("fleet_value"), equals: 0)
      await fleet.close()
    }

    @Test func `Of too many values, or too many bytes, those that end first are removed`() async throws {
      let fleet = try self.makeFleet()
      _ = try await fleet.lookUp([self.key("a")])
      try await self.insert(20, from: 1, size: 100_000)
      var bounds = self.bounds
      bounds.maximumValues = 15
      try await expect(self.step(fleet, bounds).removed, equals: 5)
      bounds.maximumBytes = 1_000_500
      try await expect(self.step(fleet, bounds).removed, equals: 5)
      try await expect(self.step(fleet, bounds).removed, equals: 0)
      try await expect(
        self.server.run("SELECT min(revision) || '-' || max(revision) FROM \(self.schema).fleet_value"),
        equals: "11-20"
      )
      await fleet.close()
    }

    @Test func `One process makes a step, and the others find that none is due`() async throws {
      let fleets = [try self.makeFleet(), try self.makeFleet()]
      _ = try await fleets[0].lookUp([self.key("a")])
      try await self.insert(10, from: -100)
      try await expect(self.step(fleets[0], FleetBounds()).removed, equals: 10)
      try await self.insert(10, from: -100)
      for fleet in fleets { try await expect(self.step(fleet, FleetBounds()).removed, equals: nil) }
      // While a step is under way, another process does not wait for it.
      try await self.server.run("UPDATE \(self.schema).fleet_cleaning SET due_at = '-infinity'")
      let connection = try await ConnectionOpening(self.server.connection(), deadlines: .system).open(
        within: .seconds(30)
      )
      _ = try await connection.perform(Statement(script: "BEGIN"), within: .seconds(30))
      let lock = Statement(script: "SELECT FROM \(self.schema).fleet_cleaning FOR UPDATE")
      _ = try await connection.perform(lock, within: .seconds(30))
      try await expect(self.step(fleets[1], FleetBounds()).removed, equals: nil)
      connection.close()
      for fleet in fleets { await fleet.close() }
    }

    @Test func `A process cleans as soon as it has written once, and its writes do not wait for that`() async throws {
      let first = try self.makeFleet()
      _ = try await first.lookUp([self.key("a")])
      try await self.insert(10, from: -100)
      let connection = try await ConnectionOpening(self.server.connection(), deadlines: .system).open(
        within: .seconds(30)
      )
      _ = try await connection.perform(Statement(script: "BEGIN"), within: .seconds(30))
      // Nobody removes a value while this lock is held, and everybody may read.
      let lock = Statement(script: "LOCK TABLE \(self.schema).fleet_value IN SHARE MODE")
      _ = try await connection.perform(lock, within: .seconds(30))
      let fleet = try self.makeFleet(cleans: true)
      for _ in 0..<300 { _ = try await fleet.invalidate([FleetSubject("s")], by: "node") }
      try await expect(self.count("fleet_value"), equals: 10)
      _ = try await connection.perform(Statement(script: "COMMIT"), within: .seconds(30))
      connection.close()
      try await withTimeLimit("the values to be removed", .seconds(60)) {
        while try await self.count("fleet_value") != 0 {}
      }
      await fleet.close()
      await first.close()
    }
  }
#endif
