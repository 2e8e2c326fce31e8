public import OperationCore

/// Watches how short of memory the program is.
public protocol MemoryPressureSource {
  /// Calls `handler` with the present level before it returns, and again with each that follows.
  ///
  /// Each call names exactly one level. The same one may come again when something new has happened at that level: more
  /// work has stood still, another limit has been met. Call handlers in the order in which they came, and hold no lock
  /// meanwhile. None is called once its subscription is cancelled.
  func subscribe(with handler: @escaping @Sendable (MemoryPressure) -> Void) -> OperationSubscription
}

/// A source of memory pressure with its type erased.
public struct AnySendableMemoryPressureSource: MemoryPressureSource, Sendable {
  /// The source.
  public let base: any MemoryPressureSource & Sendable

  /// Creates a source that is `base`.
  public init(_ base: any MemoryPressureSource & Sendable) {
    self.base = base
  }

  /// Subscribes to the source inside.
  public func subscribe(with handler: @escaping @Sendable (MemoryPressure) -> Void) -> OperationSubscription {
    self.base.subscribe(with: handler)
  }
}
