#if SwiftOperationValkey && os(Linux)
  import OperationCore
  import OperationFleet
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationValkey

  /// What a server may lose, and what it must not make fresh by that.
  @Suite(.bounded, .needsServer) struct GenerationTests {
    /// What a fleet has, and what is under way, before something is lost.
    private struct Before {
      let epoch: FleetEpoch
      let revision: Int64
      /// A lease that a run has, from before the invalidation that is lost.
      let early: (lease: FleetLease, epoch: FleetEpoch)
      /// One from after it.
      let late: (lease: FleetLease, epoch: FleetEpoch)
    }

    /// Stores `kept` and `old`, and invalidates `old`.
    private func prepare(_ fleet: ValkeyFleet) async throws -> Before {
      try await fleet.put("kept", [1])
      let revision = try await fleet.put("old", [2])
      let early = try await fleet.grant("early")
      let epoch = try await fleet.invalidate("old")
      return Before(epoch: epoch, revision: revision, early: early, late: try await fleet.grant("late"))
    }

    /// Expects a new generation: nothing from before is fresh, no run from before is stored, and all numbers are higher.
    private func expectNewGeneration(_ fleet: ValkeyFleet, after before: Before) async throws {
      let found = try await fleet.lookUpWhenBack("old")
      expect(found.values, equals: [nil])
      #expect(found.epoch > before.epoch)
      try await expect(fleet.value("kept"), equals: nil)
      try await expect(fleet.invalidations(since: before.epoch), equals: .everything(upTo: found.epoch))
      try await expect(fleet.invalidations(since: found.epoch), equals: .listed([], upTo: found.epoch))
      for granted in [before.early, before.late] {
        guard case .stored = try await fleet.store([9], granted) else { continue }
        Issue.record("a run from before was stored")
      }
      for text in ["early", "late"] {
        let next = try await fleet.grant(text, to: "b")
        #expect(next.lease.token > before.late.lease.token)
        #expect(next.epoch >= found.epoch)
        try await fleet.releaseLease(next.lease)
      }
      #expect(try await fleet.put("new", [3]) > before.revision)
      try await expect(fleet.value("new"), equals: [3])
    }

    @Test func `A server that is killed and keeps nothing begins the fleet anew, again and again`() async throws {
      let server = try await ValkeyServer()
      let fleet = try ValkeyFleet(server.connection(), prefix: "a")
      for _ in 0..<3 {
        let before = try await self.prepare(fleet)
        try await server.crash()
        let error = await #expect(throws: FleetError.self) { try await fleet.lookUp([key("old")]) }
        expect(error?.code, equals: .unreachable, "\(String(describing: error))")
        expect(error?.message.contains("Start the server"), equals: true)
        try await server.start()
        try await self.expectNewGeneration(fleet, after: before)
      }
      await fleet.close()
    }

    /// The file has the value, and lacks its invalidation.
    @Test func `A server that starts with an older file of its data begins the fleet anew`() async throws {
      let server = try await ValkeyServer()
      let fleet = try ValkeyFleet(server.connection(), prefix: "a")
      try await fleet.put("old", [2])
      try await fleet.put("kept", [1])
      try await server.run("SAVE")
      let before = try await self.prepare(fleet)
      try await server.crash()
      try await server.start()
      // The value is there, for whoever looks into the server.
      try await expect(server.run("EXISTS", "a:value:old"), equals: .integer(1))
      try await self.expectNewGeneration(fleet, after: before)
      await fleet.close()
    }

    @Test func `A replica that has missed an invalidation begins the fleet anew when it is promoted`() async throws {
      let ports = [try freePort(), try freePort()]
      let primary = try await ValkeyServer("--port", "\(ports[0])")
      let replica = try await ValkeyServer("--port", "\(ports[1])", "--replicaof", "127.0.0.1", "\(ports[0])")
      let fleet = try ValkeyFleet("redis://127.0.0.1:\(ports[0]),127.0.0.1:\(ports[1])", prefix: "a")
      try await fleet.put("old", [2])
      try await fleet.put("kept", [1])
      // Until the replica has them.
      try await expect(primary.run("WAIT", "1", "0"), equals: .integer(1))
      let value = try await replica.run("GET", "a:value:old")
      expect(value.bytes?.last, equals: 2)
      try await replica.run("REPLICAOF", "NO", "ONE")
      let before = try await self.prepare(fleet)
      try await primary.crash()
      try await expect(replica.run("GET", "a:value:old"), equals: value)
      try await self.expectNewGeneration(fleet, after: before)
      // Of a node that has seen nothing, too.
      let other = try ValkeyFleet("redis://127.0.0.1:\(ports[1])", prefix: "a")
      try await expect(other.value("old"), equals: nil)
      try await expect(other.value("new"), equals: [3])
      await fleet.close()
      await other.close()
    }

    @Test func `A primary server that becomes a replica refuses calls, and another host takes its place`() async throws
    {
      let ports = [try freePort(), try freePort()]
      let first = try await ValkeyServer("--port", "\(ports[0])")
      let second = try await ValkeyServer("--port", "\(ports[1])")
      let fleet = try ValkeyFleet("redis://127.0.0.1:\(ports[0]),127.0.0.1:\(ports[1])", prefix: "a")
      let before = try await self.prepare(fleet)
      try await first.run("REPLICAOF", "127.0.0.1", "\(ports[1])")
      let error = await #expect(throws: FleetError.self) { try await fleet.lookUp([key("old")]) }
      expect((error?.cause as? ValkeyError)?.code, equals: .readOnly, "\(String(describing: error))")
      #expect(error?.message.contains("READONLY") == true && error?.message.contains("is the primary is found") == true)
      try await self.expectNewGeneration(fleet, after: before)
      // It is a replica for those who connect now, too.
      let other = try ValkeyFleet(first.connection(), prefix: "a")
      let refusal = await #expect(throws: FleetError.self) { try await other.lookUp([key("old")]) }
      expect((refusal?.cause as? ValkeyError)?.code, equals: .readOnly, "\(String(describing: refusal))")
      expect(refusal?.message.contains("The server is a replica"), equals: true)
      await fleet.close()
      await other.close()
      withExtendedLifetime(second) {}
    }

    @Test(arguments: ["FLUSHALL", "FLUSHDB", "SWAPDB", "DEL"])
    func `A database that is emptied in the middle begins the fleet anew`(fault: String) async throws {
      let server = try await ValkeyServer()
      let fleet = try ValkeyFleet(server.connection(), prefix: "a")
      let heard = MessageLog()
      let subscription = fleet.messages { heard.add($0) }
      try await heard.wait(for: .missed)
      let before = try await self.prepare(fleet)
      switch fault {
      case "SWAPDB": try await server.run("SWAPDB", "0", "1")
      case "DEL": try await server.run("DEL", "a:clock")
      default: try await server.run(fault)
      }
      try await self.expectNewGeneration(fleet, after: before)
      // Nodes hear of it at once.
      let epoch = try await fleet.lookUp([key("x")]).epoch
      try await heard.wait(for: .invalidated(epoch))
      subscription.cancel()
      await fleet.close()
    }

    @Test func `Evicting any key of a fleet makes nothing old fresh`() async throws {
      let server = try await ValkeyServer()
      let fleet = try ValkeyFleet(server.connection(), prefix: "a")
      let names = ["a:clock", "a:nodes", "a:lease:early", "a:lease:late", "a:value:kept", "a:value:old"]
      // Each set of keys that may be evicted.
      for choice in 0..<(1 << names.count) {
        let before = try await self.prepare(fleet)
        for (place, name) in names.enumerated() where choice & 1 << place != 0 {
          try await expect(server.run("DEL", name), equals: .integer(1), "\(name)")
        }
        let text = "\(choice)"
        try await expect(fleet.value("old"), equals: nil, "\(text)")
        if choice & 1 != 0 { try await expect(fleet.value("kept"), equals: nil, "\(text)") }
        let answer = try await fleet.invalidations(since: FleetEpoch(rawValue: before.epoch.rawValue - 1))
        if case .listed(let list, _) = answer {
          #expect(choice & 1 == 0 && list.map(\.subject) == [FleetSubject("old")], "\(text)")
          expect(list[0].node, equals: (choice & 2 != 0 ? "" : "node"), "\(text)")
        } else {
          #expect(choice & 1 != 0, "\(text)")
        }
        // The invalidation concerns everything: a run from before it is never stored.
        let all = try await fleet.invalidate("all")
        #expect(all > before.epoch, "\(text)")
        for granted in [before.early, before.late] {
          let stored = try await fleet.store([9], granted)
          #expect(stored == .invalidated || stored == .leaseEnded, "\(text)")
        }
        try await expect(fleet.value("early"), equals: nil, "\(text)")
        try await expect(fleet.value("late"), equals: nil, "\(text)")
      }
      await fleet.close()
    }

    /// Values and leases end, the clock does not: so the policies `volatile-…` evict what may be evicted.
    @Test(arguments: ["allkeys-random", "allkeys-lru", "volatile-lru", "volatile-ttl"])
    func `A server with little memory forgets values, and makes nothing old fresh`(policy: String) async throws {
      let server = try await ValkeyServer("--maxmemory", "3mb", "--maxmemory-policy", policy)
      let fleet = try ValkeyFleet(server.connection(), prefix: "a")
      let bytes = [UInt8](repeating: 7, count: 20_000)
      var last = FleetEpoch.zero
      var (hits, generations) = (0, 0)
      for round in 0..<300 {
        // What a run needs may be evicted before it has stored its value.
        for name in ["a", "b"] { _ = try? await fleet.put("\(name)\(round)", bytes) }
        let epoch = try await fleet.invalidate("a\(round)")
        #expect(epoch > last)
        if epoch.rawValue != last.rawValue + 1 { generations += 1 }
        last = epoch
        for place in [round, round / 2, 0] {
          try await expect(fleet.value("a\(place)"), equals: nil)
          if try await fleet.value("b\(place)") != nil { hits += 1 }
        }
      }
      #expect(hits > 0)
      // The first one, and with `volatile-…` no other.
      if policy.hasPrefix("volatile") {
        expect(generations, equals: 1)
        try await expect(server.run("TTL", "a:clock"), equals: .integer(-1))
      }
      await fleet.close()
    }

    @Test func `Numbers that a process has seen never come again, though the time is set back`() async throws {
      let server = try await ValkeyServer()
      let fleet = try ValkeyFleet(server.connection(), prefix: "a")
      let before = try await self.prepare(fleet)
      // What another process has begun after the time of the server was set back by years.
      let info = try await server.run("INFO", "replication").text ?? ""
      let line = try #require(info.split(whereSeparator: \.isNewline).first { $0.hasPrefix("master_replid:") })
      let lineage = line.dropFirst("master_replid:".count)
      try await server.run("DEL", "a:clock")
      try await server.run("ZADD", "a:clock", "0", "!other \(lineage)", "5", "e", "3", "f", "4", "n")
      // A process that has seen nothing takes part in that generation, to which nothing from before belongs.
      let other = try ValkeyFleet(server.connection(), prefix: "a")
      try await expect(other.value("kept"), equals: nil)
      try await expect(other.lookUp([key("x")]).epoch, equals: FleetEpoch(rawValue: 5))
      try await self.expectNewGeneration(fleet, after: before)
      await other.close()
      await fleet.close()
    }

    @Test func `Of too many invalidations the oldest are forgotten, and what is older is stale`() async throws {
      let server = try await ValkeyServer.shared.value
      let prefix = ServerTests.newPrefix()
      let fleet = try ValkeyFleet(server.connection(), prefix: prefix, maximumInvalidations: 100)
      let start = try await fleet.lookUp([key("x")]).epoch
      try await fleet.put("old", [1])
      var epochs: [FleetEpoch] = []
      for number in 0..<130 { epochs.append(try await fleet.invalidate("\(number)")) }
      try await expect(fleet.value("old"), equals: nil)
      try await expect(fleet.invalidations(since: start), equals: .everything(upTo: epochs[129]))
      guard case .listed(let list, _) = try await fleet.invalidations(since: epochs[99]) else {
        Issue.record("not listed")
        return
      }
      expect(Set(list.map(\.subject.text)), equals: Set((100..<130).map { "\($0)" }))
      // The same ones again are no more of them.
      for _ in 0..<3 { for number in 100..<130 { try await fleet.invalidate("\(number)") } }
      try await fleet.put("new", [2])
      try await expect(fleet.value("new"), equals: [2])
      guard case .integer(let count) = try await server.run("ZCARD", "\(prefix):clock") else {
        Issue.record("no count")
        return
      }
      #expect(count <= 107)
      try await expect(server.run("HLEN", "\(prefix):nodes"), equals: .integer(count - 4))
      await fleet.close()
    }
  }
#endif
