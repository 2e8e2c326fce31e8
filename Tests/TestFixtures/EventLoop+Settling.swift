#if os(Linux)
  package import OperationEventLoop
  import OperationTesting
  import Testing

  extension EventLoop {
    /// Waits until the loop has made the calls for everything that has happened so far.
    package func settle() async throws {
      // A call may cause another event, which the loop handles in its next round.
      for _ in 0..<2 {
        let isReached = Gate()
        let timer = self.schedule(after: .zero) { isReached.open() }
        try await isReached.wait()
        timer.cancel()
      }
    }
  }
#endif
