#if SwiftOperationValkey && os(Linux)
  import OperationCore
  import OperationFleet
  import OperationFreshness
  import TestFixtures
  import Testing

  @testable import OperationValkey

  /// The last value of a fleet, which a node serves whose own run fails.
  @Suite(.bounded, .needsServer) struct FailSafeTests {
    private func query(_ fails: Box<Bool>) -> some QueryRequest<Int, any Error> {
      QueryOperation<Int, any Error>("post") { _ in
        if fails.value { throw Refused() }
        return 1
      }
      .servesStale(onFailureFor: .seconds(3_600))
      // Each later look finds that it has ended.
      .sharedInFleet(as: "post", timeToLive: .microseconds(1))
    }

    @Test func `A node that has just started serves the last value, until it is invalidated`() async throws {
      let server = try await ValkeyServer.shared.value
      let (prefix, fails) = (ServerTests.newPrefix(), Box(false))
      func newNode() throws -> OperationClient {
        let client = OperationClient()
        let settings = FleetSettings(nodeName: "node", lookupTimeout: .seconds(60))
        client.join(try ValkeyFleet(server.connection(), prefix: prefix), settings: settings)
        return client
      }
      let first = try newNode()
      try await expect(first.store(for: self.query(fails)).fetch(), equals: 1)
      fails.value = true
      let second = try newNode()
      let store = second.store(for: self.query(fails))
      try await expect(store.fetch(), equals: 1)
      #expect(store.error is Refused && store.currentValue == 1 && store.isStale)
      await first.invalidate(matching: ["post"]).settled()
      let third = try newNode()
      await #expect(throws: Refused.self) { try await third.store(for: self.query(fails)).fetch() }
      for node in [first, second, third] { node.fleet?.leave() }
    }
  }
#endif
