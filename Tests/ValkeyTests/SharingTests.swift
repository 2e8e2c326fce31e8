#if SwiftOperationValkey && os(Linux)
  import OperationCore
  import OperationFleet
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationValkey

  /// Two clients, as those of two processes, over one server.
  @Suite(.bounded, .needsServer) struct SharingTests {
    /// What the clients read.
    private final class Source: Sendable {
      private let runs = Log<Int>()
      /// Opens with the second run.
      let isReadAgain = Gate()

      var count: Int { self.runs.all.count }

      func read(by node: Int) -> Int {
        self.runs.append(node)
        if self.count > 1 { self.isReadAgain.open() }
        return self.count
      }
    }

    @Test func `A value is shared, an invalidation is seen, and both survive the end of the server`() async throws {
      let server = try await ValkeyServer()
      let source = Source()
      let nodes = try (0..<2).map { number in
        let client = OperationClient()
        let settings = FleetSettings(
          nodeName: "\(number)",
          lookupTimeout: .seconds(60),
          leaseDuration: .seconds(60),
          heartbeat: .milliseconds(100)
        )
        client.join(try ValkeyFleet(connection: server.connection(), prefix: "a"), settings: settings)
        return client
      }
      func store(_ number: Int) -> OperationStore<QueryState<Int, any Error>> {
        nodes[number].store(
          for: QueryOperation<Int, any Error>("a") { _ in source.read(by: number) }
            .sharedInFleet(as: "a", timeToLive: .seconds(3_600))
        )
      }
      try await expect(store(0).fetch(), equals: 1)
      try await expect(store(1).fetch(), equals: 1)
      expect(source.count, equals: 1)
      // A subscriber of the other node sees the value that comes after the invalidation.
      let isNew = Gate()
      let subscription = store(1).subscribe(
        with: QueryEventHandler(onStateChanged: { state, _ in
          if state.currentValue == 2 { isNew.open() }
        })
      )
      nodes[0].invalidate(matching: ["a"])
      try await isNew.wait(within: .seconds(60))
      try await expect(store(0).fetch(), equals: 2)
      expect(source.count, equals: 2)
      subscription.cancel()
      // The server is killed: nodes go on alone, and come back with nothing old.
      let (isAway, isBack) = (Gate(), Gate())
      let notices = nodes[0].onNotice { notice in
        if notice.name == .fleetAway { isAway.open() }
        if notice.name == .fleetBack { isBack.open() }
      }
      try await server.crash()
      try await isAway.wait(within: .seconds(60))
      try await server.start()
      try await isBack.wait(within: .seconds(60))
      nodes[0].invalidate(matching: ["a"])
      let value = try await store(0).fetch()
      #expect(value > 2)
      notices.cancel()
      for node in nodes { node.fleet?.leave() }
    }
  }
#endif
