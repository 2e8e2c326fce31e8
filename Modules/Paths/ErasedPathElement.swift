/// The value of a path element that is neither a `String` nor an `Int`.
@usableFromInline
protocol ErasedPathElement: AnyObject, Sendable, CustomStringConvertible {
  var base: any Hashable & Sendable { get }
  func isEqual(to other: any ErasedPathElement) -> Bool
  func hash(into hasher: inout Hasher)
}

/// Boxes a value under its dynamic type.
///
/// The type of the box does not depend on the static type of an object, which may be its class or a superclass.
@inlinable
func erasedPathElement<Base: Hashable & Sendable>(_ base: Base) -> any ErasedPathElement {
  let dynamicType: any (Hashable & Sendable).Type = type(of: base)
  return if dynamicType == Base.self { PathElementBox(base) } else { erasedPathElement(base, as: dynamicType) }
}

@usableFromInline
func erasedPathElement<Base: Hashable & Sendable, Dynamic: Hashable & Sendable>(
  _ base: Base,
  as dynamicType: Dynamic.Type
) -> any ErasedPathElement {
  if let base = base as? Dynamic { PathElementBox(base) } else { PathElementBox(base) }
}

@usableFromInline
final class PathElementBox<Base: Hashable & Sendable>: ErasedPathElement {
  @usableFromInline let value: Base

  @inlinable
  init(_ value: Base) {
    self.value = value
  }

  @usableFromInline var base: any Hashable & Sendable { value }

  @usableFromInline
  var description: String {
    switch value {
    case let value as any StringProtocol: String(value).debugDescription
    case let value as Character: value.debugDescription
    default: String(describing: value)
    }
  }

  @usableFromInline
  func isEqual(to other: any ErasedPathElement) -> Bool {
    if self === other { return true }
    guard let other = other as? Self else { return false }
    if value == other.value { return true }
    // If only values were compared by `==`, an element with NaN would differ from itself. Values that differ from
    // themselves are compared by their hashes, so `Query(1, .nan)` and `Query(2, .nan)` stay different elements.
    return value != value && other.value != other.value && value.hashValue == other.value.hashValue
  }

  @usableFromInline
  func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(Base.self))
    hasher.combine(value)
  }
}
