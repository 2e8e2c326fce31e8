internal import OperationCore

/// Returns whether a property still has the value that it had, so that its readers need no notification.
///
/// Values of equatable types are compared by `==`. Optionals, results and statuses are compared by what they contain.
/// All other values count as unchanged if their bytes are the same, so a reference is unchanged while it refers to the
/// same object.
func isUnchanged<Value>(_ old: Value, _ new: Value) -> Bool {
  if let old = old as? any Equatable { return isEqual(old, new) }
  if let old = old as? any PartlyComparable { return isSame(old, new) }
  return haveSameBytes(old, new)
}

private func isEqual<Value: Equatable>(_ old: Value, _ new: Any) -> Bool {
  (new as? Value) == old
}

private func isSame<Value: PartlyComparable>(_ old: Value, _ new: Any) -> Bool {
  guard let new = new as? Value else { return false }
  return old.isSame(as: new)
}

private func haveSameBytes<Value>(_ old: Value, _ new: Value) -> Bool {
  withUnsafeBytes(of: old) { old in
    withUnsafeBytes(of: new) { new in old.elementsEqual(new) }
  }
}

/// A value that is compared by its parts where it is not equatable as a whole.
private protocol PartlyComparable {
  func isSame(as other: Self) -> Bool
}

extension Optional: PartlyComparable {
  fileprivate func isSame(as other: Wrapped?) -> Bool {
    switch (self, other) {
    case (nil, nil): true
    case (let old?, let new?): isUnchanged(old, new)
    default: false
    }
  }
}

extension Result: PartlyComparable {
  fileprivate func isSame(as other: Result<Success, Failure>) -> Bool {
    switch (self, other) {
    case (.success(let old), .success(let new)): isUnchanged(old, new)
    case (.failure(let old), .failure(let new)): isUnchanged(old, new)
    default: false
    }
  }
}

extension OperationStatus: PartlyComparable {
  fileprivate func isSame(as other: OperationStatus<Value, Failure>) -> Bool {
    switch (self, other) {
    case (.idle, .idle), (.loading, .loading): true
    case (.result(let old), .result(let new)): old.isSame(as: new)
    default: false
    }
  }
}
