#if SwiftOperationValkey && os(Linux)
  import OperationCore
  import OperationFleet
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationValkey

  @Suite(.bounded, .needsServer) struct FaultTests {
    /// The error of a look-up, which is made over the connection string.
    private func error(_ connection: String, timeout: Duration = .seconds(30)) async throws -> FleetError {
      let fleet = try ValkeyFleet(connection: connection, prefix: "a", timeout: timeout)
      let error = await #expect(throws: FleetError.self) { try await fleet.lookUp([key("x")]) }
      await fleet.close()
      return try #require(error)
    }

    private func code(_ error: FleetError) -> ValkeyError.Code? { (error.cause as? ValkeyError)?.code }

    @Test func `A wrong password, a missing one and a missing right are told with their remedies`() async throws {
      let server = try await ValkeyServer("--requirepass", "secret")
      let right = try ValkeyFleet(connection: server.connection(user: ":secret@"), prefix: "a")
      try await right.put("x")
      let wrong = try await self.error(server.connection(user: ":wrong@"))
      #expect(self.code(wrong) == .noRights && wrong.message.contains("WRONGPASS"), "\(wrong)")
      #expect(wrong.message.contains("Check the user and the password") && !wrong.message.contains("wrong@"))
      let missing = try await self.error(server.connection())
      #expect(self.code(missing) == .noRights && missing.message.contains("NOAUTH"), "\(missing)")
      // What the remedy says is enough, and what it leaves out is missed.
      let rights = ["+@connection", "+eval", "+evalsha", "+script|load", "+info", "+subscribe", "+publish"]
      let rest = ["+@read", "+@write", "+time", "~a:*", "&a:*"]
      let user = "service:pw@"
      var request = Request("ACL", "SETUSER", "service", "on", ">pw")
      for word in rights + rest { request.append(word) }
      try await server.run(request, user: ":secret@")
      let served = try ValkeyFleet(connection: server.connection(user: user), prefix: "a")
      let heard = MessageLog()
      let subscription = served.messages { heard.add($0) }
      try await heard.wait(for: .missed)
      try await expect(served.value("x"), equals: [1])
      try await heard.wait(for: .invalidated(try await served.invalidate("x")))
      for right in ["-evalsha", "-info", "-publish", "-@write", "resetkeys"] {
        try await server.run(Request("ACL", "SETUSER", "service", right), user: ":secret@")
        let error = await #expect(throws: FleetError.self) { try await served.invalidate("x") }
        expect(error.flatMap { self.code($0) }, equals: .noRights, "\(right): \(String(describing: error))")
        expect(error?.message.contains("ACL SETUSER name +@connection"), equals: true)
        var again = Request("ACL", "SETUSER", "service")
        for word in rights + rest { again.append(word) }
        try await server.run(again, user: ":secret@")
      }
      #expect(try await served.invalidate("x") > .zero)
      subscription.cancel()
      await served.close()
      await right.close()
    }

    @Test func `A server in cluster mode, a sentinel and a database that is not there are refused with a reason`()
      async throws
    {
      let cluster = try await ValkeyServer("--cluster-enabled", "yes")
      let error = try await self.error(cluster.connection())
      expect(self.code(error), equals: .unsupported, "\(error)")
      #expect(error.message.contains("is in cluster mode") && error.message.contains("`cluster-enabled no`"))
      let server = try await ValkeyServer.shared.value
      let missing = try await self.error(server.connection(database: 999))
      #expect(self.code(missing) == .invalidConnection && missing.message.contains("raise `databases`"), "\(missing)")
      let sentinel = Reply.array([.bytes(Array("mode".utf8)), .bytes(Array("sentinel".utf8))])
      let name = try ServerAddress("redis://host").name
      expect(ValkeyError(hello: sentinel, name)?.code, equals: .unsupported)
      let old = Reply.array([.bytes(Array("version".utf8)), .bytes(Array("6.2.1".utf8))])
      expect(ValkeyError(hello: old, name)?.message.contains("the version 6.2.1. Run Valkey"), equals: true)
    }

    @Test func `A server without memory refuses values, and says what to do`() async throws {
      let server = try await ValkeyServer("--maxmemory", "4mb", "--maxmemory-policy", "noeviction")
      let fleet = try ValkeyFleet(connection: server.connection(), prefix: "a")
      let bytes = [UInt8](repeating: 7, count: 200_000)
      var failure: (any Error)?
      for number in 0..<100 where failure == nil {
        do { try await fleet.put("\(number)", bytes) } catch { failure = error }
      }
      let error = try #require(failure as? FleetError)
      #expect(self.code(error) == .full && error.message.contains("Raise `maxmemory`"), "\(error)")
      // What is there is found.
      try await expect(fleet.value("0"), equals: bytes)
      await fleet.close()
    }

    @Test func `Keys of another program are not overwritten`() async throws {
      let server = try await ValkeyServer.shared.value
      let prefix = ServerTests.newPrefix()
      try await server.run("SET", "\(prefix):clock", "mine")
      let fleet = try ValkeyFleet(connection: server.connection(), prefix: prefix)
      let error = await #expect(throws: FleetError.self) { try await fleet.invalidate("x") }
      expect(error?.message.contains("pass another `prefix`"), equals: true, "\(String(describing: error))")
      try await expect(server.run("GET", "\(prefix):clock").text, equals: "mine")
      await fleet.close()
    }

    @Test func `Scripts that were removed, and connections that were closed, cost no call`() async throws {
      let server = try await ValkeyServer()
      let fleet = try ValkeyFleet(connection: server.connection(), prefix: "a")
      let heard = MessageLog()
      let subscription = fleet.messages { heard.add($0) }
      try await heard.wait(for: .missed)
      try await fleet.put("x", [1])
      try await server.run("SCRIPT", "FLUSH")
      try await expect(fleet.value("x"), equals: [1])
      try await server.run("SCRIPT", "FLUSH")
      try await server.run("CLIENT", "KILL", "TYPE", "normal")
      try await expect(fleet.value("x"), equals: [1])
      // The connection that listens is opened again, and says that it may have missed something.
      try await server.run("CLIENT", "KILL", "TYPE", "pubsub")
      try await heard.wait(for: .missed, times: 2)
      try await heard.wait(for: .invalidated(try await fleet.invalidate("x")))
      #expect(fleet.messagesFailure == nil)
      subscription.cancel()
      await fleet.close()
    }

    @Test func `A server that says nothing is left after the time-out, and used again when it answers`() async throws {
      let server = try await ValkeyServer()
      let fleet = try ValkeyFleet(connection: server.connection(), prefix: "a", timeout: .seconds(2))
      try await fleet.put("x", [1])
      try await server.suspend()
      // The first of them closes the connection, and the others go with it.
      let calls = (0..<3).map { _ in Task { try await fleet.value("x") } }
      for call in calls {
        let result = await call.result
        let error = #expect(throws: FleetError.self) { try result.get() }
        #expect(error?.code == .timedOut || error?.code == .unreachable, "\(String(describing: error))")
        expect(error?.message.contains("has not answered within"), equals: true)
      }
      try await server.proceed()
      try await expect(fleet.lookUpWhenBack("x").values[0]?.bytes, equals: [1])
      await fleet.close()
    }

    @Test func `A cancelled caller leaves at once, and the answers of others stay theirs`() async throws {
      let server = try await ValkeyServer()
      let fleet = try ValkeyFleet(connection: server.connection(), prefix: "a", timeout: .seconds(60))
      for number in 0..<20 { try await fleet.put("\(number)", [UInt8(number)]) }
      try await server.suspend()
      let calls = (0..<20).map { number in Task { try await fleet.value("\(number)") } }
      for number in stride(from: 0, to: 20, by: 2) {
        calls[number].cancel()
        let result = await calls[number].result
        #expect(throws: CancellationError.self) { try result.get() }
      }
      try await server.proceed()
      for number in stride(from: 1, to: 20, by: 2) { try await expect(calls[number].value, equals: [UInt8(number)]) }
      await fleet.close()
    }

    @Test func `A closed fleet says so, and lets its handlers go`() async throws {
      let server = try await ValkeyServer.shared.value
      let fleet = try ValkeyFleet(connection: server.connection(), prefix: ServerTests.newPrefix())
      let subscription: OperationSubscription
      let released: AwaitedOutcome<Void>
      do {
        let heard = MessageLog()
        released = heard.released
        subscription = fleet.messages { heard.add($0) }
        try await heard.wait(for: .missed)
      }
      await fleet.close()
      // The thread that has passed the message on may still return from the handler.
      try await withTimeLimit("the release of the handler", .seconds(60)) { await released.value() }
      let error = await #expect(throws: FleetError.self) { try await fleet.lookUp([key("x")]) }
      expect(error?.code, equals: .closed)
      subscription.cancel()
    }
  }
#endif
