public import OperationCore

/// Waits between the attempts of an operation.
public protocol OperationDelayer {
  /// Waits for `duration`; a negative duration counts as zero.
  ///
  /// - Throws: `CancellationError` at once when the task is cancelled. The caller then stops, whatever the error is.
  func delay(for duration: OperationDuration) async throws
}

/// A delayer with its type erased.
public struct AnySendableDelayer: OperationDelayer, Sendable {
  /// The delayer.
  public let base: any OperationDelayer & Sendable

  /// Creates a delayer that is `base`.
  public init(_ base: any OperationDelayer & Sendable) {
    self.base = base
  }

  /// Waits as `base` does.
  public func delay(for duration: OperationDuration) async throws {
    try await self.base.delay(for: duration)
  }
}
