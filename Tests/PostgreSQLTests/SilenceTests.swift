#if SwiftOperationPostgreSQL && os(Linux)
  import OperationCore
  import OperationFleet
  import OperationPersistence
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationPostgreSQL

  /// A server that says nothing any more, as behind a network that is cut: it answers nothing, and closes no connection.
  @Suite(.bounded, .needsServer) struct SilenceTests {
    /// Two nodes, and how often each item was read.
    private struct Nodes {
      let clients: [OperationClient]
      /// Each opens when the backend of a node answers again.
      let backs: [Gate]
      private let runs = Log<Int>()
      private let subscriptions: [OperationSubscription]

      init(_ server: DatabaseServer, settings: FleetSettings) throws {
        self.backs = [Gate(), Gate()]
        self.clients = try self.backs.map { _ in
          let client = OperationClient()
          // Longer than the test: only the node itself ends a call in time.
          client.join(try PostgreSQLFleet(connection: server.connection(), timeout: .seconds(600)), settings: settings)
          return client
        }
        self.subscriptions = zip(self.clients, self.backs).map { client, back in
          client.onNotice { if $0.name == .fleetBack { back.open() } }
        }
      }

      func fetch(_ item: Int, on index: Int) async throws -> Int {
        let runs = self.runs
        let query = QueryOperation<Int, any Error>("items", item) { _ in
          runs.append(item)
          return item
        }
        .sharedInFleet(as: "item", timeToLive: .seconds(3_600))
        let client = self.clients[index]
        return try await withTimeLimit("the item \(item)", .seconds(60)) {
          try await client.store(for: query).fetch()
        }
      }

      func runs(of item: Int) -> Int { self.runs.all.count { $0 == item } }
    }

    @Test func `A server that falls silent delays a node for no longer than its lookup timeout, and loses nothing`()
      async throws
    {
      let server = try await DatabaseServer()
      try await PostgreSQLSchema().migrate(connection: server.connection())
      let settings = FleetSettings(nodeName: "node", lookupTimeout: .seconds(2), heartbeat: .milliseconds(500))
      let nodes = try Nodes(server, settings: settings)
      try await expect(nodes.fetch(1, on: 0), equals: 1)
      try await expect(nodes.fetch(1, on: 1), equals: 1)
      expect(nodes.runs(of: 1), equals: 1)
      try await server.suspend()
      // The server stays silent until all of these have ended.
      for item in 2..<12 {
        try await expect(nodes.fetch(item, on: 0), equals: item)
        try await expect(nodes.fetch(item, on: 1), equals: item)
        expect(nodes.runs(of: item), equals: 2)
      }
      let connections = nodes.clients.map { $0.fleet?.connection }
      for connection in connections {
        guard case .away = connection else {
          Issue.record("\(String(describing: connection))")
          continue
        }
      }
      nodes.clients[0].invalidate(matching: ["items", 1])
      try await server.proceed()
      for back in nodes.backs { try await back.wait(within: .seconds(60)) }
      await expect(nodes.clients[0].fleet?.flush(), equals: true)
      // The invalidation from the time of silence has reached the backend, and one node runs for both.
      try await expect(nodes.fetch(1, on: 1), equals: 1)
      try await expect(nodes.fetch(1, on: 0), equals: 1)
      expect(nodes.runs(of: 1), equals: 2)
      for client in nodes.clients { client.fleet?.leave() }
    }

    @Test func `A storage whose server falls silent throws in time, and is used again`() async throws {
      let server = try await DatabaseServer()
      let storage = try PostgreSQLStorage(connection: server.connection(), timeout: .seconds(2))
      try await storage.put("a")
      try await server.suspend()
      let error = await #expect(throws: StorageError.self) {
        try await withTimeLimit("the call", .seconds(60)) { try await storage.keys() }
      }
      expect(error?.code, equals: .busy, "\(String(describing: error))")
      // With no connection, too.
      let other = try PostgreSQLStorage(connection: server.connection(), timeout: .seconds(2))
      let second = await #expect(throws: StorageError.self) {
        try await withTimeLimit("the call", .seconds(60)) { try await other.keys() }
      }
      expect(second?.message.contains("The database \"postgres\" of \(server.folder)"), equals: true)
      try await server.proceed()
      for storage in [storage, other] {
        try await withTimeLimit("the storage to connect again", .seconds(60)) {
          while (try? await storage.keys()) != ["a"] {}
        }
        await storage.close()
      }
    }
  }
#endif
