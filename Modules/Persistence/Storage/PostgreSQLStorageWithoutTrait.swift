#if !SwiftOperationPostgreSQL
  // Without this declaration the compiler reports an unknown type and does not name the missing trait.

  /// A storage in a PostgreSQL database. Requires the trait `SwiftOperationPostgreSQL`, and `import OperationPostgreSQL`.
  @available(
    *,
    unavailable,
    message:
      "switch on the trait SwiftOperationPostgreSQL: .package(url: …, from: …, traits: [\"SwiftOperationPostgreSQL\"])"
  )
  public struct PostgreSQLStorage: Sendable {
    // Without it, the compiler says that there is no initializer, and not why.
    public init(
      connection: String,
      password: (@Sendable () async throws -> String)? = nil,
      schema: String = "swift_operation",
      isMigrating: Bool = true,
      maximumConnections: Int = 4,
      maximumConnectionAge: Duration? = nil,
      timeout: Duration = .seconds(5)
    ) throws(StorageError) {
      preconditionFailure("Unavailable.")
    }
  }
#endif
