internal import OperationCore

/// Whether a property still has the value that it had, so that its readers need no notification.
///
/// Values of equatable types are compared by `==`, and a value that does not equal itself, such as NaN, by its parts.
/// Optionals, results and statuses are compared by what they contain.
///
/// - Parameters:
///   - old: The former value.
///   - new: The current value.
///   - isSame: Compares a part that is not equatable.
/// - Returns: Whether nothing distinguishes the values.
func isUnchanged(_ old: Any, _ new: Any, isSame: (Any, Any) -> Bool) -> Bool {
  if let old = old as? any PartlyComparable { return isPartlyUnchanged(old, new, isSame) }
  if let old = old as? any Equatable { return isUnchanged(equatable: old, new) }
  return isSame(old, new)
}

/// Whether two values have the same parts: references the same object, and all other values the same fields.
///
/// A value without parts, such as a closure, cannot be compared, and counts as changed.
func haveSameParts(_ old: Any, _ new: Any) -> Bool {
  if let old = old as? any Equatable, isEqual(old, new) { return true }
  if let old = old as? any FloatingPoint { return isNaN(old) && (new as? any FloatingPoint).map { isNaN($0) } == true }
  if type(of: old) is any AnyObject.Type { return (old as AnyObject) === (new as AnyObject) }
  let (old, new) = (Mirror(reflecting: old), Mirror(reflecting: new))
  guard old.subjectType == new.subjectType, old.children.count == new.children.count else { return false }
  // Nothing is known of a case without a value, or of a closure.
  if old.children.isEmpty { return old.displayStyle != nil && old.displayStyle != .enum }
  return zip(old.children, new.children).allSatisfy { $0.label == $1.label && haveSameParts($0.value, $1.value) }
}

private func isNaN(_ number: some FloatingPoint) -> Bool { number.isNaN }

private func isEqual<Value: Equatable>(_ old: Value, _ new: Any) -> Bool { (new as? Value) == old }

/// Whether values are equal, or have the same parts while one of these does not equal itself.
private func isUnchanged<Value: Equatable>(equatable old: Value, _ new: Any) -> Bool {
  isEqual(old, new) || (old != old && haveSameParts(old, new))
}

private func isPartlyUnchanged<Value: PartlyComparable>(
  _ old: Value,
  _ new: Any,
  _ isSame: (Any, Any) -> Bool
) -> Bool {
  guard let new = new as? Value else { return false }
  return old.isUnchanged(in: new, isSame: isSame)
}

/// A value that is compared by its parts where it is not equatable as a whole.
private protocol PartlyComparable {
  func isUnchanged(in other: Self, isSame: (Any, Any) -> Bool) -> Bool
}

extension Optional: PartlyComparable {
  fileprivate func isUnchanged(in other: Wrapped?, isSame: (Any, Any) -> Bool) -> Bool {
    switch (self, other) {
    case (nil, nil): true
    case (let old?, let new?): SharingOperation.isUnchanged(old, new, isSame: isSame)
    default: false
    }
  }
}

extension Result: PartlyComparable {
  fileprivate func isUnchanged(in other: Result<Success, Failure>, isSame: (Any, Any) -> Bool) -> Bool {
    switch (self, other) {
    case (.success(let old), .success(let new)): SharingOperation.isUnchanged(old, new, isSame: isSame)
    case (.failure(let old), .failure(let new)): SharingOperation.isUnchanged(old, new, isSame: isSame)
    default: false
    }
  }
}

extension OperationStatus: PartlyComparable {
  fileprivate func isUnchanged(in other: OperationStatus<Value, Failure>, isSame: (Any, Any) -> Bool) -> Bool {
    switch (self, other) {
    case (.idle, .idle), (.loading, .loading): true
    case (.result(let old), .result(let new)): old.isUnchanged(in: new, isSame: isSame)
    default: false
    }
  }
}
