public import OperationCore

/// Waits between the attempts of an operation.
public protocol OperationDelayer {
  /// Waits for `duration`; a negative duration counts as zero.
  ///
  /// - Throws: `CancellationError` at once when the task is cancelled. The caller stops trying after any error.
  func delay(for duration: OperationDuration) async throws
}

/// A type-erased delayer.
public struct AnySendableDelayer: OperationDelayer, Sendable {
  /// The wrapped delayer.
  public let base: any OperationDelayer & Sendable

  /// Wraps a delayer.
  public init(_ base: any OperationDelayer & Sendable) {
    self.base = base
  }

  /// Waits with the wrapped delayer.
  public func delay(for duration: OperationDuration) async throws {
    try await self.base.delay(for: duration)
  }
}
