#if SwiftOperationPostgreSQL
  internal import OperationCore

  /// The tables and functions of the library in a database, in a schema of their own.
  ///
  /// A storage and a fleet migrate the schema when they connect, if their user may. Where the user of a service is to
  /// have few rights, its owner does it before:
  ///
  /// ```swift
  /// try await PostgreSQLSchema().migrate(connection: "dbname=app user=owner", grantingTo: "service")
  /// ```
  public struct PostgreSQLSchema: Hashable, Sendable {
    /// The version that this library makes and uses.
    public static let currentVersion = SchemaMigration.all.count

    /// The name of the schema.
    public let name: String

    /// Names a schema.
    ///
    /// - Parameter name: The name: 1 to 63 bytes. Several applications of one database have one each.
    public init(_ name: String = "swift_operation") {
      self.name = name
    }

    /// Creates the schema, or brings it to the current version.
    ///
    /// Several processes may call it at the same time: one of them migrates, and the others wait for it. A migration is
    /// made as a whole or not at all.
    ///
    /// - Parameters:
    ///   - connection: A connection string of libpq whose user may create a schema, or owns it.
    ///   - role: A user that gets the rights to use the schema, and none to change it; nil for none.
    ///   - timeout: How long each statement may take.
    /// - Throws: A ``PostgreSQLError``: the schema is then as it was.
    public nonisolated(nonsending) func migrate(
      connection: String,
      grantingTo role: String? = nil,
      timeout: Duration = .seconds(30)
    ) async throws(PostgreSQLError) {
      let schema = try SchemaName(self.name)
      let opening = try ConnectionOpening(connection, deadlines: .system)
      let connection = try await opening.open(within: timeout)
      defer { connection.close() }
      let session = SchemaSession(connection: connection, schema: schema, timeout: timeout)
      try await session.setUp()
      try await session.migrate()
      if let role { try await session.grant(to: role) }
    }
  }
#endif
