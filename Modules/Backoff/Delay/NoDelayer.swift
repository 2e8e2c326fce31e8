public import OperationCore

/// Does not wait.
public struct NoDelayer: OperationDelayer, Sendable, Hashable {
  /// Creates a delayer.
  public init() {}

  /// Returns at once.
  public func delay(for duration: OperationDuration) async throws {}
}

extension OperationDelayer where Self == NoDelayer {
  /// Does not wait.
  public static var noDelay: Self { NoDelayer() }
}
