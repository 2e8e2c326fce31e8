public import Testing

extension EventRecorder {
  /// Waits until at least `count` events have been recorded.
  ///
  /// - Parameters:
  ///   - count: The number of events.
  ///   - limit: The longest time to wait; nil for ``WaitLimit/current``.
  ///   - sourceLocation: Where an issue is reported.
  /// - Returns: All recorded events.
  /// - Throws: ``WaitTimedOut``, which is also an issue of the test, or `CancellationError`.
  @discardableResult
  public func events(
    count: Int,
    within limit: Duration? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> [Event] {
    try await recordingTimeOut(at: sourceLocation) {
      try await self.recorded.wait(.cancellable(limit ?? WaitLimit.current)) { events in
        "at least \(count) events; recorded so far: \(events.summary)"
      } until: { events in
        events.count >= count ? events : nil
      }
    }
  }

  /// Waits for the first event that satisfies `condition`, among those recorded already and later.
  ///
  /// - Parameters:
  ///   - limit: The longest time to wait; nil for ``WaitLimit/current``.
  ///   - sourceLocation: Where an issue is reported.
  ///   - condition: Called once for each event, in order, outside any lock.
  /// - Returns: The event.
  /// - Throws: ``WaitTimedOut``, which is also an issue of the test, or `CancellationError`.
  @discardableResult
  public func first(
    within limit: Duration? = nil,
    sourceLocation: SourceLocation = #_sourceLocation,
    where condition: @Sendable (Event) -> Bool
  ) async throws -> Event {
    let limit = limit ?? WaitLimit.current
    let end = ContinuousClock.now + min(limit, .seconds(1_000_000))
    return try await recordingTimeOut(at: sourceLocation) {
      var seen = 0
      while true {
        let events = try await self.events(beyond: seen, until: end, limit: limit)
        if let event = events.dropFirst(seen <= events.count ? seen : 0).first(where: condition) { return event }
        seen = events.count
      }
    }
  }

  private func events(beyond seen: Int, until end: ContinuousClock.Instant, limit: Duration) async throws -> [Event] {
    do {
      return try await self.recorded.wait(.cancellable(ContinuousClock.now.duration(to: end))) { events in
        "an event that satisfies a condition; recorded so far: \(events.summary)"
      } until: { events in
        // After `removeAll()` there are fewer events than before.
        events.count != seen ? events : nil
      }
    } catch let error as WaitTimedOut {
      throw WaitTimedOut(what: error.what, limit: limit)
    }
  }

  /// Waits for the first state that satisfies `condition`, among those recorded already and later.
  ///
  /// - Parameters:
  ///   - limit: The longest time to wait; nil for ``WaitLimit/current``.
  ///   - sourceLocation: Where an issue is reported.
  ///   - condition: Called once for each state, in order, outside any lock.
  /// - Returns: The state.
  /// - Throws: ``WaitTimedOut``, which is also an issue of the test, or `CancellationError`.
  @discardableResult
  public func firstState(
    within limit: Duration? = nil,
    sourceLocation: SourceLocation = #_sourceLocation,
    where condition: @Sendable (State) -> Bool
  ) async throws -> State {
    let event = try await self.first(within: limit, sourceLocation: sourceLocation) { event in
      event.state.map(condition) ?? false
    }
    guard case .stateChanged(let state) = event.kind else {
      preconditionFailure("Only an event with a state satisfies the condition.")
    }
    return state
  }
}

extension Array {
  fileprivate var summary: String { self.isEmpty ? "none" : "\(self)" }
}
