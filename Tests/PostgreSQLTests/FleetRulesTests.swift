#if SwiftOperationPostgreSQL && os(Linux)
  import OperationCore
  import OperationFleet
  import OperationFleetTesting
  import OperationPostgreSQL
  import TestFixtures
  import Testing

  @Suite(.bounded) struct FleetRulesTests {
    @Test(.needsServer) func `The fleet keeps the rules of backends`() async throws {
      let server = try await DatabaseServer.shared.value
      let schemas = NamesByObject()
      try await checkFleetBackend(
        connecting: { fleet in
          try PostgreSQLFleet(connection: server.connection(), schema: schemas.name(of: fleet))
        },
        {
          let schema = ServerTests.newSchema("fleet_rules")
          let fleet = try PostgreSQLFleet(connection: server.connection(), schema: schema)
          schemas.add(schema, of: fleet)
          return fleet
        }
      )
    }
  }
#endif
