internal import OperationCore
internal import OperationFoundation

extension FreshnessRecord: StoreCallInterceptor {
  nonisolated(nonsending) func call(_ call: StoreCall) async -> StoreCallAnswer {
    if Task.isCancelled { return await call.proceed() }
    if call.needsRun, let answer = self.answerOfRest(call) { return answer }
    if !self.remembersFailures { return await self.answer(call) }
    let invalidations = self.invalidations
    let answer = await self.answer(call)
    self.noteFailure(answer, of: call, afterInvalidations: invalidations)
    return answer
  }

  func mayRefresh(_ store: StoreReference, because cause: OperationRunCause) -> Bool {
    let context = store.context
    guard let rest = self.rest(at: context.date), rest.isPause else { return true }
    if rest.isAnswer { return false }
    guard let store = store.store, !store.isInvalidated else { return true }
    return self.read(store.stateWithoutLayers, at: context.date).map { !self.mayServeAfterFailure($0) } ?? true
  }

  private nonisolated(nonsending) func answer(_ call: StoreCall) async -> StoreCallAnswer {
    if !self.mayAnswer(call) { return await call.proceed() }
    if let answer = self.answerAtOnce(call) { return call.needsRun ? answer : await call.proceed() }
    if !call.needsRun { return await call.proceed() }
    if let patience = self.configuration.patience, await call.proceed(within: patience) == nil, !Task.isCancelled,
      let stale = await self.staleAnswer(to: call, .slowRun)
    {
      return stale
    }
    let answer = await call.proceed()
    guard answer.outcome.error != nil, !answer.outcome.isCancellation, !Task.isCancelled else { return answer }
    return await self.staleAnswer(to: call, .failure) ?? answer
  }

  /// Whether the caller may get the value of the state, or may get it while a run begins behind it.
  private func mayAnswer(_ call: StoreCall) -> Bool {
    switch call.demand {
    case .run: true
    // A value that was asked for although it is stale has a run behind it already.
    case .value: call.needsRun || call.state.map { !call.context.isStale($0) } ?? false
    case .notOlder: !call.needsRun
    case .refresh: false
    }
  }

  /// The value of the state, as a call reads it.
  private struct Read {
    let state: any OperationState & Sendable
    let key: ValueKey
    let entry: Entry?
    /// The time since the value was set, in seconds.
    let age: Double

    /// The age of the value with its age on arrival.
    var fullAge: Double { self.age + (self.entry?.initialAge ?? 0) }

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

  /// Nil without a value, and while an invalidation is unanswered.
  private func read(_ call: StoreCall) -> Read? {
    call.state.flatMap { self.read($0, at: call.context.date) }
  }

  private func read(_ state: any OperationState & Sendable, at date: Date) -> Read? {
    guard let key = ValueKey(any: state) else { return nil }
    let age = date.timeIntervalSince(key.date)
    // A date in the future: the clock was set back, so the age is unknown.
    return age >= 0 ? Read(state: state, key: key, entry: self.entry(of: key), age: age) : nil
  }

  /// The answer to a call behind which a run begins; nil if the call waits for its run.
  private func answerAtOnce(_ call: StoreCall) -> StoreCallAnswer? {
    guard let read = self.read(call) else { return nil }
    if !call.context.isStale(read.state) {
      guard let share = self.configuration.earlyStart, let period = call.context.freshPeriod(of: read.state),
        period.age(at: call.context.date) >= period.seconds * share,
        let answer = ServedValue.answer(to: call, with: read.state)
      else { return nil }
      if self.rest(at: call.context.date)?.isEarlyPause == true { return answer }
      call.proceedBehind(cause: .earlyRefresh)
      call.send(self.makeNotice(.refreshedEarly, ["freshness.age": .duration(.seconds(read.age))]))
      return answer
    }
    // Stale by another rule, it is not the server's to say that it may be used.
    guard read.isWithin(\.staleWhileRevalidate), !call.context.isStale(read.state, besides: self) else { return nil }
    return self.answer(to: call, with: read, .revalidation) {
      self.rest(at: call.context.date)?.isPause == true ? nil : call.proceedBehind(cause: .refreshBehind)
    }
  }

  /// The value in place of a failure or a long wait; nil if it may not be used.
  private nonisolated(nonsending) func staleAnswer(
    to call: StoreCall,
    _ reason: OperationServedStale.Reason
  ) async -> StoreCallAnswer? {
    await call.stateWasRestored()
    guard let read = self.read(call), reason == .failure ? self.mayServeAfterFailure(read) : self.mayServe(read) else {
      return nil
    }
    return self.answer(to: call, with: read, reason) { call.runContext }
  }

  private func mayServe(_ read: Read) -> Bool {
    self.configuration.maximumAge.map { read.mayBeStale && read.fullAge <= $0 } ?? false
  }

  private func mayServeAfterFailure(_ read: Read) -> Bool {
    self.mayServe(read) || read.isWithin(\.staleIfError)
  }

  /// The answer to a call soon after a failure, without a run; nil if the call goes on.
  private func answerOfRest(_ call: StoreCall) -> StoreCallAnswer? {
    guard let rest = self.rest(at: call.context.date), rest.isPause else { return nil }
    switch call.demand {
    case .run, .value:
      if let read = self.read(call), self.mayServeAfterFailure(read) {
        return self.answer(to: call, with: read, .failure) { nil }
      }
    // The caller accepts no older value, or reads the state by itself.
    case .notOlder, .refresh: break
    }
    guard rest.isAnswer, let answer = call.answer(throwing: rest.failure.error) else { return nil }
    call.send(self.makeNotice(.cachedFailure, ["freshness.age": .duration(.seconds(rest.age))]))
    return answer
  }

  /// Answers with a stale value, and lets a notice and the run that goes on tell of it.
  private func answer(
    to call: StoreCall,
    with read: Read,
    _ reason: OperationServedStale.Reason,
    run: () -> OperationContext?
  ) -> StoreCallAnswer? {
    let served = OperationServedStale(reason: reason, age: .seconds(read.fullAge))
    var entries = OperationContext()
    entries.setServedStale(served)
    guard let answer = ServedValue.answer(to: call, with: read.state, entries: entries) else { return nil }
    run()?.addServedStaleToOutcome(served)
    self.noteServed(at: call.context.date)
    let attributes: [String: OperationNotice.Value] = [
      "freshness.reason": .string(reason.description), "freshness.age": .duration(served.age),
    ]
    call.send(self.makeNotice(.servedStale, attributes))
    return answer
  }
}

/// The value of a state whose types are unknown.
enum ServedValue {
  /// An answer with the value; nil without one.
  static func answer(
    to call: StoreCall,
    with state: any OperationState & Sendable,
    entries: OperationContext = OperationContext()
  ) -> StoreCallAnswer? {
    func answer(_ state: some ValueServingState) -> StoreCallAnswer? {
      state.servedValue.flatMap { call.answer($0, entries: entries) }
    }
    return (state as? any ValueServingState).flatMap { answer($0) }
  }

  /// The value of a state, if it has this type.
  static func value<Value>(of state: any OperationState, as type: Value.Type) -> Value? {
    (state as? any ValueServingState)?.servedValue as? Value
  }
}

// MARK: - What servers say

extension FreshnessRecord: StoreValueObserver {
  var observedEvents: StoreEvent.Kinds { [] }

  func storeShows(_ shown: ShownState, of store: StoreReference) -> (any Sendable)? {
    if let context = shown.resultContext {
      self.note(shown, as: shown.type, context)
    } else {
      self.noteTakenBack(shown, as: shown.type)
    }
    return self.remembersFailures ? self.noteFailure(shown, as: shown.type) : nil
  }

  /// Forgets the values that a reset or a rollback has taken back: later values get their counts, and with a clock that stands
  /// still would be taken for them.
  private func noteTakenBack<State: OperationState & Sendable>(_ shown: ShownState, as type: State.Type) {
    if let count = shown.confirmedState(as: State.self)?.valueUpdateCount { self.forgetValues(after: count) }
  }

  // A generic parameter, so that the type is opened.
  private func note<State: OperationState & Sendable>(
    _ shown: ShownState,
    as type: State.Type,
    _ context: OperationContext
  ) {
    // An error sets no value.
    guard let state = shown.confirmedState(as: State.self), state.error == nil else { return }
    self.valueWasSet(in: state, by: context, isWhole: shown.isWholeResult)
  }

  func receive(_ event: StoreEvent, of store: StoreReference) {}
}

extension FreshnessRecord {
  private func valueWasSet(in state: any OperationState & Sendable, by context: OperationContext, isWhole: Bool) {
    guard let key = ValueKey(any: state),
      let handed = context.handedFreshness ?? self.handed(by: context.operationRunningTaskIdentifier),
      let freshness = handed.freshness
    else { return }
    let since = key.date.timeIntervalSince(handed.date)
    // By a clock that is no number, no time has passed.
    let age = freshness.age(receivedAt: handed.date).seconds + (since > 0 ? since : 0)
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
