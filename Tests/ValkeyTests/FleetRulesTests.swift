#if SwiftOperationValkey && os(Linux)
  import OperationFleet
  import OperationFleetTesting
  import TestFixtures
  import Testing

  @testable import OperationValkey

  @Suite(.bounded) struct FleetRulesTests {
    @Test(.needsServer) func `The fleet keeps the rules of backends`() async throws {
      let server = try await ValkeyServer.shared.value
      let prefixes = PrefixesByFleet()
      try await checkFleetBackend(
        connecting: { fleet in
          try ValkeyFleet(connection: server.connection(), prefix: prefixes.prefix(of: fleet))
        },
        {
          let prefix = ServerTests.newPrefix()
          let fleet = try ValkeyFleet(connection: server.connection(), prefix: prefix)
          prefixes.add(prefix, of: fleet)
          return fleet
        }
      )
    }
  }
#endif
