#if SwiftOperationPostgreSQL
  internal import OperationCore

  /// What is done with a new connection: its settings, and the version of the schema.
  struct SchemaSession: Sendable {
    let connection: DatabaseConnection
    let schema: SchemaName
    let timeout: Duration

    /// Prepares a connection for statements, and migrates the schema where it has to be.
    ///
    /// - Parameter isMigrating: Whether a missing or older schema is migrated.
    /// - Throws: A ``PostgreSQLError`` if the schema cannot be used. The connection is to be closed then.
    nonisolated(nonsending) func begin(isMigrating: Bool) async throws(PostgreSQLError) {
      try await self.setUp()
      let version = try await self.version()
      if version == PostgreSQLSchema.currentVersion { return }
      if version > PostgreSQLSchema.currentVersion { throw self.newer(version) }
      guard isMigrating else { throw self.older(version) }
      try await self.migrate()
    }

    /// Sets what statements rely on, whatever the settings of the user and of the database are.
    ///
    /// Behind a pooler that shares sessions nothing is set, as it would reach the next user of the session. There,
    /// functions have their settings with them, and the level of isolation has to be the default one.
    nonisolated(nonsending) func setUp() async throws(PostgreSQLError) {
      let session = Statement(
        "SELECT pg_catalog.pg_backend_pid()::bigint, pg_catalog.current_setting('default_transaction_isolation')"
      )
      let row = try await self.perform(session).first
      self.connection.noteServer(processID: row?.integer(0))
      if self.connection.ownsSession {
        try await self.setOwnSession()
      } else if let level = row?.text(1), level != "read committed" {
        throw self.wrongIsolation(level)
      }
    }

    /// Compiling a statement takes longer than these short ones: the server would take their estimated costs for long work.
    private nonisolated(nonsending) func setOwnSession() async throws(PostgreSQLError) {
      let settings = Statement(
        """
        SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', false),
          pg_catalog.set_config('client_min_messages', 'error', false),
          pg_catalog.set_config('default_transaction_isolation', 'read committed', false),
          pg_catalog.set_config('jit', 'off', false),
          pg_catalog.set_config('statement_timeout', $1, false)
        """,
        .text
      )
      let limit = max(1, (self.timeout.clampedForClock.seconds * 1_000).rounded(.up))
      _ = try await self.perform(settings, .text("\(Int32(min(limit, 2_000_000_000)))"))
    }

    /// The version of the schema; 0 if there is none.
    nonisolated(nonsending) func version() async throws(PostgreSQLError) -> Int {
      let exists = Statement(
        """
        SELECT EXISTS (
          SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE n.nspname = $1 AND c.relname = 'schema_version'
        )
        """,
        .text
      )
      guard try await self.perform(exists, .text(self.schema.name)).first?.boolean(0) == true else { return 0 }
      let version = Statement("SELECT max(version)::bigint FROM \(self.schema.quoted).schema_version")
      return Int(try await self.perform(version).first?.integer(0) ?? 0)
    }

    /// Makes the steps that are missing. The lock keeps other processes from making them, too.
    nonisolated(nonsending) func migrate() async throws(PostgreSQLError) {
      _ = try await self.perform(Statement(script: "BEGIN"))
      // The transaction ends with the connection, which is closed after an error.
      _ = try await self.perform(
        Statement("SELECT pg_advisory_xact_lock($1)::text", .integer),
        .integer(SchemaMigration.lock(of: self.schema))
      )
      let version = try await self.version()
      if version > PostgreSQLSchema.currentVersion { throw self.newer(version) }
      for (number, step) in SchemaMigration.all.enumerated().dropFirst(version) {
        do throws(PostgreSQLError) {
          _ = try await self.perform(Statement(script: step.script(self.schema)))
        } catch {
          throw error.code == .noRights ? self.mayNotMigrate(error) : error
        }
        _ = try await self.perform(
          Statement("INSERT INTO \(self.schema.quoted).schema_version (version) VALUES ($1)", .integer),
          .integer(Int64(number + 1))
        )
      }
      _ = try await self.perform(Statement(script: "COMMIT"))
    }

    /// Gives a role the rights to use the schema.
    nonisolated(nonsending) func grant(to role: String) async throws(PostgreSQLError) {
      let (schema, role) = (self.schema.quoted, SchemaName.quoted(role))
      _ = try await self.perform(
        Statement(
          script: """
            GRANT USAGE ON SCHEMA \(schema) TO \(role);
            GRANT SELECT ON \(schema).schema_version TO \(role);
            \(SchemaMigration.tables.map { "GRANT SELECT, INSERT, UPDATE, DELETE ON \(schema).\($0) TO \(role);" }.joined())
            GRANT USAGE ON ALL SEQUENCES IN SCHEMA \(schema) TO \(role);
            GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA \(schema) TO \(role);
            """
        )
      )
    }

    private nonisolated(nonsending) func perform(
      _ statement: Statement,
      _ parameters: QueryValue...
    ) async throws(PostgreSQLError) -> [QueryRow] {
      try await self.connection.perform(statement, parameters, within: self.timeout, isCancellable: false)
    }
  }

  extension SchemaSession {
    private func wrongIsolation(_ level: String) -> PostgreSQLError {
      let role = SchemaName.quoted(self.connection.name.user)
      return PostgreSQLError(
        code: .failed,
        message: """
          The transactions of \(self.connection.name.text) are \(level), and behind a pooler nothing may set that for a session. \
          Set it for the user: ALTER ROLE \(role) SET default_transaction_isolation = 'read committed'.
          """
      )
    }

    private func newer(_ version: Int) -> PostgreSQLError {
      PostgreSQLError(
        code: .newerSchema,
        message: """
          The schema "\(self.schema)" of \(self.connection.name.text) has the version \(version), and this program knows \
          \(PostgreSQLSchema.currentVersion). Update the program, or pass another `schema`.
          """
      )
    }

    private func older(_ version: Int) -> PostgreSQLError {
      let state = version == 0 ? "is missing" : "has the version \(version)"
      return PostgreSQLError(
        code: .olderSchema,
        message: """
          The schema "\(self.schema)" of \(self.connection.name.text) \(state), and this program needs \
          \(PostgreSQLSchema.currentVersion). Migrate it as its owner: `PostgreSQLSchema("\(self.schema)")\
          .migrate(connection:grantingTo: "\(self.connection.name.user)")`.
          """
      )
    }

    private func mayNotMigrate(_ error: PostgreSQLError) -> PostgreSQLError {
      PostgreSQLError(
        code: .noRights,
        message: """
          The user "\(self.connection.name.user)" may not migrate the schema "\(self.schema)" of \
          \(self.connection.name.text). Migrate it as its owner: `PostgreSQLSchema("\(self.schema)")\
          .migrate(connection:grantingTo: "\(self.connection.name.user)")`. (\(error.message))
          """,
        sqlState: error.sqlState
      )
    }
  }
#endif
