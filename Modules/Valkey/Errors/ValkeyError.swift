#if SwiftOperationValkey
  public import OperationFoundation

  /// The error of a Valkey or Redis server, or of the connection to one.
  public struct ValkeyError: Error, Sendable, CustomStringConvertible {
    /// The kind of a ``ValkeyError``.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
      public let description: String

      /// The connection string cannot be read, or names a database that is not there.
      public static let invalidConnection = Code(description: "invalidConnection")

      /// The server does not answer, is loading or stopping, or has closed the connection.
      public static let unavailable = Code(description: "unavailable")

      /// The server is busy with a script, or has no room for another client.
      public static let busy = Code(description: "busy")

      /// A call has taken too long.
      public static let timedOut = Code(description: "timedOut")

      /// The user or the password is wrong, or the user lacks a right.
      public static let noRights = Code(description: "noRights")

      /// The certificate of the server is not accepted, or the server does not accept that of this program, or has no TLS.
      public static let untrusted = Code(description: "untrusted")

      /// The server is a replica, or accepts no changes for another reason.
      public static let readOnly = Code(description: "readOnly")

      /// The server has reached its `maxmemory`.
      public static let full = Code(description: "full")

      /// The server is in cluster mode, a sentinel, or too old.
      public static let unsupported = Code(description: "unsupported")

      /// The call was made after `close()`.
      public static let closed = Code(description: "closed")

      /// The call has failed for another reason.
      public static let failed = Code(description: "failed")

      /// The task of the caller was cancelled.
      static let cancelled = Code(description: "cancelled")
    }

    /// The kind of the error.
    public let code: Code

    /// A description of the error and of its remedy. It contains no password.
    public let message: String

    /// Creates an error, for tests of what handles it.
    ///
    /// - Parameters:
    ///   - code: The kind of the error.
    ///   - message: A description of the error and of its remedy.
    public init(code: Code, message: String) {
      self.code = code
      self.message = message
    }

    public var description: String { "\(self.code): \(self.message)" }
  }

  extension ValkeyError {
    /// Whether another host may serve, or this one later, without a change of the settings.
    var isOfThisHost: Bool { [.unavailable, .busy, .timedOut, .readOnly, .untrusted].contains(self.code) }

    static func cancelled() -> Self { Self(code: .cancelled, message: "The task of the caller was cancelled.") }

    static func closed(_ name: ServerName) -> Self {
      Self(code: .closed, message: "\(name) was closed. Close it after its last use, or make another one.")
    }

    static func timedOut(_ name: ServerName, after duration: Duration) -> Self {
      Self(
        code: .timedOut,
        message: """
          \(name) has not answered within \(duration). Look for slow commands in `SLOWLOG GET`, or pass a longer `timeout`.
          """
      )
    }

    static func unavailable(_ name: ServerName, _ reason: String) -> Self {
      Self(
        code: .unavailable,
        message: """
          \(name) cannot be reached: \(reason). Start the server, and check the host, the port and the network. It is \
          tried again by itself.
          """
      )
    }

    static func lost(_ name: ServerName, _ reason: String) -> Self {
      Self(
        code: .unavailable,
        message: """
          \(name) has closed the connection: \(reason). Look at the log of the server, and at its `timeout` and \
          `client-output-buffer-limit`. It is tried again by itself.
          """
      )
    }

    static func untrusted(_ name: ServerName, _ failure: TLSFailure) -> Self {
      Self(
        code: .untrusted,
        message: """
          \(name) cannot be connected to with TLS: \(failure.reason). Pass the file of the authority that has signed its \
          certificate by `tls:`, a `certificate` if the server asks for one, or "redis://" if the server has no TLS at this port.
          """
      )
    }

    static func damaged(_ name: ServerName, _ error: ReplyError) -> Self {
      Self(
        code: .failed,
        message: """
          \(name) has sent \(error.reason), which is not accepted. Check that a Valkey or Redis server listens at this \
          port, and pass "rediss://" if it has TLS.
          """
      )
    }

    static func unexpected(_ name: ServerName) -> Self {
      Self(
        code: .failed,
        message:
          "\(name) has given another answer than its scripts do. Let all programs have one version of the library."
      )
    }
  }

  extension ValkeyError: LocalizedError {
    public var errorDescription: String? { self.description }
  }
#endif
