public import Testing

/// Counts living objects, to check that a store, a closure or a task is released when it should be.
///
/// ```swift
/// let lifetimes = LifetimeTracker()
/// do {
///   let subscription = store.subscribe(with: handler(holding: lifetimes.token()))
///   subscription.cancel()
/// }
/// try await lifetimes.noneAlive()
/// ```
public final class LifetimeTracker: Sendable {
  /// An object that is counted while it is alive.
  public final class Token: Sendable {
    private let alive: AwaitableState<Int>

    fileprivate init(alive: AwaitableState<Int>) {
      self.alive = alive
      alive.change { $0 += 1 }
    }

    deinit {
      self.alive.change { $0 -= 1 }
    }

    /// Does nothing. Call it in a closure to make the closure capture the token.
    public func touch() {}
  }

  private let alive = AwaitableState(0)

  /// Creates a tracker.
  public init() {}

  /// Creates a token to be captured by the object whose release is checked.
  public func token() -> Token { Token(alive: self.alive) }

  /// The number of living tokens.
  public var aliveCount: Int { self.alive.current }

  /// Waits until no token is alive.
  ///
  /// - Parameters:
  ///   - limit: The longest time to wait; nil for ``WaitLimit/current``.
  ///   - sourceLocation: Where an issue is reported.
  /// - Throws: ``WaitTimedOut``, which is also an issue of the test, or `CancellationError`.
  public func noneAlive(
    within limit: Duration? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    try await recordingTimeOut(at: sourceLocation) {
      try await self.release(within: limit ?? WaitLimit.current, of: "all counted objects to be released")
    }
  }

  /// Like ``noneAlive(within:sourceLocation:)``, but records no issue.
  ///
  /// - Parameters:
  ///   - limit: The longest time to wait.
  ///   - what: The expected event: `the stores to be released`.
  /// - Throws: ``WaitTimedOut`` or `CancellationError`.
  func release(within limit: Duration, of what: String) async throws {
    try await self.alive.wait(.cancellable(limit)) { count in
      "\(what); \(count) are alive"
    } until: { count in
      count == 0 ? () : nil
    }
  }
}
