public import OperationCore

/// A source of memory pressure with a level that you set, for tests and previews.
///
/// ```swift
/// let memory = MockMemoryPressureSource()
/// let client = OperationClient(storeCache: OperationClient.DefaultStoreCache(memoryPressureSource: memory))
/// memory.send(pressure: .critical)
/// ```
public final class MockMemoryPressureSource: MemoryPressureSource, Sendable {
  private let broadcast: Broadcast<MemoryPressure>

  /// Creates a source.
  ///
  /// - Parameter initialPressure: The initial level.
  public init(initialPressure: MemoryPressure = .normal) {
    self.broadcast = Broadcast(initialPressure)
  }

  /// The level that was sent last.
  public var currentPressure: MemoryPressure { self.broadcast.value }

  /// The number of subscriptions that have not been cancelled.
  public var subscriberCount: Int { self.broadcast.subscriberCount }

  /// Sets the level, and calls the handlers on this thread.
  ///
  /// The handlers have been called when this returns, unless another call is delivering levels: that one then delivers
  /// this level, too.
  ///
  /// - Parameter pressure: The new level.
  public func send(pressure: MemoryPressure) {
    self.broadcast.send(pressure)
  }

  /// Calls `handler` with the current level before it returns, and again with each level that is sent.
  ///
  /// - Parameter handler: Receives the level.
  /// - Returns: A subscription whose cancellation or release ends the calls.
  public func subscribe(with handler: @escaping @Sendable (MemoryPressure) -> Void) -> OperationSubscription {
    self.broadcast.subscribe(handler)
  }
}
