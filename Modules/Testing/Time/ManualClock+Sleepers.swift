public import Testing

extension ManualClock {
  /// The reason that a sleeper waits.
  @nonexhaustive(warn)
  public enum SleeperKind: Hashable, Sendable {
    /// A delay between two attempts, requested from the operation delayer.
    case delay
    /// Any other deadline, such as the next poll, the end of a cache time, or `sleep(for:)`.
    case deadline
  }

  /// Counts the current sleepers.
  ///
  /// - Parameter kind: The kind to count; nil for all.
  /// - Returns: The number of sleepers of this kind.
  public func sleeperCount(_ kind: SleeperKind? = nil) -> Int {
    self.state.current.count(kind)
  }

  /// Lists the remaining times of the current sleepers.
  ///
  /// - Parameter kind: The kind to list; nil for all.
  /// - Returns: The remaining time of each sleeper, in the order in which they will be woken.
  public func remainingTimes(_ kind: SleeperKind? = nil) -> [Duration] {
    let state = self.state.current
    return state.sleepers.filter { kind == nil || $0.kind == kind }.map { $0.due - state.elapsed }
  }

  /// All delays requested from the operation delayer, in order, delays of zero length included.
  public var delays: [Duration] { self.state.current.delays }

  /// Waits until there are at least `count` sleepers at the same time.
  ///
  /// - Parameters:
  ///   - count: The number of sleepers.
  ///   - kind: The kind to count; nil for all.
  ///   - limit: The longest time to wait; nil for ``WaitLimit/current``.
  ///   - sourceLocation: Where an issue is reported.
  /// - Throws: ``WaitTimedOut``, which is also an issue of the test, or `CancellationError`.
  public func sleepers(
    count: Int,
    _ kind: SleeperKind? = nil,
    within limit: Duration? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    try await self.wait(within: limit, at: sourceLocation) { state in
      "at least \(count) \(kind.noun) of a manual clock; there are \(state.count(kind))"
    } until: { state in
      state.count(kind) >= count
    }
  }

  /// Waits until there are no sleepers: all have been woken or cancelled.
  ///
  /// - Parameters:
  ///   - kind: The kind to count; nil for all.
  ///   - limit: The longest time to wait; nil for ``WaitLimit/current``.
  ///   - sourceLocation: Where an issue is reported.
  /// - Throws: ``WaitTimedOut``, which is also an issue of the test, or `CancellationError`.
  public func noSleepers(
    _ kind: SleeperKind? = nil,
    within limit: Duration? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    try await self.wait(within: limit, at: sourceLocation) { state in
      "all \(kind.noun) of a manual clock to end; there are \(state.count(kind))"
    } until: { state in
      state.count(kind) == 0
    }
  }

  private func wait(
    within limit: Duration?,
    at sourceLocation: SourceLocation,
    for what: @escaping @Sendable (State) -> String,
    until condition: @escaping @Sendable (State) -> Bool
  ) async throws {
    try await recordingTimeOut(at: sourceLocation) {
      try await self.state.wait(.cancellable(limit ?? WaitLimit.current), for: what) { state in
        condition(state) ? () : nil
      }
    }
  }
}

extension ManualClock.State {
  fileprivate func count(_ kind: ManualClock.SleeperKind?) -> Int {
    guard let kind else { return self.sleepers.count }
    return self.sleepers.count { $0.kind == kind }
  }
}

extension ManualClock.SleeperKind? {
  fileprivate var noun: String {
    switch self {
    case .delay: "delays"
    case .deadline: "deadlines"
    case nil: "sleepers"
    }
  }
}
