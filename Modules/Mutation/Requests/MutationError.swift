public import OperationCore

/// A call that could not be made.
public struct MutationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was wrong with a call.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// A mutation was run without arguments.
    public static let missingArguments = Code(description: "missingArguments")

    /// A mutation was to be retried that had not been called.
    public static let noHistory = Code(description: "noHistory")
  }

  /// What was wrong.
  public let code: Code

  /// What happened, and the remedy.
  public let message: String

  public var description: String { "\(self.code): \(self.message)" }
}

extension MutationError {
  static func missingArguments(of path: OperationPath) -> Self {
    Self(
      code: .missingArguments,
      message: """
        The mutation at \(path) was run without arguments, and did nothing. Call `mutate(with:)` on its store.
        """
    )
  }

  static func noHistory(at path: OperationPath) -> Self {
    Self(
      code: .noHistory,
      message: """
        The mutation at \(path) has no call in its history that could be made again. Call `mutate(with:)` first.
        """
    )
  }
}

extension OperationWarning.Code {
  /// A mutation was run without arguments.
  public static let missingArguments = Self(description: "missingArguments")

  /// A mutation was to be retried that had not been called.
  public static let noHistory = Self(description: "noHistory")

  /// Something was asked of a client where the context has none.
  public static let noClient = Self(description: "noClient")
}
