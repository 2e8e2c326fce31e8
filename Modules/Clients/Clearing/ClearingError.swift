public import OperationFoundation

/// What was not cleared when a client was to forget its user: see ``OperationClient/clearEverything(within:switching:)``.
public struct ClearingError: Error, CustomStringConvertible {
  /// Something that is left. Later versions may have more cases, so a `switch` needs a default.
  @nonexhaustive(warn)
  public enum Remaining: Sendable, CustomStringConvertible {
    /// A run of the operation at a path, whose body has not ended. It ignores its cancellation.
    case run(OperationPath)
    /// Values in a storage, which has failed or has not answered in time. The next start of the program would read them.
    case storage(String, any Error)
    /// This many calls in a journal.
    case journal(Int)
    /// Values in a fleet. It is away, and is told when it is back.
    case fleet(String)

    public var description: String {
      switch self {
      case .run(let path): "a run of \(ShownText.of(path))"
      case .storage(let name, let error): "values in \(name) (\(ShownText.of(error)))"
      case .journal(let count): count == 1 ? "1 journaled call" : "\(count) journaled calls"
      case .fleet(let name): "values in the fleet of \(name)"
      }
    }
  }

  /// What is left, at least one thing.
  public let remaining: [Remaining]

  /// Creates an error.
  ///
  /// - Parameter remaining: What is left.
  public init(remaining: [Remaining]) {
    self.remaining = remaining
  }

  public var description: String {
    """
    The client has not forgotten everything. What is left: \(self.remaining.map(\.description).joined(separator: ", ")). \
    Do not go on as another user; call `clearEverything()` again.
    """
  }
}

extension ClearingError: LocalizedError {
  public var errorDescription: String? { self.description }
}
