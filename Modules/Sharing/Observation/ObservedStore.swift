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
    /// The number of stores that were followed before `store`.
    var moves: UInt64 = 0
    /// What is shown while `store` has no value.
    var substitutes: Substitutes<State.StateValue>
    /// The number of changes of `store` and `shown`.
    var version: UInt64 = 0
    var subscription: OperationSubscription?
    /// The properties that were read.
    var properties: [PropertyName: ObservedProperty<State>]
    /// The number of changes of `properties`.
    var propertiesVersion = 0
  }

  let registrar = ObservationRegistrar()
  let guarded: Locked<Guarded>
  /// Whether the state for the readers on the main actor changes on the main actor only.
  let followsMainActor: Bool
  /// Whether the last value is shown until another operation, which is then followed, has one.
  let keepsPrevious: Bool

  /// Creates an object that observes no store yet.
  init(
    unbackedState state: State,
    isolation: (any Actor)?,
    properties: [PropertyName: ObservedProperty<State>] = [:],
    keepsPrevious: Bool = false,
    placeholder: State.StateValue? = nil
  ) {
    let substitutes = Substitutes(placeholder: placeholder)
    let shown = ObservedState(state: state, substitutes: substitutes)
    self.guarded = Locked(Guarded(shown: shown, substitutes: substitutes, properties: properties))
    // The initial value of a stored property is made without isolation, also in a class on the main actor.
    self.followsMainActor = isolation.map { $0 === MainActor.shared } ?? MainActor.isCurrent
    self.keepsPrevious = keepsPrevious
  }

  /// Creates an object that observes a store, and subscribes to the store.
  convenience init(
    _ store: OperationStore<State>,
    isolation: (any Actor)?,
    properties: [PropertyName: ObservedProperty<State>] = [:],
    keepsPrevious: Bool = false,
    placeholder: State.StateValue? = nil
  ) {
    self.init(
      unbackedState: store.state,
      isolation: isolation,
      properties: properties,
      keepsPrevious: keepsPrevious,
      placeholder: placeholder
    )
    self.follow(
      store,
      isolation: self.followsMainActor ? MainActor.shared : isolation,
      substitutes: Substitutes(placeholder: placeholder)
    )
  }

  /// The store; nil while there is none.
  var store: OperationStore<State>? { self.guarded.withLock { $0.store } }

  /// Subscribes to a store in place of the current one.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - isolation: The actor of the caller, on which a run does not begin.
  ///   - former: The store that must be the current one; nil for any.
  ///   - substitutes: What is shown while the store has no value.
  func follow(
    _ store: OperationStore<State>,
    isolation: (any Actor)?,
    after former: OperationStore<State>? = nil,
    substitutes: Substitutes<State.StateValue>
  ) {
    // Subscribes to the new store before it leaves the old one: nothing is cancelled if they are the same.
    let handler = OperationEventHandler<State>(
      onStateChanged: { [weak self, weak store] _, _ in self?.changed(store) },
      onStoreRemoved: { [weak self, weak store] _ in
        if let store { self?.storeWasRemoved(store) }
      }
    )
    let subscription = store.subscribe(with: handler, isolation: isolation)
    let isFollowed = self.guarded.withLock { guarded, released in
      if let former, guarded.store !== former {
        released.append(subscription)
        return false
      }
      released.append(guarded.store)
      released.append(guarded.subscription)
      released.append(guarded.substitutes)
      if guarded.store !== store { guarded.moves += 1 }
      guarded.store = store
      guarded.subscription = subscription
      guarded.substitutes = substitutes
      guarded.version += 1
      return true
    }
    guard isFollowed else { return }
    self.update()
    // Its handler was called before the store was the current one.
    if store.isRemoved { self.storeWasRemoved(store) }
  }

  /// Follows the client's next store at the path of one that the client has removed.
  private func storeWasRemoved(_ removed: OperationStore<State>) {
    self.performForReaders { $0.forgetPrevious(beside: removed) }
    removed.withNextStore { [weak self] next in self?.performForReaders { $0.attach(to: next, after: removed) } }
  }

  /// Performs an action that notifies readers: on the main actor, if the readers there follow it.
  private func performForReaders(_ action: @escaping @Sendable (ObservedStore) -> Void) {
    guard self.followsMainActor, !MainActor.isCurrent else { return action(self) }
    Task { @MainActor [weak self] in
      if let self { action(self) }
    }
  }

  /// Shows the value of the operation before no more: it may be one of the user whom the client forgets.
  private func forgetPrevious(beside store: OperationStore<State>) {
    self.change { guarded in
      guard guarded.store === store else { return }
      guarded.substitutes.previous = nil
      guarded.shown.substitutes = guarded.substitutes
    }
  }

  private func attach(to next: OperationStore<State>, after removed: OperationStore<State>) {
    // The value of the removed store is not shown in place of a missing one: the client was to forget it.
    let placeholder = self.guarded.withLock { $0.substitutes.placeholder }
    self.follow(
      next,
      isolation: MainActor.shared,  // A run does not begin inside of the removal.
      after: removed,
      substitutes: Substitutes(placeholder: placeholder)
    )
  }
}

extension ObservedStore {
  /// The state that the current reader sees, without what is shown in place of a missing value.
  var state: State { self.current.state }

  /// The state that the current reader sees, and what is shown in place of a missing value.
  var current: ObservedState<State> {
    let (store, shown, substitutes) = self.guarded.withLock { ($0.store, $0.shown, $0.substitutes) }
    guard let store else { return shown }
    let showsCopy = self.followsMainActor && MainActor.isCurrent && !store.isExclusivelyAccessed
    return showsCopy ? shown : ObservedState(state: store.state, substitutes: substitutes)
  }

  /// Updates the state after a change of the store, on the main actor if the readers there follow it.
  private func changed(_ store: OperationStore<State>?) {
    guard self.followsMainActor, !MainActor.isCurrent, let store else { return self.update() }
    MainActorUpdates.add(self, after: store) { [weak self, weak store] in
      guard let store else { return nil }
      let newest = ObservedState(store)
      return MainActorUpdates.Update(storeID: ObjectIdentifier(store), version: newest.version) { [weak store] in
        guard let self, let store else { return }
        self.show(newest, of: store)
      }
    }
  }

  /// Updates the state for the main actor after a call of the store, so that the caller sees the effect of the call.
  nonisolated(nonsending) func catchUp() async {
    guard self.followsMainActor else { return }
    await MainActor.run { self.update() }
  }
}

extension ObservedState {
  /// The current state of a store.
  init(_ store: OperationStore<State>) {
    let (state, uncountedChanges, version) = store.stateAndUncountedChanges
    self.init(state: state, uncountedChanges: uncountedChanges, version: version)
  }
}
