internal import OperationCore
internal import OperationFoundation

/// What a run has said about the freshness of its value.
struct HandedFreshness: Sendable {
  /// What it has said; nil for nothing.
  let freshness: OperationHTTPFreshness?
  /// When it has said so.
  let date: Date
  /// The run, as contexts of events are passed on to other runs.
  let run: OperationTaskIdentifier?
}

/// What one attempt says about the freshness of its value, while it runs.
final class FreshnessBox: Sendable {
  private struct State: Sendable {
    var handed: HandedFreshness?
    /// The value of the store to ask the server about, from the first time that the attempt has asked for it.
    var asked: Asked?
    var isRevalidated = false
  }

  /// A value of the store, and what its run has said about it.
  struct Asked: Sendable {
    let key: ValueKey
    let state: any OperationState & Sendable
    let freshness: OperationHTTPFreshness
  }

  /// The context of the attempt.
  private let context: OperationContext
  private let state = Locked(State())

  init(for context: OperationContext) {
    self.context = context
  }

  /// The run of the attempt.
  var run: OperationTaskIdentifier? { self.context.operationRunningTaskIdentifier }

  var freshness: OperationHTTPFreshness? {
    get { self.state.withLock { $0.handed?.freshness } }
    set {
      let handed = newValue.map { HandedFreshness(freshness: $0, date: self.context.date, run: self.run) }
      self.state.withLock { $0.handed = handed }
    }
  }

  /// The value that the store has, with the validators that its run has handed over; nil if there are none to ask with.
  var asked: Asked? {
    if let known = self.state.withLock({ $0.asked }) { return known }
    guard let record = self.context.knownFreshnessRecord,
      let state = self.context.runningOperationStore?.stateWithoutLayers, let key = ValueKey(any: state),
      let entry = record.entry(of: key), entry.freshness.validators != nil, !entry.freshness.forbidsStorage
    else { return nil }
    let asked = Asked(key: key, state: state, freshness: entry.freshness)
    return self.state.withLock { state in
      if state.asked == nil { state.asked = asked }
      return state.asked
    }
  }

  /// Notes that the server has confirmed the value that it was asked about. Returns the value, if it has this type.
  func revalidated<Value>(as type: Value.Type) -> Value? {
    guard let asked = self.state.withLock({ $0.asked }), let value = ServedValue.value(of: asked.state, as: type) else {
      return nil
    }
    self.state.withLock { $0.isRevalidated = true }
    return value
  }
}

// MARK: - The end of an attempt

extension FreshnessBox {
  /// Whether the attempt does one of several parts of its run, whose values make up one value.
  private var isPart: Bool { self.context.runAttachment?.mayHaveParts ?? false }

  /// Removes what an earlier attempt has handed over.
  func forgetEarlierAttempt() {
    if self.isPart { return }
    self.context.removeHandedFreshness()
    self.context.forgetRenewal()
  }

  private var outcome: (handed: HandedFreshness?, renewed: ValueKey?) {
    let state = self.state.withLock { $0 }
    guard state.isRevalidated, let asked = state.asked else { return (state.handed, nil) }
    let handed = HandedFreshness(
      freshness: asked.freshness.confirmed(by: state.handed?.freshness),
      date: state.handed?.date ?? self.context.date,
      run: self.run
    )
    return (handed, asked.key)
  }

  /// Hands over what the attempt has said, after it has returned its value.
  func handOver() {
    let (handed, renewed) = self.outcome
    if let renewed { self.context.renewValue(withCount: renewed.count) }
    guard let handed else { return }
    if self.isPart, let earlier = self.context.handedFreshness, earlier.isShorter(than: handed) { return }
    self.context.handOver(handed)
  }

  /// The context of a yield, with what the attempt has said so far.
  func marked(_ context: OperationContext?) -> OperationContext? {
    guard let handed = self.outcome.handed else { return context }
    self.context.noteStorage(by: handed)
    var context = context ?? OperationContext()
    context.yieldedFreshness = handed
    return context
  }
}

extension HandedFreshness {
  /// Whether a value is stale earlier by this than by another one. An unknown end counts as the latest.
  func isShorter(than other: HandedFreshness) -> Bool {
    guard let end = self.end else { return false }
    return other.end.map { end < $0 } ?? true
  }

  private var end: Date? {
    guard let freshness, let lifetime = freshness.lifetime(receivedAt: self.date) else { return nil }
    return self.date.addingTimeInterval((lifetime - freshness.age(receivedAt: self.date)).seconds)
  }
}
