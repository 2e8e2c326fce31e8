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
      context.addFreshPeriods(of: State.self, isConstant: true) { state, _ in
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
  /// let query = PostQuery(id: 1).stale(after: .seconds(60)).refreshesEarly(after: 0.8)  // From 48 s on.
  /// ```
  ///
  /// Reads are `fetch`, `run`, `client.ensureValue(for:)` and the reads with a maximal age; a derived query that reads a
  /// fresh value starts no run. A fetch before that time runs and waits as usual. One run is under way behind all reads;
  /// its outcome goes to the state. An invalidated value is not read.
  ///
  /// - Parameters:
  ///   - share: The share of the freshness, from 0 to 1, after which a read starts a run. Another number is reported,
  ///     and counts as the nearest of the two. Freshness comes from `.stale(after:)` and its relatives; without one,
  ///     nothing is refreshed early.
  ///   - period: How long after a failure no read starts another run early; zero by default. An invalidation ends it. A
  ///     negative duration is reported and counts as zero.
  /// - Returns: The operation, whose stores refresh their values early.
  public func refreshesEarly(
    after share: Double,
    retriesAfter period: Duration = .zero
  ) -> ContextModifiedOperation<Self> {
    let share = share.reportedUnlessShare(in: "refreshesEarly(after:)")
    let period = period.reportedIfNegative(in: "refreshesEarly(after:retriesAfter:)")
    return self.context { context in
      context.freshnessRecord(of: self).configure {
        $0.earlyStart = share
        $0.earlyRetryPause = period.seconds
      }
    }
    .written(".refreshesEarly(after: \(share)\(period.asRetryArgument))")
  }

  /// Returns the last value to a caller whose run takes longer, or fails. The run goes on for the state.
  ///
  /// ```swift
  /// let query = PostQuery(id: 1).servesStale(softTimeout: .milliseconds(200), maximumAge: .seconds(600))
  /// ```
  ///
  /// The outcome of the run goes to the state as usual, and other callers can join it. The event of the caller and the
  /// run's have `servedStale` in their contexts, and a notice is sent. A caller that is
  /// cancelled gets no value, nor does any caller while the store is invalidated: that value is known to be wrong. A derived
  /// query that reads this operation is no such caller, and waits for the run: write the modifier on that query. A task
  /// that you make with `fetchTask()` gets its own outcome. With `sharedInFleet(as:)`, the last value is also that of the
  /// other nodes, so that a node that has just started has one.
  ///
  /// - Parameters:
  ///   - softTimeout: How long a caller waits for its run, by the deadlines of the context. With zero it gets a value at
  ///     once unless the run ends at once. A negative duration is reported and counts as zero.
  ///   - maximumAge: The maximal age of the value, by the clock of the context, its age on arrival included. A negative
  ///     one is reported and counts as zero.
  ///   - period: How long after a failure callers get the last value at once, without a run; zero by default. The server
  ///     is then asked once in that time, and not by each caller. New subscribers start no run either. An invalidation
  ///     ends it, as does a new value. A negative duration is reported and counts as zero.
  /// - Returns: The operation, whose callers get the last value in place of a failure or a long wait.
  public func servesStale(
    softTimeout: Duration,
    maximumAge: Duration,
    retriesAfter period: Duration = .zero
  ) -> ContextModifiedOperation<Self> {
    let name = "servesStale(softTimeout:maximumAge:)"
    let softTimeout = softTimeout.reportedIfNegative(in: name)
    let maximumAge = maximumAge.reportedIfNegative(in: name)
    let text = "softTimeout: \(softTimeout.roundedText), maximumAge: \(maximumAge.roundedText)"
    return self.servesStale(softTimeout, maximumAge, period.reportedIfNegative(in: name + ", retriesAfter:"))
      .written(".servesStale(\(text)\(period.asRetryArgument))")
  }

  /// Returns the last value to a caller whose run fails, however long that takes.
  ///
  /// ```swift
  /// let query = PostQuery(id: 1).servesStale(onFailureFor: .seconds(600), retriesAfter: .seconds(30))
  /// ```
  ///
  /// It is `servesStale(softTimeout:maximumAge:retriesAfter:)` for callers who wait for the end of their run.
  ///
  /// - Parameters:
  ///   - maximumAge: The maximal age of the value, by the clock of the context, its age on arrival included. A negative
  ///     one is reported and counts as zero.
  ///   - period: How long after a failure callers get the last value at once, without a run; zero by default. A negative
  ///     duration is reported and counts as zero.
  /// - Returns: The operation, whose callers get the last value in place of a failure.
  public func servesStale(
    onFailureFor maximumAge: Duration,
    retriesAfter period: Duration = .zero
  ) -> ContextModifiedOperation<Self> {
    let maximumAge = maximumAge.reportedIfNegative(in: "servesStale(onFailureFor:)")
    return self.servesStale(nil, maximumAge, period.reportedIfNegative(in: "servesStale(onFailureFor:retriesAfter:)"))
      .written(".servesStale(onFailureFor: \(maximumAge.roundedText)\(period.asRetryArgument))")
  }

  private func servesStale(
    _ patience: Duration?,
    _ maximumAge: Duration,
    _ period: Duration
  ) -> ContextModifiedOperation<Self> {
    self.context { context in
      context.maximumStaleValueAge = maximumAge
      context.freshnessRecord(of: self).configure {
        $0.patience = patience
        $0.maximumAge = maximumAge.seconds
        $0.retryPause = period.seconds
      }
    }
  }

  /// Answers callers with a failure for some time after it, without a run, as if they had asked themselves.
  ///
  /// ```swift
  /// let query = PostQuery(id: 1).cachesFailures(for: .seconds(30)) { $0 is PostMissing }
  /// ```
  ///
  /// The callers are those of `fetch` and `run`, `client.ensureValue(for:)`, reads with a maximal age, prefetches, and
  /// derived queries; a new subscriber starts no run. With `.servesStale(onFailureFor:)` or its relatives, a caller gets the last
  /// value in place of the failure. The time counts from the last failure, by the clock of the context. A new value ends
  /// it, as do a reset and an invalidation. Polling, reruns on a change, and tasks made with `fetchTask()` ask again in
  /// any case. A run that was cancelled has not failed, nor has one that was rejected before it began, for example by an
  /// open circuit breaker.
  ///
  /// - Parameters:
  ///   - duration: How long a failure is the answer. A negative one is reported and counts as zero.
  ///   - isCached: Whether a failure is an answer at all; by default each is. Called with no lock held, for each caller.
  /// - Returns: The operation, whose failures answer further callers.
  public func cachesFailures(
    for duration: Duration,
    when isCached: @escaping @Sendable (State.Failure) -> Bool = { _ in true }
  ) -> ContextModifiedOperation<Self> {
    let duration = duration.reportedIfNegative(in: "cachesFailures(for:when:)")
    return self.context { context in
      context.freshnessRecord(of: self).configure {
        $0.cachedFailures = CachedFailures(seconds: duration.seconds) { ($0 as? State.Failure).map(isCached) ?? false }
      }
    }
    .written(".cachesFailures(for: \(duration.roundedText))")
  }
}

extension Duration {
  /// The argument as it is written; empty for zero, which is the default.
  fileprivate var asRetryArgument: String { self > .zero ? ", retriesAfter: \(self.roundedText)" : "" }
}
