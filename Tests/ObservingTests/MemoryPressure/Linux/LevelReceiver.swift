#if os(Linux)
  import OperationCore
  import OperationMemoryPressure
  import TestFixtures
  import Testing

  /// Receives levels, one after the other.
  final class LevelReceiver: Sendable {
    private let receiver = Receiver<MemoryPressure>()
    private let subscription: OperationSubscription

    init(_ source: some MemoryPressureSource) {
      self.subscription = source.subscribe(with: self.receiver.receive)
    }

    /// The number of levels received so far.
    var receivedCount: Int { self.receiver.count }

    /// Waits for the next level.
    func next(sourceLocation: SourceLocation = #_sourceLocation) async throws -> MemoryPressure {
      try await self.receiver.next(sourceLocation: sourceLocation)
    }

    func cancel() {
      self.subscription.cancel()
    }
  }
#endif
