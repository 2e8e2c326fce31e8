internal import OperationCore

/// The name of a property of a state, as a part of a key path of the object that is observed.
struct PropertyName: Hashable, Sendable {
  let keyPath: any AnyKeyPath & Sendable
}

/// A state, and what distinguishes a value or an error of it from a former one where they cannot be compared.
struct ObservedState<State: OperationState & Sendable>: Sendable {
  var state: State
  /// The number of changes of the value that its count does not include.
  var uncountedChanges: UInt64 = 0
  /// The number of changes of the store. A greater one is a later state of it.
  var version: UInt64 = 0
  /// The number of stores that were followed before: counts of different stores are not compared.
  var moves: UInt64 = 0
  /// What is shown in place of a missing value.
  var substitutes = Substitutes<State.StateValue>()

  /// Whether the value was not set between two states.
  static func haveSameValue(_ old: Self, _ new: Self) -> Bool {
    old.moves == new.moves && old.uncountedChanges == new.uncountedChanges
      && old.state.valueUpdateCount == new.state.valueUpdateCount
      && old.substitute?.isPrevious == new.substitute?.isPrevious
  }

  /// Whether the error was not set between two states.
  static func haveSameError(_ old: Self, _ new: Self) -> Bool {
    old.moves == new.moves && old.uncountedChanges == new.uncountedChanges
      && old.state.errorUpdateCount == new.state.errorUpdateCount
  }
}

/// A property of a state that was read, and so may have readers to notify.
struct ObservedProperty<State: OperationState & Sendable>: Sendable {
  /// Whether the property differs between two consecutive states.
  let hasChanged: @Sendable (ObservedState<State>, ObservedState<State>) -> Bool
}

extension ObservedProperty {
  /// A property that is compared by its value.
  init<Member>(_ keyPath: any KeyPath<State, Member> & Sendable) {
    // The parts of a value may be many, and an object that was changed in place is the same object afterwards.
    let (isOfValue, isOfError) = (keyPath == \State.currentValue, keyPath == \State.error)
    let isOfBoth = keyPath == \State.status
    self.hasChanged = { old, new in
      let (former, current): (Any, Any) =
        isOfValue
        ? (old.shownValue, new.shownValue) : (old.state[keyPath: keyPath], new.state[keyPath: keyPath])
      return !isUnchanged(former, current) { oldPart, newPart in
        guard isOfValue || isOfError || isOfBoth else { return haveSameParts(oldPart, newPart) }
        return (isOfError || ObservedState.haveSameValue(old, new))
          && (isOfValue || ObservedState.haveSameError(old, new))
      }
    }
  }

  /// A property of which only a part is compared.
  init<Part: Equatable & Sendable>(comparing part: @escaping @Sendable (ObservedState<State>) -> Part) {
    self.hasChanged = { old, new in !isUnchanged(part(old), part(new), isSame: haveSameParts) }
  }
}
