public import Testing

/// Counts what is alive: proves that a store, a closure or a task goes when it should.
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
  /// Something that is alive while anybody holds it.
  public final class Token: Sendable {
    private let room: WaitingRoom<Int>

    fileprivate init(room: WaitingRoom<Int>) {
      self.room = room
      room.change { $0 += 1 }
    }

    deinit {
      self.room.change { $0 -= 1 }
    }

    /// Does nothing: a closure that calls it holds the token.
    public func touch() {}
  }

  private let room = WaitingRoom(0)

  /// Creates a tracker.
  public init() {}

  /// Makes something to be held by what is to go.
  public func token() -> Token { Token(room: self.room) }

  /// How many tokens are alive.
  public var aliveCount: Int { self.room.state }

  /// Waits until no token is alive.
  ///
  /// - Parameter limit: How long to wait; nil for ``WaitLimit/current``.
  /// - Parameter sourceLocation: Where an issue is reported.
  /// - Throws: ``WaitTimedOut``, which is an issue of the test as well, or `CancellationError`.
  public func noneAlive(
    within limit: Duration? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    try await recordingTimeOut(at: sourceLocation) {
      try await self.room.wait(.cancellable(limit ?? WaitLimit.current)) { count in
        "the last of the counted objects to go; \(count) are alive"
      } until: { count in
        count == 0 ? () : nil
      }
    }
  }
}
