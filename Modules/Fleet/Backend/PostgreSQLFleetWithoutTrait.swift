#if !SwiftOperationPostgreSQL
  // Without this declaration the compiler reports an unknown type and does not name the missing trait.

  /// A fleet in a PostgreSQL database. Requires the trait `SwiftOperationPostgreSQL`, and `import OperationPostgreSQL`.
  @available(
    *,
    unavailable,
    message:
      "switch on the trait SwiftOperationPostgreSQL: .package(url: …, from: …, traits: [\"SwiftOperationPostgreSQL\"])"
  )
  public struct PostgreSQLFleet: Sendable {
    // Without it, the compiler says that there is no initializer, and not why.
    public init(
      connection: String,
      listeningConnection: String? = nil,
      password: (@Sendable () async throws -> String)? = nil,
      schema: String = "swift_operation",
      isMigrating: Bool = true,
      maximumConnections: Int = 4,
      maximumConnectionAge: Duration? = nil,
      timeout: Duration = .seconds(5),
      maximumValues: Int = 1_000_000,
      maximumBytes: Int = 4_000_000_000
    ) throws(FleetError) {
      preconditionFailure("Unavailable.")
    }
  }
#endif
