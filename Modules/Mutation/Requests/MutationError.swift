public import OperationCore
public import OperationFoundation

/// The error of a call that could not be made.
public struct MutationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of a ``MutationError``.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code.
    public let description: String

    /// A mutation was run without arguments.
    public static let missingArguments = Code(description: "missingArguments")

    /// A mutation was retried, but had no call in its history.
    public static let noHistory = Code(description: "noHistory")
  }

  /// The kind of the error.
  public let code: Code

  /// A description of the error and of its remedy.
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

  /// The code and the message.
  public var description: String { "\(self.code): \(self.message)" }
}

extension MutationError {
  static func missingArguments(of path: OperationPath) -> Self {
    Self(
      code: .missingArguments,
      message: """
        The mutation at \(ShownText.of(path)) was run without arguments, and did nothing. Call `mutate(with:)` on its \
        store.
        """
    )
  }

  static func noHistory(at path: OperationPath) -> Self {
    Self(
      code: .noHistory,
      message: """
        The mutation at \(ShownText.of(path)) has no call in its history that could be made again. Call \
        `mutate(with:)` first.
        """
    )
  }
}

extension OperationWarning.Code {
  /// A mutation was run without arguments.
  public static let missingArguments = Self(description: "missingArguments")

  /// A mutation was retried, but had no call in its history.
  public static let noHistory = Self(description: "noHistory")

  /// An operation needed a client, but its context had none.
  public static let noClient = Self(description: "noClient")

  /// A mutation invalidates or updates a path, and the paths of all stores begin with other elements. A hint, in debug
  /// builds only.
  public static let pathMatchesNoStore = Self(description: "pathMatchesNoStore")
}

extension MutationError: LocalizedError {
  public var errorDescription: String? { self.description }
}
