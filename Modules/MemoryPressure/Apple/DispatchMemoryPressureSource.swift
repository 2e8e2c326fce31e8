#if canImport(Darwin)
  internal import Dispatch
  public import OperationCore
  internal import OperationPlatform

  /// Reports how short memory is, by the system's source of memory pressure.
  ///
  /// ```swift
  /// let cache = OperationClient.DefaultStoreCache(memoryPressureSource: DispatchMemoryPressureSource())
  /// ```
  ///
  /// The level is normal until the system reports another one. It is compiled as on Apple's systems, and was never run there.
  public final class DispatchMemoryPressureSource: MemoryPressureSource, @unchecked Sendable {
    // Unchecked because of the source: `init` activates it, `deinit` cancels it, and in between its own handler reads it.
    private let source: any DispatchSourceMemoryPressure
    private let level = Broadcast(MemoryPressure.normal)

    /// Creates a source.
    public init() {
      let queue = DispatchQueue(label: "swift-operation.memory-pressure")
      self.source = DispatchSource.makeMemoryPressureSource(eventMask: .all, queue: queue)
      self.source.setEventHandler { [weak self] in self?.report() }
      self.source.activate()
    }

    deinit {
      self.source.cancel()
    }

    private func report() {
      let event: DispatchSource.MemoryPressureEvent = self.source.data
      self.level.send(event.contains(.critical) ? .critical : event.contains(.warning) ? .warning : .normal)
    }

    /// Calls `handler` with the current level before it returns, and again with each level that follows.
    ///
    /// - Parameter handler: Receives the level, on a queue of the source but for the first call.
    /// - Returns: A subscription whose cancellation or release ends the calls.
    public func subscribe(with handler: @escaping @Sendable (MemoryPressure) -> Void) -> OperationSubscription {
      self.level.subscribe(handler)
    }
  }
#endif
