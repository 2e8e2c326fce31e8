#if SwiftOperationPostgreSQL
  public import OperationFoundation

  /// The error of a PostgreSQL server, or of the connection to one.
  public struct PostgreSQLError: Error, Sendable, CustomStringConvertible {
    /// The kind of a ``PostgreSQLError``.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
      public let description: String

      /// The connection string is not one of libpq.
      public static let invalidConnection = Code(description: "invalidConnection")

      /// The server does not answer, is starting or stopping, or has closed the connection.
      public static let unavailable = Code(description: "unavailable")

      /// All connections are in use for too long, here or at the server.
      public static let busy = Code(description: "busy")

      /// A statement or the wait for a connection has taken too long.
      public static let timedOut = Code(description: "timedOut")

      /// The user of the connection lacks a right.
      public static let noRights = Code(description: "noRights")

      /// The server accepts no changes.
      public static let readOnly = Code(description: "readOnly")

      /// The disk of the server is full.
      public static let full = Code(description: "full")

      /// The schema is missing, or of an older version, and was not to be migrated.
      public static let olderSchema = Code(description: "olderSchema")

      /// The schema was made by a newer version of the library.
      public static let newerSchema = Code(description: "newerSchema")

      /// The call was made after `close()`.
      public static let closed = Code(description: "closed")

      /// The statement has failed for another reason.
      public static let failed = Code(description: "failed")

      /// The task of the caller was cancelled.
      static let cancelled = Code(description: "cancelled")

      /// Two transactions have waited for each other, and this one was rolled back.
      static let conflict = Code(description: "conflict")
    }

    /// The kind of the error.
    public let code: Code

    /// A description of the error and of its remedy. It contains no password.
    public let message: String

    /// The SQLSTATE of the server; nil if the error is not one of the server.
    public let sqlState: String?

    /// Creates an error, for tests of what handles it.
    ///
    /// - Parameters:
    ///   - code: The kind of the error.
    ///   - message: A description of the error and of its remedy.
    ///   - sqlState: The SQLSTATE of the server; nil if the error is not one of the server.
    public init(code: Code, message: String, sqlState: String? = nil) {
      self.code = code
      self.message = message
      self.sqlState = sqlState
    }

    public var description: String {
      self.sqlState.map { "\(self.code): \(self.message) (SQLSTATE \($0))" } ?? "\(self.code): \(self.message)"
    }
  }

  extension PostgreSQLError {
    /// Whether another attempt may succeed without a change of the settings.
    var isTransient: Bool { [.unavailable, .busy, .timedOut].contains(self.code) }

    /// Whether a prepared statement is not there, or another one with its name is.
    var isOfStatementName: Bool { self.sqlState == "26000" || self.sqlState == "42P05" }

    /// Whether the statement can be made again at once, on this connection or another one.
    var isRepeatable: Bool { self.code == .unavailable || self.code == .conflict }

    static func cancelled() -> Self { Self(code: .cancelled, message: "The task of the caller was cancelled.") }

    static func closed(_ name: String) -> Self {
      Self(code: .closed, message: "\(name) was closed. Close it after its last use, or make another one.")
    }

    static func sharedListener(_ name: String) -> Self {
      Self(
        code: .failed,
        message: """
          \(name) is behind a pooler, which passes no notifications on when it shares sessions. Pass a `listeningConnection` \
          that goes to the server itself; or the same string again, for a pooler in its session mode.
          """
      )
    }

    static func timedOut(_ name: String, after duration: Duration) -> Self {
      Self(
        code: .timedOut,
        message: """
          \(name) has not answered within \(duration). Look for slow statements in `pg_stat_activity`, or pass a longer \
          `timeout`.
          """
      )
    }

    static func unavailable(_ name: String, _ reason: String) -> Self {
      // Neither a server nor the network is the cause.
      if reason.hasPrefix("invalid ") || reason.hasPrefix("could not match ") {
        return Self(
          code: .invalidConnection,
          message: "\(name) cannot be reached: \(reason). Correct the connection string or the environment."
        )
      }
      return Self(
        code: .unavailable,
        message: """
          \(name) cannot be reached: \(reason). Start the server, and check the host, the port and the network. It is \
          tried again by itself.
          """
      )
    }
  }

  extension PostgreSQLError: LocalizedError {
    public var errorDescription: String? { self.description }
  }
#endif
