internal import Observation
internal import OperationCore

extension ObservedStore {
  /// Takes the newest state of the store and notifies the observers of the properties that differ.
  ///
  /// The state of an event is not used: it may be older than the one that observers have read already.
  func update() {
    self.change { guarded in
      if let store = guarded.store { guarded.state = store.state }
    }
  }

  /// Changes the state and notifies the observers of the properties that differ.
  ///
  /// The new state is set before the first notification, so that an observer on another thread, which may read at once,
  /// does not miss it.
  func change(_ body: (inout Guarded) -> Void) {
    let (old, new, properties) = self.guarded.withLock { guarded in
      let old = guarded.state
      body(&guarded)
      return (old, guarded.state, guarded.properties)
    }
    for (name, property) in properties where property.hasChanged(old, new) {
      self.registrar.willSet(self, keyPath: \ObservedStore[property: name])
      self.registrar.didSet(self, keyPath: \ObservedStore[property: name])
    }
  }
}

extension ObservedStore {
  /// Takes the store and the state of another object, and notifies the observers of the properties that differ.
  func move(to other: ObservedStore<State>) {
    guard other !== self else { return }
    if let store = other.store {
      self.follow(store, isolation: self.followsMainActor ? MainActor.shared : nil)
    } else {
      let state = other.state
      let left = self.guarded.withLock { guarded in
        let left = (guarded.store, guarded.subscription)
        guarded.store = nil
        guarded.subscription = nil
        return left
      }
      withExtendedLifetime(left) { self.change { $0.state = state } }
    }
  }

  /// Updates the state after a change that the caller made, if another thread has yet to deliver it.
  func followOwnChange() {
    if !self.followsMainActor || MainActor.isCurrent { self.update() }
  }

  /// Changes the state of an object that has no store.
  func changeUnbacked(_ body: (inout State) -> Void) {
    // Changed outside the lock: a state calls code of users, such as the clock of a context.
    var state = self.guarded.withLock { $0.state }
    body(&state)
    self.change { guarded in
      if guarded.store == nil { guarded.state = state }
    }
  }
}
