internal import OperationCore
internal import OperationFoundation

extension FreshnessRecord: CallAnswering {
  var patience: Duration? { self.configuration.patience }

  func answer(
    at occasion: CallOccasion,
    with state: any OperationState & Sendable,
    in context: OperationContext
  ) -> CallAnswer? {
    guard let key = ValueKey(any: state), let outcome = ServedValue.outcome(of: state) else { return nil }
    let read = Read(key: key, entry: self.entry(of: key), age: context.date.timeIntervalSince(key.date))
    // A date in the future: the clock was set back, so the age is unknown.
    guard read.age >= 0 else { return nil }
    switch occasion {
    case .beforeRun: return self.answerBeforeRun(read, outcome, state, context)
    case .slowRun: return self.mayServe(read) ? self.stale(outcome, .slowRun, read) : nil
    case .failure:
      return self.mayServe(read) || read.isWithin(\.staleIfError) ? self.stale(outcome, .failure, read) : nil
    }
  }

  /// A value that is being read, and what is known about it.
  private struct Read {
    let key: ValueKey
    let entry: Entry?
    /// The time since the value was set, in seconds.
    let age: Double

    /// Whether the value may be used if it is stale.
    var mayBeStale: Bool {
      guard let entry, entry.freshness.forbidsStaleUse else { return true }
      return self.age < entry.seconds ?? 0
    }

    /// Whether the value is not stale for longer than a server permits.
    func isWithin(_ window: KeyPath<OperationHTTPFreshness, Duration?>) -> Bool {
      guard let entry, let seconds = entry.seconds, let window = entry.freshness[keyPath: window] else { return false }
      return self.age < seconds + window.seconds
    }
  }

  private func answerBeforeRun(
    _ read: Read,
    _ outcome: RunOutcome,
    _ state: any OperationState & Sendable,
    _ context: OperationContext
  ) -> CallAnswer? {
    if !context.isStale(state) {
      guard let share = self.configuration.earlyShare, let period = context.freshPeriod(of: state),
        period.age(at: context.date) >= period.seconds * (1 - share)
      else { return nil }
      let notice = self.makeNotice(.refreshedEarly, ["freshness.age": .duration(.seconds(read.age))])
      return CallAnswer(outcome: outcome, entries: OperationContext(), notice: notice, cause: .earlyRefresh)
    }
    // Stale by another rule, it is not the server's to say that it may be used.
    guard read.isWithin(\.staleWhileRevalidate), !context.isStale(state, besides: self) else { return nil }
    return self.stale(outcome, .revalidation, read)
  }

  private func mayServe(_ read: Read) -> Bool {
    guard let maximumAge = self.configuration.maximumAge else { return false }
    return read.mayBeStale && read.age + (read.entry?.initialAge ?? 0) <= maximumAge
  }

  private func stale(_ outcome: RunOutcome, _ reason: OperationServedStale.Reason, _ read: Read) -> CallAnswer {
    let served = OperationServedStale(reason: reason, age: .seconds(read.age + (read.entry?.initialAge ?? 0)))
    var entries = OperationContext()
    entries.setServedStale(served)
    let notice = self.makeNotice(
      .servedStale,
      ["freshness.reason": .string(reason.description), "freshness.age": .duration(served.age)]
    )
    return CallAnswer(outcome: outcome, entries: entries, notice: notice)
  }

  func willGive(_ answer: CallAnswer, in context: OperationContext, run: OperationContext?) {
    if let run, let served = answer.entries.servedStale { run.addServedStaleToOutcome(served) }
  }
}

// MARK: - What servers say

extension FreshnessRecord {
  func valueWasSet(in state: any OperationState & Sendable, by context: OperationContext, isWhole: Bool) {
    guard let key = ValueKey(any: state),
      let handed = context.handedFreshness ?? self.handed(by: context.operationRunningTaskIdentifier),
      let freshness = handed.freshness
    else { return }
    let age = freshness.age(receivedAt: handed.date).seconds + max(key.date.timeIntervalSince(handed.date), 0)
    var seconds = freshness.lifetime(receivedAt: handed.date).map { $0.seconds - age }
    // The whole is fresh for as long as each of its parts, which count from the date of the oldest.
    if !isWhole, let parts = self.lastEntry?.end {
      let setAt = max(context.date.timeIntervalSince(key.date), 0)
      seconds = min(seconds.map { $0 + setAt } ?? .infinity, max(parts.timeIntervalSince(key.date), 0))
    }
    self.keep(Entry(key: key, freshness: freshness, initialAge: age, seconds: seconds))
  }

  /// The fresh period of a value by what a server has said, or by the given duration if it has said nothing.
  ///
  /// - Parameters:
  ///   - key: The value.
  ///   - otherwise: The duration in seconds; nil for a value that is stale at once.
  ///   - jitter: Shortens the period.
  /// - Returns: The period.
  func freshPeriod(of key: ValueKey, otherwise: Double?, _ jitter: FreshnessJitter) -> FreshPeriod {
    let seconds = self.entry(of: key)?.seconds ?? otherwise ?? 0
    return FreshPeriod(start: key.date, seconds: jitter.shortened(seconds, of: key))
  }
}

extension FreshnessRecord.Entry {
  /// When the value becomes stale; nil if that is unknown.
  var end: Date? { self.seconds.map { self.key.date.addingTimeInterval($0) } }
}
