#if SwiftOperationPostgreSQL && os(Linux)
  import OperationCore
  import OperationEvents
  import OperationFleet
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationPostgreSQL

  @Suite(.bounded, .needsServer) struct FleetTests {
    private let hour = Duration.seconds(3_600)

    private func key(_ text: String) -> FleetKey {
      FleetKey(text, subjects: [FleetSubject("all"), FleetSubject(text)])
    }

    private func makeFleet() async throws -> (PostgreSQLFleet, schema: String, DatabaseServer) {
      let server = try await DatabaseServer.shared.value
      let schema = ServerTests.newSchema("fleet")
      return (try PostgreSQLFleet(connection: server.connection(), schema: schema), schema, server)
    }

    private func grant(
      _ text: String,
      to owner: String = "a",
      in fleet: PostgreSQLFleet,
      for duration: Duration = .seconds(3_600)
    ) async throws -> (FleetLease, FleetEpoch) {
      let request = FleetLeaseRequest(key: self.key(text), owner: owner, duration: duration)
      let answer = try await fleet.acquireLease(request)
      guard case .granted(let lease, let epoch) = answer else {
        throw DatabaseServer.Failure(description: "no lease: \(answer)")
      }
      return (lease, epoch)
    }

    private func store(
      _ bytes: [UInt8],
      _ granted: (lease: FleetLease, epoch: FleetEpoch),
      in fleet: PostgreSQLFleet,
      tags: [FleetSubject] = [],
      for duration: Duration = .seconds(3_600),
      isAnnounced: Bool = false
    ) async throws -> FleetWriteAnswer {
      try await fleet.store(
        FleetWrite(
          lease: granted.lease,
          epoch: granted.epoch,
          tags: tags,
          bytes: bytes,
          timeToLive: duration,
          isAnnounced: isAnnounced
        )
      )
    }

    @Test func `A value is found until it is invalidated, and one from before that is refused`() async throws {
      let (fleet, _, _) = try await self.makeFleet()
      let early = try await self.grant("early", in: fleet)
      guard
        case .stored(let revision) = try await self.store(
          [1],
          try await self.grant("a", in: fleet),
          in: fleet,
          tags: [
            FleetSubject("tag")
          ]
        )
      else {
        Issue.record("not stored")
        return
      }
      var found = try await fleet.lookUp([self.key("b"), self.key("a"), self.key("a")])
      expect(found.values.map { $0?.bytes }, equals: [nil, [1], [1]])
      expect(found.values[1]?.revision, equals: revision)
      let epoch = try await fleet.invalidate([FleetSubject("tag"), FleetSubject("tag")], by: "node")
      found = try await fleet.lookUp([self.key("a")])
      expect(found, equals: FleetLookup(values: [nil], epoch: epoch))
      try await expect(
        fleet.invalidations(since: .zero),
        equals: .listed(
          [
            FleetInvalidation(of: FleetSubject("tag"), epoch: epoch, by: "node")
          ],
          upTo: epoch
        )
      )
      // It has the subject `all` only: this one concerns it.
      let last = try await fleet.invalidate([FleetSubject("all")], by: "node")
      try await expect(self.store([2], early, in: fleet), equals: .invalidated)
      try await expect(fleet.invalidations(since: last), equals: .listed([], upTo: last))
      try await expect(
        fleet.invalidations(since: FleetEpoch(rawValue: last.rawValue + 1)),
        equals: .everything(upTo: last)
      )
      // Its lease has ended.
      let next = try await self.grant("early", to: "b", in: fleet)
      #expect(next.0.token > early.0.token)
      expect(next.1, equals: last)
      guard case .stored(let second) = try await self.store([3], next, in: fleet) else {
        Issue.record("not stored")
        return
      }
      #expect(second > revision)
      await fleet.close()
    }

    @Test func `A holder that comes back late writes nothing`() async throws {
      let (fleet, _, _) = try await self.makeFleet()
      let late = try await self.grant("a", in: fleet, for: .zero)
      #expect(try await !fleet.renewLease(late.0, for: self.hour))
      let holder = try await self.grant("a", to: "b", in: fleet)
      try await expect(self.store([1], late, in: fleet), equals: .leaseEnded)
      try await fleet.releaseLease(late.0)
      #expect(try await fleet.renewLease(holder.0, for: self.hour))
      // It asks again, as after a lost answer.
      try await expect(self.grant("a", to: "b", in: fleet).0, equals: holder.0)
      #expect(try await self.store([2], holder, in: fleet) != .leaseEnded)
      try await expect(self.store([3], holder, in: fleet), equals: .leaseEnded)
      try await expect(fleet.lookUp([self.key("a")]).values.first??.bytes, equals: [2])
      await fleet.close()
    }

    @Test func `Nodes hear of invalidations, and of what they wait for`() async throws {
      let (fleet, schema, server) = try await self.makeFleet()
      let other = try PostgreSQLFleet(connection: server.connection(), schema: schema)
      let received = MessageLog()
      let subscription = other.messages { received.add($0) }
      try await received.wait(for: .missed)
      let epoch = try await fleet.invalidate([FleetSubject("x")], by: "node")
      try await received.wait(for: .invalidated(epoch))
      let first = try await self.grant("a b/\u{7F}", in: fleet)
      let request = FleetLeaseRequest(key: self.key("a b/\u{7F}"), owner: "b", duration: self.hour)
      guard case .heldByAnother("a", let remaining) = try await other.acquireLease(request) else {
        Issue.record("not held")
        return
      }
      #expect(remaining > .seconds(3_500) && remaining <= self.hour)
      try await fleet.releaseLease(first.0)
      try await received.wait(for: .released(key: "a b/\u{7F}"))
      let second = try await self.grant("a b/\u{7F}", in: fleet)
      _ = try await other.acquireLease(request)
      guard case .stored(let revision) = try await self.store([1], second, in: fleet) else {
        Issue.record("no")
        return
      }
      try await received.wait(for: .stored(key: "a b/\u{7F}", revision: revision))
      guard case .fresh(let value, _) = try await other.acquireLease(request) else {
        Issue.record("no value")
        return
      }
      expect(value.bytes, equals: [1])
      // Nobody waits for this one.
      _ = try await self.store([1], try await self.grant("quiet", in: fleet), in: fleet)
      let announced = try await self.store([1], try await self.grant("loud", in: fleet), in: fleet, isAnnounced: true)
      guard case .stored(let loud) = announced else {
        Issue.record("not stored")
        return
      }
      try await received.wait(for: .stored(key: "loud", revision: loud))
      #expect(!received.all.contains { if case .stored("quiet", _) = $0 { true } else { false } })
      // The server ends the session that listens: the next one is told as a gap.
      let count = received.count(of: .missed)
      try await server.run(
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE query LIKE '%pg_listening_channels%''\(schema)''%' AND pid <> pg_backend_pid()
        """
      )
      try await received.wait(for: .missed, times: count + 1)
      let last = try await fleet.invalidate([FleetSubject("x")], by: "node")
      try await received.wait(for: .invalidated(last))
      subscription.cancel()
      await fleet.close()
      await other.close()
    }

    @Test func `After a crash of the server nothing is fresh, and all numbers are higher`() async throws {
      let server = try await DatabaseServer()
      let fleet = try PostgreSQLFleet(connection: server.connection(), timeout: .seconds(20))
      let holder = try await self.grant("held", in: fleet)
      guard case .stored(let revision) = try await self.store([1], try await self.grant("a", in: fleet), in: fleet)
      else {
        Issue.record("not stored")
        return
      }
      var epoch = try await fleet.invalidate([FleetSubject("x")], by: "node")
      for _ in 0..<2 {
        try await server.crash()
        let error = await #expect(throws: FleetError.self) { try await fleet.lookUp([self.key("a")]) }
        expect(error?.code, equals: .unreachable, "\(String(describing: error))")
        try await server.start()
        let found = try await withTimeLimit("the fleet to connect again", .seconds(20)) {
          while true {
            if let found = try? await fleet.lookUp([self.key("a")]) { return found }
          }
        }
        expect(found.values, equals: [nil])
        #expect(found.epoch > epoch)
        try await expect(fleet.invalidations(since: epoch), equals: .everything(upTo: found.epoch))
        epoch = found.epoch
      }
      try await expect(self.store([1], holder, in: fleet), equals: .leaseEnded)
      let next = try await self.grant("held", to: "b", in: fleet)
      #expect(next.0.token > holder.0.token)
      guard case .stored(let second) = try await self.store([1], next, in: fleet) else {
        Issue.record("no")
        return
      }
      #expect(second > revision)
      // A stop in order keeps all.
      try await server.stop()
      try await server.start()
      let again = try PostgreSQLFleet(connection: server.connection())
      try await expect(again.lookUp([self.key("held")]).values.first??.bytes, equals: [1])
      await fleet.close()
      await again.close()
    }

    @Test func `A server that refuses writes, or the listener, is named with its remedy`() async throws {
      let server = try await DatabaseServer()
      try await PostgreSQLSchema().migrate(connection: server.connection())
      try await server.run("CREATE DATABASE standby TEMPLATE postgres")
      try await server.run("ALTER DATABASE standby SET default_transaction_read_only = on")
      let listening = server.connection(database: "nowhere")
      let fleet = try PostgreSQLFleet(
        connection: server.connection(database: "standby"),
        listeningConnection: listening
      )
      let client = OperationClient()
      let (isAway, isUnheard) = (Gate(), Gate())
      let messages = Log<OperationNotice.Value?>()
      let subscription = client.onNotice { notice in
        guard notice.name == .fleetAway || notice.name == .fleetNoMessages else { return }
        messages.append(notice.attributes["fleet.message"])
        (notice.name == .fleetAway ? isAway : isUnheard).open()
      }
      client.join(fleet, settings: FleetSettings(lookupTimeout: .seconds(30), heartbeat: .milliseconds(50)))
      let query = QueryOperation<Int, any Error>("a") { _ in 1 }.sharedInFleet(as: "a")
      try await expect(client.store(for: query).fetch(), equals: 1)
      try await isAway.wait(within: .seconds(30))
      try await isUnheard.wait(within: .seconds(30))
      let texts = messages.all.map { "\(String(describing: $0))" }
      #expect(texts.contains { $0.contains("read-only transaction") && $0.contains("target_session_attrs=read-write") })
      #expect(texts.contains { $0.contains("database \"nowhere\" does not exist") })
      let facts = client.store(for: query).explain().sections.filter { $0.title == "Fleet" }.flatMap(\.facts)
      #expect(facts.contains { $0.contains("read-only transaction") })
      #expect(facts.contains { $0.hasPrefix("no messages arrive: ") && $0.contains("Create the database") })
      client.fleet?.leave()
      subscription.cancel()
      await fleet.close()
    }

    @Test func `A look-up reads only the values of its keys, however many there are`() async throws {
      let (fleet, schema, server) = try await self.makeFleet()
      _ = try await self.store([1], try await self.grant("a", in: fleet), in: fleet)
      try await server.run(
        """
        INSERT INTO \(schema).fleet_value SELECT int4send(n), ARRAY[int4send(n)], 'value', n, 0, now(), 'infinity'
          FROM generate_series(1, 5000) n
        """
      )
      try await server.run("ANALYZE \(schema).fleet_value")
      let sql = FleetStatements(try SchemaName(schema)).lookUp.sql
      let plan = try await server.run("EXPLAIN " + sql.replacing("$1", with: "ARRAY['a', 'b']::bytea[]"))
      #expect(plan.contains("Index Scan using fleet_value_pkey"), "\(plan)")
      #expect(!plan.contains("Seq Scan on fleet_value"), "\(plan)")
      try await expect(fleet.lookUp([self.key("a")]).values.first??.bytes, equals: [1])
      await fleet.close()
    }

    /// Each task writes values and invalidates, at once with the others, over several processes' backends. A value has the
    /// number of invalidations that were over when its run began: no reader finds one that is older than it may be.
    @Test(arguments: 0..<6 as Range<UInt64>)
    func `What began before an invalidation is never found after it`(seed: UInt64) async throws {
      let (fleet, schema, server) = try await self.makeFleet()
      let fleets = [fleet, try PostgreSQLFleet(connection: server.connection(), schema: schema)]
      let names = ["x", "y"]
      // The highest epoch of an invalidation that has returned, by name.
      let ended = EpochLog()
      let found = Counter()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<6 {
          group.addTask {
            var random = SeededGenerator(seed: seed * 100 + UInt64(task))
            let fleet = fleets[task % 2]
            for round in 0..<60 {
              let name = names.randomElement(using: &random) ?? "x"
              switch Int.random(in: 0..<5, using: &random) {
              case 0:
                let epoch = try await fleet.invalidate([FleetSubject(name)], by: "\(task)")
                ended.add(epoch, for: name)
              case 1, 2:
                let owner = "\(task)/\(round)"
                let request = FleetLeaseRequest(key: self.key(name), owner: owner, duration: self.hour)
                guard case .granted(let lease, let epoch) = try await fleet.acquireLease(request) else { continue }
                let answer = try await self.store(Array(owner.utf8), (lease, epoch), in: fleet)
                if answer == .leaseEnded { Issue.record("the lease of \(owner) has ended") }
              default:
                let last = ended.last(name)
                let answer = try await fleet.lookUp([self.key(name)])
                #expect(answer.epoch >= last)
                guard let value = answer.values[0] else { continue }
                found.increment()
                #expect(value.epoch >= last && value.epoch <= answer.epoch)
              }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(found.value > 0)
      for fleet in fleets { await fleet.close() }
    }
  }

  /// The highest epoch of each name.
  private final class EpochLog: Sendable {
    private let epochs = Locked<[String: FleetEpoch]>([:])

    func add(_ epoch: FleetEpoch, for name: String) {
      self.epochs.withLock { $0[name] = max($0[name] ?? .zero, epoch) }
    }

    func last(_ name: String) -> FleetEpoch { self.epochs.withLock { $0[name] ?? .zero } }
  }

  /// The messages that a handler has received.
  private final class MessageLog: Sendable {
    private struct State: Sendable {
      var messages: [FleetMessage] = []
      var waiting: [(FleetMessage, times: Int, AwaitedOutcome<Void>)] = []

      func contains(_ message: FleetMessage, times: Int) -> Bool {
        self.messages.count { $0 == message } >= times
      }
    }

    private let state = Locked(State())

    var all: [FleetMessage] { self.state.withLock { $0.messages } }

    func count(of message: FleetMessage) -> Int { self.all.count { $0 == message } }

    func add(_ message: FleetMessage) {
      let ready = self.state.withLock { state in
        state.messages.append(message)
        let waiting = state.waiting
        state.waiting = waiting.filter { !state.contains($0.0, times: $0.times) }
        return waiting.filter { state.contains($0.0, times: $0.times) }
      }
      for (_, _, outcome) in ready { outcome.decide() }
    }

    func wait(for message: FleetMessage, times: Int = 1) async throws {
      let outcome = AwaitedOutcome<Void>()
      let isThere = self.state.withLock { state in
        if state.contains(message, times: times) { return true }
        state.waiting.append((message, times, outcome))
        return false
      }
      if isThere { return }
      try await withTimeLimit("the message \(message)", .seconds(20)) { await outcome.value() }
    }
  }
#endif
