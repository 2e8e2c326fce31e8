public import OperationCore
internal import OperationFoundation

extension StatefulOperationRequest {
  /// Treats each value as stale after a time of its own, so that values of one date do not expire together.
  ///
  /// With other rules, a value is stale when any of them says so. Without a value the state is stale.
  ///
  /// - Parameters:
  ///   - duration: The longest time that a value is fresh, by the `OperationClock` of the context. A negative one is
  ///     reported and counts as zero.
  ///   - jitter: The largest share that is taken away from it: with 0.1 and ten minutes, a value is fresh for nine to
  ///     ten minutes. A number outside 0 to 1 is reported, and counts as the nearest of the two.
  ///   - generator: The source of random numbers, drawn from once for each value. All stores share it.
  /// - Returns: The operation, whose stores check the age of the value.
  public func stale(
    after duration: Duration,
    jitter: Double,
    using generator: some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) -> ContextModifiedOperation<Self> {
    let seconds = duration.reportedIfNegative(in: "stale(after:jitter:)").seconds
    let jitter = jitter.reportedUnlessShare(in: "stale(after:jitter:)")
    let shares = RandomShares(generator)
    return self.context { context in
      let jitter = FreshnessJitter(jitter, shares)
      context.addFreshPeriods(of: State.self) { state, _ in
        ValueKey(state).map { FreshPeriod(start: $0.date, seconds: jitter.shortened(seconds, of: $0)) }
      }
    }
    .written(".stale(after: \(duration.roundedText), jitter: \(jitter))")
  }
}

extension StatefulOperationRequest where State: ValueServingState {
  /// Returns the value to a read at the end of its freshness, and starts a run behind that read.
  ///
  /// ```swift
  /// let query = PostQuery(id: 1).stale(after: .seconds(60)).refreshesEarly(0.2)  // From 48 s on.
  /// ```
  ///
  /// Reads are `fetch`, `run`, `client.ensureValue(for:)` and the reads with a maximal age. A fetch before that time
  /// runs and waits as usual. One run is under way behind all reads; its outcome goes to the state. An invalidated
  /// value is not read.
  ///
  /// - Parameter share: The last share of the freshness, from 0 to 1, in which a read starts a run. Another number is
  ///   reported, and counts as the nearest of the two. Freshness comes from `.stale(after:)` and its relatives; without
  ///   one, nothing is refreshed early.
  /// - Returns: The operation, whose stores refresh their values early.
  public func refreshesEarly(_ share: Double) -> ContextModifiedOperation<Self> {
    let share = share.reportedUnlessShare(in: "refreshesEarly(_:)")
    return self.context { context in context.freshnessRecord(of: self).configure { $0.earlyShare = share } }
      .written(".refreshesEarly(\(share))")
  }

  /// Returns the last value to a caller whose run takes longer, or fails. The run goes on for the state.
  ///
  /// ```swift
  /// let query = PostQuery(id: 1).servesStale(after: .milliseconds(200), for: .seconds(600))
  /// ```
  ///
  /// The outcome of the run goes to the state as usual, and other callers can join it. The event of the caller and the
  /// run's have `servedStale` in their contexts, and a notice is sent. A caller that is
  /// cancelled gets no value, nor does anybody while the store is invalidated: that value is known to be wrong. A task
  /// that you make with `fetchTask()` gets its own outcome.
  ///
  /// - Parameters:
  ///   - patience: How long a caller waits for its run, by the deadlines of the context. With zero it gets a value at
  ///     once unless the run ends at once. A negative duration is reported and counts as zero.
  ///   - maximumAge: The maximal age of the value, by the clock of the context, its age on arrival included. A negative
  ///     one is reported and counts as zero.
  /// - Returns: The operation, whose callers get the last value in place of a failure or a long wait.
  public func servesStale(
    after patience: Duration,
    for maximumAge: Duration
  ) -> ContextModifiedOperation<Self> {
    let patience = patience.reportedIfNegative(in: "servesStale(after:for:)")
    let maximumAge = maximumAge.reportedIfNegative(in: "servesStale(after:for:)")
    return self.context { context in
      context.freshnessRecord(of: self).configure {
        $0.patience = patience
        $0.maximumAge = maximumAge.seconds
      }
    }
    .written(".servesStale(after: \(patience.roundedText), for: \(maximumAge.roundedText))")
  }
}
