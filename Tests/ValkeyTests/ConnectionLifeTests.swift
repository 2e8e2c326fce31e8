#if SwiftOperationValkey && os(Linux)
  import OperationCore
  import OperationFleet
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationValkey

  /// Passwords that change, connections that end after a time, and what is told of them.
  @Suite(.bounded, .needsServer) struct ConnectionLifeTests {
    @Test func `Each connection asks for the password, which may be another one by then`() async throws {
      let server = try await ValkeyServer("--requirepass", "first")
      let (password, calls) = (Box("first"), Counter())
      // The one of the string does not count.
      let fleet = try ValkeyFleet(connection: server.connection(user: ":none@")) {
        calls.increment()
        return password.value
      }
      let heard = MessageLog()
      let subscription = fleet.messages { heard.add($0) }
      try await heard.wait(for: .missed)
      try await fleet.put("x", [1])
      expect(calls.value, equals: 2)
      try await server.run(Request("CONFIG", "SET", "requirepass", "second"), user: ":first@")
      password.value = "second"
      try await server.run(Request("CLIENT", "KILL", "TYPE", "normal"), user: ":second@")
      try await expect(fleet.value("x"), equals: [1])
      try await server.run(Request("CLIENT", "KILL", "TYPE", "pubsub"), user: ":second@")
      try await heard.wait(for: .missed, times: 2)
      #expect(calls.value == 4 && fleet.snapshot().openings == 2)
      subscription.cancel()
      await fleet.close()
    }

    @Test func `A password that is wrong, or that cannot be got, is told without it`() async throws {
      let server = try await ValkeyServer("--requirepass", "first")
      let wrong = try ValkeyFleet(connection: server.connection(), password: { "third" })
      let refusal = await #expect(throws: FleetError.self) { try await wrong.lookUp([key("x")]) }
      expect((refusal?.cause as? ValkeyError)?.code, equals: .noRights, "\(String(describing: refusal))")
      expect(refusal?.message.contains("third"), equals: false)
      expect(wrong.snapshot().failure?.contains("third"), equals: false)
      await wrong.close()
      let broken = try ValkeyFleet(connection: server.connection(), password: { throw Refused() })
      let failure = await #expect(throws: FleetError.self) { try await broken.lookUp([key("x")]) }
      expect(
        failure?.message.contains("the closure for its password threw"),
        equals: true,
        "\(String(describing: failure))"
      )
      let snapshot = broken.snapshot()
      #expect(snapshot.failedOpenings == 1 && snapshot.openings == 0 && !snapshot.isConnected)
      expect(snapshot.failure, equals: failure?.message)
      #expect(snapshot.description.contains("not connected") && snapshot.gauges["connection.failed_openings"] == 1)
      await broken.close()
    }

    @Test func `A connection is replaced after its time, and no call fails for it`() async throws {
      let server = try await ValkeyServer.shared.value
      let clock = ManualClock()
      let address = try ServerAddress(server.connection())
      let fleet = try ValkeyFleet(
        ConnectionOpening(address, deadlines: clock),
        listening: ConnectionOpening(address, deadlines: clock),
        keys: FleetKeys(prefix: ServerTests.newPrefix(), database: 0),
        timeout: .seconds(60),
        maximumConnectionAge: .seconds(600),
        deadlines: clock
      )
      try await fleet.put("x", [1])
      clock.advance(by: .seconds(539))
      try await expect(fleet.value("x"), equals: [1])
      expect(fleet.snapshot().openings, equals: 1)
      clock.advance(by: .seconds(61))
      let values = try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
        for _ in 0..<50 { group.addTask { try await fleet.value("x") } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      expect(values, equals: Array(repeating: [1], count: 50))
      let snapshot = fleet.snapshot()
      #expect(snapshot.openings == 2 && snapshot.failedOpenings == 0 && snapshot.failure == nil)
      #expect(snapshot.isConnected && snapshot.waiting == 0)
      await fleet.close()
    }

    @Test func `A connection that is retired answers what waits, and takes nothing more`() async throws {
      let server = try await ValkeyServer()
      let socket = try ServerSocket.connect(toPath: "\(server.folder)/socket")
      let name = try ServerAddress(server.connection()).name
      let connection = ServerConnection(socket, name: name, deadlines: .system)
      try await server.suspend()
      let calls = (0..<3).map { number in
        Task.immediate { try await connection.perform(Request("ECHO", "\(number)"), within: .seconds(60)) }
      }
      expect(connection.requestCount, equals: 3)
      connection.retire()
      #expect(!connection.isClosed)
      try await server.proceed()
      for (number, call) in calls.enumerated() { try await expect(call.value.text, equals: "\(number)") }
      #expect(connection.isClosed)
      let error = await #expect(throws: ValkeyError.self) {
        try await connection.perform(Request("PING"), within: .seconds(60))
      }
      // It is made again on another one.
      expect(error?.code, equals: .unavailable)
    }

    @Test func `A snapshot says whether a fleet is connected and listens, and how many calls wait`() async throws {
      let server = try await ValkeyServer()
      let fleet = try ValkeyFleet(server.connection(), prefix: "named")
      expect(fleet.snapshot().description, equals: "ValkeyFleet named: not connected, 0 calls waiting, hears nothing")
      let heard = MessageLog()
      let subscription = fleet.messages { heard.add($0) }
      try await heard.wait(for: .missed)
      try await fleet.put("x")
      expect(fleet.snapshot().description, equals: "ValkeyFleet named: connected, 0 calls waiting, listens")
      try await server.suspend()
      let calls = (0..<5).map { _ in Task.immediate { try await fleet.value("x") } }
      let gauges = fleet.snapshot().gauges
      #expect(gauges["connection.waiting"] == 5 && gauges["connection.open"] == 1)
      expect(gauges["connection.listening"], equals: 1)
      try await server.proceed()
      for call in calls { try await expect(call.value, equals: [1]) }
      expect(fleet.snapshot().waiting, equals: 0)
      subscription.cancel()
      await fleet.close()
      #expect(!fleet.snapshot().isConnected && !fleet.snapshot().isListening)
    }
  }
#endif
