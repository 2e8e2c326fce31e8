public import OperationCore

/// Does not wait.
public struct NoDelayer: OperationDelayer, Sendable, Hashable {
  /// Creates a delayer.
  public init() {}

  /// Returns at once.
  ///
  /// - Throws: `CancellationError` when the task is cancelled.
  public func delay(for duration: OperationDuration) async throws {
    try Task.checkCancellation()
  }
}

extension OperationDelayer where Self == NoDelayer {
  /// Does not wait.
  public static var noDelay: Self { NoDelayer() }
}
