internal import Observation
internal import OperationCore

extension ObservedStore {
  /// Takes the newest state of the store and notifies the observers of the properties that differ.
  ///
  /// The state of an event is not used: it may be older than the one that observers have read already.
  func update() {
    while true {
      let (store, version) = self.guarded.withLock { ($0.store, $0.version) }
      guard let store else { return }
      // Read without this lock: a thread with exclusive access to the store may be waiting for it. If another thread
      // changes the state meanwhile, this one may be older.
      let newest = ObservedState(store)
      let hasValue = !newest.state.isValueMissing
      if self.change(at: version, { $0.show(newest, hasValue: hasValue) }) { return }
    }
  }

  /// Shows a state that the store had, unless a later one is shown, and notifies the observers of the properties that differ.
  func show(_ state: ObservedState<State>, of store: OperationStore<State>) {
    let hasValue = !state.state.isValueMissing
    self.change { guarded in
      guard guarded.store === store else { return }
      if guarded.shown.moves == guarded.moves, guarded.shown.version > state.version { return }
      guarded.show(state, hasValue: hasValue)
    }
  }

  /// Changes the state and notifies the observers of the properties that differ.
  ///
  /// The new state is set before the first notification, so that an observer on another thread, which may read at once,
  /// does not miss it.
  ///
  /// - Parameters:
  ///   - version: The version for which the change was prepared; nil for any.
  ///   - body: Makes the change. Called with the lock held.
  /// - Returns: Whether the change was made.
  @discardableResult
  func change(at version: UInt64? = nil, _ body: (inout Guarded) -> Void) -> Bool {
    let change = self.guarded.withLock { guarded, released -> Change? in
      if let version, guarded.version != version { return nil }
      let old = guarded.shown
      if guarded.substitutes.first != nil { released.append(guarded.substitutes) }
      body(&guarded)
      guarded.version += 1
      return Change(old: old, new: guarded.shown, properties: guarded.properties)
    }
    guard let change else { return false }
    for (name, property) in change.properties where property.hasChanged(change.old, change.new) {
      self.registrar.willSet(self, keyPath: \ObservedStore[property: name])
      self.registrar.didSet(self, keyPath: \ObservedStore[property: name])
    }
    return true
  }

  private struct Change {
    let old: ObservedState<State>
    let new: ObservedState<State>
    let properties: [PropertyName: ObservedProperty<State>]
  }
}

extension ObservedStore.Guarded {
  fileprivate mutating func show(_ newest: ObservedState<State>, hasValue: Bool) {
    self.shown.state = newest.state
    self.shown.uncountedChanges = newest.uncountedChanges
    self.shown.version = newest.version
    self.shown.moves = self.moves
    if hasValue { self.substitutes.previous = nil }
    self.shown.substitutes = self.substitutes
  }
}

extension ObservedStore {
  /// Takes the store and the state of another object, and notifies the observers of the properties that differ.
  func move(to other: ObservedStore<State>) {
    guard other !== self else { return }
    let placeholder = other.guarded.withLock { $0.substitutes.placeholder }
    if let store = other.store {
      let kept = self.keepsPrevious ? self.guarded.withLock { $0.shown }.valueToKeep : nil
      self.follow(
        store,
        isolation: self.followsMainActor ? MainActor.shared : nil,
        substitutes: Substitutes(previous: kept, placeholder: placeholder)
      )
    } else {
      let state = other.state
      let substitutes = Substitutes(placeholder: placeholder)
      let left = self.guarded.withLock { guarded in
        let left = (guarded.store, guarded.subscription)
        guarded.store = nil
        guarded.subscription = nil
        guarded.version += 1
        guarded.moves += 1
        return left
      }
      withExtendedLifetime(left) {
        _ = self.change { guarded in
          guarded.substitutes = substitutes
          guarded.shown = ObservedState(state: state, moves: guarded.moves, substitutes: substitutes)
        }
      }
    }
  }

  /// Updates the state after a change that the caller made, if another thread has yet to deliver it.
  ///
  /// During exclusive access, which also puts the events off, it is updated when the access ends.
  func followOwnChange() {
    guard !self.followsMainActor || MainActor.isCurrent else { return }
    guard let store = self.store, store.isExclusivelyAccessed else { return self.update() }
    store.performAfterExclusiveAccess { self.update() }
  }

  /// Changes the state of an object that has no store.
  func changeUnbacked(_ body: (inout State) -> Void) {
    // Changed outside the lock: a state calls code of users, such as the clock of a context.
    var state = self.guarded.withLock { $0.shown.state }
    body(&state)
    self.change { guarded in
      if guarded.store == nil { guarded.shown.state = state }
    }
  }
}
