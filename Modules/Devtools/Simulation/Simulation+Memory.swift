#if SwiftOperationDevtools
  internal import OperationCore
  public import OperationMemoryPressure

  extension Simulation {
    /// Creates a source for the cache of a client, which reports the memory pressure of another source and the simulated one.
    ///
    /// - Parameter base: The other source; nil for none.
    /// - Returns: The source.
    public func memoryPressureSource(
      _ base: (any MemoryPressureSource & Sendable)? = nil
    ) -> some MemoryPressureSource & Sendable {
      SimulatedMemoryPressureSource(base: base, memory: self.memory)
    }
  }

  private struct SimulatedMemoryPressureSource: MemoryPressureSource {
    let base: (any MemoryPressureSource & Sendable)?
    let memory: MockMemoryPressureSource

    func subscribe(with handler: @escaping @Sendable (MemoryPressure) -> Void) -> OperationSubscription {
      let simulated = self.memory.subscribe(with: handler)
      guard let base = self.base else { return simulated }
      return .combined([base.subscribe(with: handler), simulated])
    }
  }
#endif
