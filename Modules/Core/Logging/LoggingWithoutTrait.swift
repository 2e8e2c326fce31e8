#if !SwiftOperationLogging
  // Without these declarations the compiler reports unknown members and does not name the missing trait.

  /// The levels of `Logging.Logger`, which is there only with the trait `SwiftOperationLogging`.
  public enum LogLevelWithoutTrait: Sendable {
    case trace, debug, info, notice, warning, error, critical
  }

  extension OperationRequest {
    /// Logs the duration and the outcome of each run. Requires the trait `SwiftOperationLogging`.
    @available(
      *,
      unavailable,
      message:
        "switch on the trait SwiftOperationLogging: .package(url: …, from: …, traits: [\"SwiftOperationLogging\"])"
    )
    public func logDuration(_ name: String? = nil, level: LogLevelWithoutTrait = .info) -> Self {
      preconditionFailure("Unavailable.")
    }

    /// Logs the duration and the outcome of each run. Requires the trait `SwiftOperationLogging`.
    @available(
      *,
      unavailable,
      message:
        "switch on the trait SwiftOperationLogging: .package(url: …, from: …, traits: [\"SwiftOperationLogging\"])"
    )
    public func logDuration(_ name: String? = nil, at level: LogLevelWithoutTrait) -> Self {
      preconditionFailure("Unavailable.")
    }

    /// Logs the duration and the outcome of each run. Requires the trait `SwiftOperationLogging`.
    @available(
      *,
      unavailable,
      message:
        "switch on the trait SwiftOperationLogging: .package(url: …, from: …, traits: [\"SwiftOperationLogging\"])"
    )
    public func logDuration(_ level: LogLevelWithoutTrait) -> Self { preconditionFailure("Unavailable.") }
  }
#endif
