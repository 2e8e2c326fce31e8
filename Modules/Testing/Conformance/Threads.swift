internal import Dispatch
internal import OperationCore

/// Runs code on threads of its own, where it may block.
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

  /// Calls `body` on `count` threads at the same time, with the numbers from 0, and waits until all calls have returned.
  ///
  /// - Throws: ``WaitTimedOut``, or `CancellationError`.
  static func call(_ count: Int, within limit: Duration, _ body: @escaping @Sendable (Int) -> Void) async throws {
    let ended = WaitingRoom(0)
    for number in 0..<count {
      Self.queue().async {
        body(number)
        ended.change { $0 += 1 }
      }
    }
    try await ended.wait(.cancellable(limit)) { ended in
      "\(count) threads that use it at the same time; \(ended) have ended"
    } until: { ended in
      ended == count ? () : nil
    }
  }

  // A queue with a label of its own has a thread of its own, however many there are.
  private static func queue() -> DispatchQueue { DispatchQueue(label: "swift-operation.checks") }
}

/// Calls a closure when it is released.
final class ReleaseProbe: Sendable {
  private let onRelease: @Sendable () -> Void

  init(onRelease: @escaping @Sendable () -> Void) {
    self.onRelease = onRelease
  }

  deinit {
    self.onRelease()
  }

  /// Does nothing. Call it in a closure to make the closure capture the probe.
  func touch() {}
}

/// Finds out whether user code is called with a lock held: the locked object is used on another thread meanwhile.
final class LockProbe: Sendable {
  private let found = Locked<String?>(nil)
  private let limit: Duration
  private let use: @Sendable () -> Void

  /// Creates a probe.
  ///
  /// - Parameters:
  ///   - limit: How long to wait for the other thread.
  ///   - use: Uses the object.
  init(within limit: Duration, use: @escaping @Sendable () -> Void) {
    self.limit = limit
    self.use = use
  }

  /// What was called with a lock held; nil if nothing was.
  var finding: String? { self.found.withLock { $0 } }

  /// Called by the user code. Returns whether no lock is held.
  ///
  /// - Parameter what: What is being called.
  @discardableResult
  func probe(_ what: String) -> Bool {
    // One finding is enough, and costs the whole limit.
    guard self.finding == nil else { return false }
    if Threads.finishesElsewhere(within: self.limit, self.use) { return true }
    self.found.withLock { $0 = $0 ?? what }
    return false
  }
}

/// Counts calls.
final class CallCounter: Sendable {
  private let room = WaitingRoom(0)

  var count: Int { self.room.state }

  func note() {
    self.room.change { $0 += 1 }
  }

  /// Waits until there are `count` calls. Records no issue.
  func calls(atLeast count: Int, within limit: Duration, _ what: String) async throws {
    try await self.room.wait(.cancellable(limit)) { calls in
      "\(what); there were \(calls) calls, not \(count)"
    } until: { calls in
      calls >= count ? () : nil
    }
  }
}
