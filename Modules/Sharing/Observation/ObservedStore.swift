internal import Observation
internal import OperationCore

/// A store whose state is observed property by property.
///
/// Created on the main actor, it keeps a state for the readers on the main actor, which changes only there: code on the
/// main actor never sees a state change between two of its reads, unless it caused the change itself. All other readers
/// read the state of the store, and so does a reader with exclusive access to the store.
///
/// The store is never used with the lock of this object held: a thread with exclusive access may wait for that lock.
final class ObservedStore<State: OperationState & Sendable>: Sendable {
  struct Guarded: Sendable {
    /// The store; nil while the wrapper has none.
    var store: OperationStore<State>?
    /// The state that observers were last notified of.
    var shown: ObservedState<State>
    /// The number of changes of `store` and `shown`.
    var version: UInt64 = 0
    var subscription: OperationSubscription?
    /// The properties that were read.
    var properties: [PropertyName: ObservedProperty<State>]
    /// The number of changes of `properties`.
    var propertiesVersion = 0
    /// Whether a job on the main actor is about to update the state.
    var isUpdateScheduled = false
  }

  let registrar = ObservationRegistrar()
  let guarded: Locked<Guarded>
  /// Whether the state for the readers on the main actor changes on the main actor only.
  let followsMainActor: Bool

  /// Creates an object that observes no store yet.
  init(
    unbackedState state: State,
    isolation: (any Actor)?,
    properties: [PropertyName: ObservedProperty<State>] = [:]
  ) {
    self.guarded = Locked(Guarded(shown: ObservedState(state: state), properties: properties))
    self.followsMainActor = isolation === MainActor.shared
  }

  /// Creates an object that observes a store, and subscribes to the store.
  convenience init(
    _ store: OperationStore<State>,
    isolation: (any Actor)?,
    properties: [PropertyName: ObservedProperty<State>] = [:]
  ) {
    self.init(unbackedState: store.state, isolation: isolation, properties: properties)
    self.follow(store, isolation: isolation)
  }

  /// The store; nil while there is none.
  var store: OperationStore<State>? { self.guarded.withLock { $0.store } }

  /// Subscribes to a store in place of the current one.
  func follow(_ store: OperationStore<State>, isolation: (any Actor)?) {
    // Subscribes to the new store before it leaves the old one: nothing is cancelled if they are the same.
    let handler = OperationEventHandler<State>(onStateChanged: { [weak self] _, _ in self?.storeChanged() })
    let subscription = store.subscribe(with: handler, isolation: isolation)
    self.guarded.withLock { guarded, released in
      released.append(guarded.store)
      released.append(guarded.subscription)
      guarded.store = store
      guarded.subscription = subscription
      guarded.version += 1
    }
    self.update()
  }
}

extension ObservedStore {
  /// The state that the current reader sees.
  var state: State {
    let (store, state) = self.guarded.withLock { ($0.store, $0.shown.state) }
    guard let store else { return state }
    let showsCopy = self.followsMainActor && MainActor.isCurrent && !store.isExclusivelyAccessed
    return showsCopy ? state : store.state
  }

  /// Updates the state after a change of the store, on the main actor if the readers there follow it.
  private func storeChanged() {
    guard self.followsMainActor, !MainActor.isCurrent else { return self.update() }
    let isScheduled = self.guarded.withLock { guarded in
      defer { guarded.isUpdateScheduled = true }
      return guarded.isUpdateScheduled
    }
    guard !isScheduled else { return }
    Task { @MainActor [weak self] in
      guard let self else { return }
      self.guarded.withLock { $0.isUpdateScheduled = false }
      self.update()
    }
  }

  /// Updates the state for the main actor after a call of the store, so that the caller sees the effect of the call.
  func catchUp() async {
    guard self.followsMainActor else { return }
    await MainActor.run { self.update() }
  }
}

extension ObservedState {
  /// The current state of a store.
  init(_ store: OperationStore<State>) {
    let (state, uncountedChanges) = store.stateAndUncountedChanges
    self.init(state: state, uncountedChanges: uncountedChanges)
  }
}
