internal import OperationCore
internal import Synchronization

/// What a run has read of a source.
protocol Reading: AnyObject, Sendable {
  /// Identifies the store while that exists.
  var storeID: ObjectIdentifier { get }
  /// The store; nil once it has been released.
  var source: (any Source)? { get }
  /// Whether the source was not invalidated since, or its answer to that equals what was read.
  func answersInvalidations() -> Bool
  /// Whether the run has read the whole state, and waited for nothing.
  var isOfState: Bool { get }
  /// What a value that is made of the reading is at best.
  var valueStamp: ValueStamp { get }

  /// Whether the store shows what the run has read, or something equal. Calls `==` of the value, or of what the run has
  /// selected of it.
  func isCurrent() -> Bool

  /// This reading and an earlier one of the same store as one, which is current if both are.
  func combined(with former: any Reading) -> any Reading
}

extension Reading {
  /// Whether the reading is current, its store is the one of the client, and it was not invalidated since.
  func isConsistent() -> Bool {
    guard let source = self.source, source.isInClient else { return false }
    return (self.isOfState || self.answersInvalidations()) && self.isCurrent()
  }
}

/// What a run takes of a value, so that other parts of the value may change.
struct Selection<Value>: Sendable {
  /// Returns for a value whether another one is as good.
  let comparison: @Sendable (Value) -> @Sendable (Value) -> Bool

  init<Selected: Equatable & Sendable>(_ select: @escaping @Sendable (Value) -> Selected) {
    self.comparison = { value in
      let selected = select(value)
      return { select($0) == selected }
    }
  }
}

/// What a run has read of a store with a state of one type.
final class StoreReading<State: OperationState & Sendable>: Reading {
  /// The numbers of the state that was read.
  private struct Stamp: Equatable, Sendable {
    let store: StoreStamp
    /// For a reading of the whole state, whether a run was under way, and whether it was paused.
    let isLoading: Bool
    let isPaused: Bool
  }

  private weak let store: OperationStore<State>?
  let storeID: ObjectIdentifier
  /// The number of the source's last invalidation that the reading answers.
  private let invalidation: Atomic<Int>
  let isOfState: Bool
  private let state: State
  private let stamp: Locked<Stamp>
  /// Whether a value has the parts that the run has selected; nil if the run has read the whole value.
  private let selections: [@Sendable (State.StateValue) -> Bool]?

  /// Reads a store.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - invalidation: The number of the store's last invalidation before the run that refreshed the value.
  ///   - isOfState: Whether the whole state is read.
  ///   - selection: What the run takes of the value; nil for the whole value.
  init(
    of store: OperationStore<State>,
    invalidation: Int,
    isOfState: Bool,
    selecting selection: Selection<State.StateValue>? = nil
  ) {
    let (state, stamp) = store.stateAndStamp
    self.store = store
    self.storeID = ObjectIdentifier(store)
    self.invalidation = Atomic(invalidation)
    self.isOfState = isOfState
    self.state = state
    self.stamp = Locked(Self.stamp(of: state, stamp, isOfState: isOfState))
    self.selections = selection.map { [$0.comparison(state.currentValue)] }
  }

  private init(
    _ reading: StoreReading,
    with former: StoreReading,
    _ selections: [@Sendable (State.StateValue) -> Bool]
  ) {
    self.store = reading.store
    self.storeID = reading.storeID
    // The earlier one, so that an invalidation between the two counts.
    self.invalidation = Atomic(former.invalidation.load(ordering: .relaxed))
    self.isOfState = false
    self.state = reading.state
    self.stamp = Locked(reading.stamp.withLock { $0 })
    self.selections = selections
  }

  func combined(with former: any Reading) -> any Reading {
    // A reading of the value and one of the state: the state says more.
    if self.isOfState != former.isOfState { return self.isOfState ? self : former }
    guard let former = former as? StoreReading, let earlier = former.selections else { return former }
    guard let selections = self.selections else { return self }
    return StoreReading(self, with: former, earlier + selections)
  }

  var source: (any Source)? { self.store }

  var valueStamp: ValueStamp {
    Self.stampOfResult(of: self.state, self.stamp.withLock { $0.store.value }, isOfState: self.isOfState)
  }

  /// The stamp of a value that is made of a reading.
  ///
  /// What is made of a fallback is one. What is made of a whole state is unconfirmed where that state has no value that a
  /// run has returned, because the reader did not wait for one.
  private static func stampOfResult(of state: State, _ source: ValueStamp, isOfState: Bool) -> ValueStamp {
    var stamp = ValueStamp(.final, isUnconfirmed: source.isUnconfirmed)
    stamp.staysInStore = source.staysInStore
    if source.kind == .fallback {
      stamp.kind = .fallback
      stamp.freshness = source.freshness
    }
    if isOfState, state.isLoading || state.error != nil || source.kind <= .partial { stamp.isUnconfirmed = true }
    return stamp
  }

  /// The value that was read, or the error if that was set after the value.
  var value: Result<State.StateValue, State.Failure> {
    self.state.error.map { .failure($0) } ?? .success(self.state.currentValue)
  }

  /// Whether the store was reset, and has no result again.
  ///
  /// - Parameter stamp: The numbers of the store before the run that was to bring a result; nil if it had one.
  /// - Returns: Whether it was.
  func wasReset(since stamp: StoreStamp?) -> Bool {
    !self.state.hasResult && self.stamp.withLock { $0.store } != stamp
  }

  /// The state that was read.
  var readState: State { self.state }

  func answersInvalidations() -> Bool {
    guard let store = self.store else { return false }
    let last = store.lastInvalidation
    if self.invalidation.load(ordering: .relaxed) == last { return true }
    // In this order: a value that is shown once the invalidation is answered has seen it.
    guard !store.isInvalidated, self.isCurrent() else { return false }
    self.invalidation.max(last, ordering: .relaxed)
    return true
  }

  func isCurrent() -> Bool {
    guard let store = self.store else { return false }
    let (state, storeStamp) = store.stateAndStamp
    let (now, then) = (Self.stamp(of: state, storeStamp, isOfState: self.isOfState), self.stamp.withLock { $0 })
    if now == then { return true }
    guard now.isLoading == then.isLoading, now.isPaused == then.isPaused else { return false }
    guard self.state.error == nil, state.error == nil else { return false }
    // A state that never had a value differs from one whose value was set.
    guard (self.state.valueUpdateCount == 0) == (state.valueUpdateCount == 0) else { return false }
    guard self.isEqual(state.currentValue) else { return false }
    self.stamp.withLock { $0 = now }
    return true
  }

  /// Whether a value equals the one that was read, or has the parts that were selected.
  private func isEqual(_ value: State.StateValue) -> Bool {
    guard let selections = self.selections else { return areEqual(self.state.currentValue, value) }
    return selections.allSatisfy { $0(value) }
  }

  private static func stamp(of state: State, _ stamp: StoreStamp, isOfState: Bool) -> Stamp {
    Stamp(store: stamp, isLoading: isOfState && state.isLoading, isPaused: isOfState && state.isPaused)
  }
}

/// Whether two values are equal. False if their type is not `Equatable`.
private func areEqual<Value>(_ one: Value, _ other: Value) -> Bool {
  func isEqual<Equal: Equatable>(_ one: Equal) -> Bool { (other as? Equal) == one }
  return (one as? any Equatable).map { isEqual($0) } ?? false
}
