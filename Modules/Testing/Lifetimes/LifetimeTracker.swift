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
    private let room: WaitingRoom<Int>

    fileprivate init(room: WaitingRoom<Int>) {
      self.room = room
      room.change { $0 += 1 }
    }

    deinit {
      self.room.change { $0 -= 1 }
    }

    /// Does nothing. Call it in a closure to make the closure capture the token.
    public func touch() {}
  }

  private let room = WaitingRoom(0)

  /// Creates a tracker.
  public init() {}

  /// Creates a token to be captured by the object whose release is checked.
  public func token() -> Token { Token(room: self.room) }

  /// The number of living tokens.
  public var aliveCount: Int { self.room.state }

  /// Waits until no token is alive.
  ///
  /// - Parameter limit: The longest time to wait; nil for ``WaitLimit/current``.
  /// - Parameter sourceLocation: Where an issue is reported.
  /// - Throws: ``WaitTimedOut``, which is also an issue of the test, or `CancellationError`.
  public func noneAlive(
    within limit: Duration? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    try await recordingTimeOut(at: sourceLocation) {
      try await self.release(within: limit ?? WaitLimit.current, of: "the last of the counted objects to go")
    }
  }

  /// Like ``noneAlive(within:sourceLocation:)``, but records no issue.
  ///
  /// - Parameter what: What is waited for: `the stores to be released`.
  func release(within limit: Duration, of what: String) async throws {
    try await self.room.wait(.cancellable(limit)) { count in
      "\(what); \(count) are alive"
    } until: { count in
      count == 0 ? () : nil
    }
  }
}
