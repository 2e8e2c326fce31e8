/// The decision about a call that is in conflict with the data of the server.
public struct ConflictResolution<Arguments: Sendable>: Sendable {
  enum Decision: Sendable {
    case retry(Arguments, base: String?)
    case discard
    case ask(holdsScope: Bool)
  }

  let decision: Decision

  /// The call is made with other arguments, and a key of its own.
  ///
  /// - Parameters:
  ///   - arguments: The arguments, such as the merged values of both sides.
  ///   - version: The version that they are based on, which is then
  ///     ``OperationCore/OperationContext/operationBaseVersion``; nil to overwrite whatever the server has.
  /// - Returns: The resolution.
  public static func retry(with arguments: Arguments, basedOn version: String? = nil) -> Self {
    Self(decision: .retry(arguments, base: version))
  }

  /// The call is not made, and the data of the server stays. The caller gets a ``JournalError``, and the entry is
  /// removed.
  public static var discard: Self { Self(decision: .discard) }

  /// The call is kept with the data of the server, and not made before ``MutationJournal/resolve(_:with:)``. Other
  /// calls do not wait for it.
  public static var ask: Self { Self(decision: .ask(holdsScope: false)) }

  /// The call is kept with the data of the server, and not made before ``MutationJournal/resolve(_:with:)``.
  ///
  /// - Parameter isHolding: Whether later calls of its scope wait for the decision, because they may build on it.
  /// - Returns: The resolution.
  public static func ask(holdingScope isHolding: Bool) -> Self { Self(decision: .ask(holdsScope: isHolding)) }
}
