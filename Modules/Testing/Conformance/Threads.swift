internal import Dispatch

/// Runs code that may block on separate threads.
enum Threads {
  /// Calls `body` on another thread, and waits for its end on this one.
  ///
  /// - Returns: False if `body` has not returned within the limit, for instance because this thread holds a lock.
  static func finishesElsewhere(within limit: Duration, _ body: @escaping @Sendable () -> Void) -> Bool {
    let end = DispatchSemaphore(value: 0)
    Self.queue().async {
      body()
      end.signal()
    }
    let seconds = min(limit / .seconds(1), 1e9)
    return end.wait(timeout: .now() + seconds) == .success
  }

  /// Calls `body` on `count` threads at the same time, with the numbers from 0, and waits until all calls have
  /// returned.
  ///
  /// - Throws: ``WaitTimedOut``, or `CancellationError`.
  static func call(_ count: Int, within limit: Duration, _ body: @escaping @Sendable (Int) -> Void) async throws {
    let ended = AwaitableState(0)
    for number in 0..<count {
      Self.queue().async {
        body(number)
        ended.change { $0 += 1 }
      }
    }
    try await ended.wait(.cancellable(limit)) { ended in
      "\(count) threads that use it at the same time to end; \(ended) have ended"
    } until: { ended in
      ended == count ? () : nil
    }
  }

  // A new queue for each call, so that each call has its own thread.
  private static func queue() -> DispatchQueue { DispatchQueue(label: "swift-operation.checks") }
}
