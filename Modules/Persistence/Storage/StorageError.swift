internal import OperationCore
public import OperationFoundation

/// The error of a storage that cannot be used.
public struct StorageError: Error, Sendable, CustomStringConvertible {
  /// The kind of a ``StorageError``.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// Creates a code, for storages of other modules.
    ///
    /// - Parameter description: The name of the code.
    public init(description: String) {
      self.description = description
    }

    /// The storage was closed.
    public static let closed = Code(description: "closed")

    /// The storage cannot be opened.
    public static let cannotOpen = Code(description: "cannotOpen")

    /// The file is of another kind. It is left as it is.
    public static let notADatabase = Code(description: "notADatabase")

    /// The file is damaged. It is replaced when it is opened again.
    public static let damaged = Code(description: "damaged")

    /// The file was written by a newer version of the library. It is left as it is.
    public static let newerSchema = Code(description: "newerSchema")

    /// There is no room for the changes.
    public static let full = Code(description: "full")

    /// Another process has kept the storage locked for too long.
    public static let busy = Code(description: "busy")

    /// The file was removed, renamed or replaced while it was open.
    public static let moved = Code(description: "moved")

    /// The storage cannot be written.
    public static let readOnly = Code(description: "readOnly")

    /// An entry cannot be sealed, because its key does not work.
    public static let sealingFailed = Code(description: "sealingFailed")

    /// Reading or writing has failed for another reason.
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

  public var description: String {
    self.cause.map { "\(self.code): \(self.message) (\(ShownText.whole($0)))" } ?? "\(self.code): \(self.message)"
  }
}

extension StorageError {
  /// The error of a call after `close()`.
  ///
  /// - Parameter name: The name of the storage, such as its path.
  /// - Returns: The error.
  public static func closed(_ name: String) -> Self {
    Self(code: .closed, message: "The storage \(name) was closed. Close it after its last use, or open another one.")
  }
}

extension Error {
  /// The error, if every change of a storage fails with it now; nil if it may concern one change.
  package var asObstacle: StorageError? {
    guard let error = self as? StorageError else { return nil }
    switch error.code {
    case .busy, .full, .readOnly, .closed, .moved, .cannotOpen, .notADatabase, .newerSchema: return error
    default: return nil
    }
  }
}

extension StorageError: LocalizedError {
  public var errorDescription: String? { self.description }
}
