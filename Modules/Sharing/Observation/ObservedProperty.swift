internal import OperationCore

/// The name of a property of a state, as a part of a key path of the object that is observed.
struct PropertyName: Hashable, Sendable {
  let keyPath: any AnyKeyPath & Sendable
}

/// A property of a state that was read, and so may have readers to notify.
struct ObservedProperty<State: OperationState & Sendable>: Sendable {
  /// Whether the property differs between two consecutive states.
  let hasChanged: @Sendable (State, State) -> Bool
}

extension ObservedProperty {
  /// A property that is compared by its value.
  init<Member>(_ keyPath: any KeyPath<State, Member> & Sendable) {
    if Member.self is any Equatable.Type || keyPath != \State.currentValue {
      self.hasChanged = { !isUnchanged($0[keyPath: keyPath], $1[keyPath: keyPath]) }
    } else {
      // An object that was changed in place is the same object afterwards; its update shows in the count.
      self.hasChanged = {
        $0.valueUpdateCount != $1.valueUpdateCount || !isUnchanged($0[keyPath: keyPath], $1[keyPath: keyPath])
      }
    }
  }

  /// A property of which only a part is compared.
  init<Part: Equatable & Sendable>(comparing part: @escaping @Sendable (State) -> Part) {
    self.hasChanged = { part($0) != part($1) }
  }
}
