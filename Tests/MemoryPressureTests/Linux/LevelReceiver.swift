#if os(Linux)
  import OperationCore
  import OperationMemoryPressure
  import OperationTesting
  import Synchronization
  import Testing

  /// Receives levels, one after the other.
  final class LevelReceiver: Sendable {
    private let stream: AsyncStream<MemoryPressure>
    private let continuation: AsyncStream<MemoryPressure>.Continuation
    private let subscription = Mutex<OperationSubscription?>(nil)
    private let count = Mutex(0)

    init(_ source: some MemoryPressureSource) {
      (self.stream, self.continuation) = AsyncStream.makeStream()
      let subscription = source.subscribe { [weak self] pressure in
        self?.count.withLock { $0 += 1 }
        self?.continuation.yield(pressure)
      }
      self.subscription.withLock { $0 = subscription }
    }

    /// The number of levels that it has received.
    var receivedCount: Int { self.count.withLock { $0 } }

    /// The next level.
    func next() async throws -> MemoryPressure? {
      try await withTimeLimit("a level of memory pressure") { [stream = self.stream] in
        await stream.first { _ in true }
      }
    }

    func cancel() {
      self.subscription.withLock { subscription in
        defer { subscription = nil }
        return subscription
      }?.cancel()
    }
  }

  /// A time that stands still until it is moved.
  final class Hands: Sendable {
    private let time = Mutex(Duration.seconds(1_000))

    var elapsed: Duration { self.time.withLock { $0 } }

    func advance(by duration: Duration) {
      self.time.withLock { $0 += duration }
    }
  }
#endif
