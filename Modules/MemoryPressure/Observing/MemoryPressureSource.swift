public import OperationCore

/// Observes how short of memory the program is.
public protocol MemoryPressureSource {
  /// Calls `handler` with the current level before it returns, and again with each level that follows.
  ///
  /// Each call passes exactly one level. The same level may be passed again after another event at that level: more
  /// stalls, or another limit reached. Call handlers in the order in which they were subscribed, without holding a
  /// lock. Do not call a handler after its subscription is cancelled.
  ///
  /// - Parameter handler: Receives the level.
  /// - Returns: A subscription whose cancellation or release ends the calls.
  func subscribe(with handler: @escaping @Sendable (MemoryPressure) -> Void) -> OperationSubscription
}

/// A source of memory pressure with its type erased.
public struct AnySendableMemoryPressureSource: MemoryPressureSource, Sendable {
  /// The source.
  public let base: any MemoryPressureSource & Sendable

  /// Creates a source that forwards to `base`.
  public init(_ base: any MemoryPressureSource & Sendable) {
    self.base = base
  }

  /// Subscribes to `base`.
  public func subscribe(with handler: @escaping @Sendable (MemoryPressure) -> Void) -> OperationSubscription {
    self.base.subscribe(with: handler)
  }
}
