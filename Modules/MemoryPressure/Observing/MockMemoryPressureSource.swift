public import OperationCore

/// A source of memory pressure that you steer, for tests and previews.
///
/// ```swift
/// let memory = MockMemoryPressureSource()
/// let client = OperationClient(storeCache: OperationClient.DefaultStoreCache(memoryPressureSource: memory))
/// memory.send(pressure: .critical)
/// ```
public final class MockMemoryPressureSource: MemoryPressureSource, Sendable {
  private let broadcast: Broadcast<MemoryPressure>

  /// Creates a source.
  public init(initialPressure: MemoryPressure = .normal) {
    self.broadcast = Broadcast(initialPressure)
  }

  /// The level that was sent last.
  public var currentPressure: MemoryPressure { self.broadcast.value }

  /// How many subscriptions there are that have not been cancelled.
  public var subscriberCount: Int { self.broadcast.subscriberCount }

  /// Sets the level and calls the handlers, on this thread and before it returns unless they are being called already.
  public func send(pressure: MemoryPressure) {
    self.broadcast.send(pressure)
  }

  /// Calls `handler` with the present level before it returns, and again whenever one is sent.
  public func subscribe(with handler: @escaping @Sendable (MemoryPressure) -> Void) -> OperationSubscription {
    self.broadcast.subscribe(handler)
  }
}
