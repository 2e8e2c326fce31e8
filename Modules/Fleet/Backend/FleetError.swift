internal import OperationCore
public import OperationFoundation

/// The error of a ``FleetBackend`` that cannot answer.
public struct FleetError: Error, Sendable, CustomStringConvertible {
  /// The kind of a ``FleetError``.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// Creates a code, for backends of other modules.
    ///
    /// - Parameter description: The name of the code.
    public init(description: String) {
      self.description = description
    }

    /// The backend was closed.
    public static let closed = Code(description: "closed")

    /// The backend cannot be reached.
    public static let unreachable = Code(description: "unreachable")

    /// The backend has not answered in time.
    public static let timedOut = Code(description: "timedOut")

    /// The backend has refused a call, or failed.
    public static let failed = Code(description: "failed")
  }

  /// The kind of the error.
  public let code: Code

  /// A description of the error and of its remedy.
  public let message: String

  /// The error of the system or of the database; nil if there is none.
  public let cause: (any Error)?

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - code: The kind of the error.
  ///   - message: A description of the error and of its remedy.
  ///   - cause: The error of the system or of the database; nil if there is none.
  public init(code: Code, message: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }

  /// The kind, the message and the cause.
  public var description: String {
    self.cause.map { "\(self.code): \(self.message) (\(ShownText.whole($0)))" } ?? "\(self.code): \(self.message)"
  }
}

extension FleetError {
  /// The error of a call after `close()`.
  ///
  /// - Parameter name: The name of the backend, such as its address.
  /// - Returns: The error.
  public static func closed(_ name: String) -> Self {
    let message = "The fleet's backend \(name) was closed. Close it after its last use, or open another one."
    return Self(code: .closed, message: message)
  }

  /// The error of a backend that has answered for fewer keys, or for more, than it was asked for.
  static func wrongCount(_ count: Int, of expected: Int) -> Self {
    Self(
      code: .failed,
      message: "The fleet's backend has answered \(count) of \(expected) keys. Answer for each, in their order."
    )
  }
}

extension FleetError: LocalizedError {
  public var errorDescription: String? { self.description }
}
