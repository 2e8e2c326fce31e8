internal import OperationCore

/// What readers see while an operation has no value of its own. The store knows nothing of it.
struct Substitutes<Value: Sendable>: Sendable {
  /// The value of the operation before; nil if none is kept. A value may be an optional itself.
  var previous: Value?
  /// The value to show before the first one.
  var placeholder: Value?

  /// The value to show in place of a missing one; nil if there is none.
  var first: Substitute<Value>? {
    if let previous { return .previous(previous) }
    return self.placeholder.map { .placeholder($0) }
  }
}

/// A value that is shown in place of a missing one.
enum Substitute<Value: Sendable>: Sendable {
  case previous(Value)
  case placeholder(Value)

  var value: Value {
    switch self {
    case .previous(let value), .placeholder(let value): value
    }
  }

  var isPrevious: Bool { if case .previous = self { true } else { false } }

  var isPlaceholder: Bool { !self.isPrevious }
}

extension OperationState {
  /// Whether the state has no value: none was fetched, set or passed as the initial one. A default value does not count.
  var isValueMissing: Bool { self.valueUpdateCount == 0 && self.showsNoValue }
}

extension ObservedState {
  /// The value that is shown in place of the state's; nil if the state has one, or a failure is to be seen.
  ///
  /// A failure has no value, so nothing is shown with it, until the operation runs again.
  var substitute: Substitute<State.StateValue>? {
    guard let substitute = self.substitutes.first, self.state.isValueMissing else { return nil }
    return self.state.error == nil || self.state.isLoading ? substitute : nil
  }

  /// The value that readers see.
  var shownValue: State.StateValue { self.substitute?.value ?? self.state.currentValue }

  /// Whether readers see the value of the operation before.
  var isPrevious: Bool { self.substitute?.isPrevious ?? false }

  /// Whether readers see a placeholder: of the wrapper, or the default value of the operation.
  var isPlaceholder: Bool { self.substitute?.isPlaceholder ?? self.state.isDefaultShown }

  /// The value to keep when another operation is followed; nil if there is none.
  var valueToKeep: State.StateValue? {
    self.state.showsNoValue ? self.substitutes.previous : .some(self.state.currentValue)
  }
}

extension ObservedStore {
  /// The value that readers see, on behalf of an observer.
  var shownValue: State.StateValue {
    _ = self.value(of: \.currentValue)
    return self.current.shownValue
  }

  /// Whether readers see the value of the operation before, on behalf of an observer.
  var isPrevious: Bool { self.flag(\.isPrevious) }

  /// Whether readers see a placeholder, on behalf of an observer.
  var isPlaceholder: Bool { self.flag(\.isPlaceholder) }
}
