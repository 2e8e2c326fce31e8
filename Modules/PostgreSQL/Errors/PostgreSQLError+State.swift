#if SwiftOperationPostgreSQL
  extension PostgreSQLError {
    /// The error that the server has for a statement or for a connection.
    ///
    /// - Parameters:
    ///   - sqlState: The number of the error, five characters of PostgreSQL's table of error codes.
    ///   - reason: What the server says.
    ///   - name: What messages call the database.
    init(sqlState: String, _ reason: String, _ name: ConnectionName) {
      let (code, remedy) = Self.meaning(ofPoolerMessage: reason) ?? Self.meaning(of: sqlState, name)
      self.init(code: code, message: "\(name) says: \(reason). \(remedy)", sqlState: sqlState)
    }

    /// What PgBouncer says itself, with the number of a violated protocol for all of it.
    private static func meaning(ofPoolerMessage reason: String) -> (Code, remedy: String)? {
      let meanings: [(String, Code, String)] = [
        (
          "no such database", .invalidConnection,
          "Add the database to `[databases]` of the pooler, or name another one."
        ),
        ("no such user", .noRights, "Add the user to `auth_file` of the pooler, or set its `auth_query`."),
        (
          "no more connections allowed", .busy,
          "Raise `max_client_conn` of the pooler, or pass a lower `maximumConnections`."
        ),
        (
          "query_wait_timeout", .busy,
          "All servers of the pool were in use: raise `default_pool_size` of the pooler, or pass a lower `maximumConnections`."
        ),
        (
          "server login has been failing", .unavailable,
          "The pooler does not reach the server, or may not log in. Look at its log. It is tried again by itself."
        ),
        (
          "client_login_timeout (server down)", .unavailable,
          "The pooler does not reach the server. Look at its log. It is tried again by itself."
        ),
        ("unsupported startup parameter", .failed, "Add the parameter to `ignore_startup_parameters` of the pooler."),
        (
          "transaction blocks not allowed in statement pooling", .failed, "Set `pool_mode = transaction` in the pooler."
        ),
      ]
      return meanings.first { reason.hasPrefix($0.0) }.map { ($0.1, $0.2) }
    }

    private static func meaning(of sqlState: String, _ name: ConnectionName) -> (Code, remedy: String) {
      switch sqlState {
      case "57014":
        (.timedOut, "A statement has taken too long. Look for locks in `pg_locks`, or pass a longer `timeout`.")
      case "57P01", "57P02", "57P03", "57P05":
        (.unavailable, "The server is stopping or starting, or has ended the connection. It is tried again by itself.")
      case "53100":
        (.full, "Make room on the disk of the server.")
      case "53300":
        (.busy, "Raise `max_connections` of the server, pass a lower `maximumConnections`, or put a pooler in between.")
      case "55P03":
        (.busy, "Another session keeps a lock: look for it in `pg_locks`.")
      case "40001", "40P01":
        (.conflict, "Two transactions have waited for each other. Try again.")
      case "25006":
        (.readOnly, "Connect to the primary server, such as by `target_session_attrs=read-write`.")
      case "42501":
        (
          .noRights,
          "Grant the rights on the schema to the user \"\(name.user)\": `PostgreSQLSchema.migrate(connection:grantingTo:)`."
        )
      case "3D000":
        (.invalidConnection, "Create the database, or name another one in the connection string.")
      case "3F000", "42P01", "42883", "42703":
        (.olderSchema, "The schema is not complete. Migrate it as its owner: `PostgreSQLSchema.migrate(connection:)`.")
      case let state where state.hasPrefix("28"):
        (.noRights, "Check the user \"\(name.user)\", the password and `pg_hba.conf` of the server.")
      case let state where state.hasPrefix("08"):
        (.unavailable, "Check the network. It is tried again by itself.")
      case let state where state.hasPrefix("53"):
        (.busy, "The server lacks memory or another resource. Look at its log.")
      default:
        (.failed, "Look at the log of the server.")
      }
    }
  }
#endif
