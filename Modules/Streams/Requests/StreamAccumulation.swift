/// How the elements of a stream become the value of a query.
///
/// ```swift
/// QueryOperation("price", streaming: .latest) { context in prices() }
/// QueryOperation("chat", streaming: .append(limit: 500)) { context in messages() }
/// QueryOperation("total", streaming: .reduce(into: 0) { $0 += $1.amount }) { context in orders() }
/// ```
public struct StreamAccumulation<Element: Sendable, Value: Sendable>: Sendable {
  /// The value of a stream that has ended without an element; nil if there is none.
  let initial: Value?
  /// Returns the value with one more element; the first parameter is nil for the first element.
  let adding: @Sendable (Value?, Element) -> Value
  /// The last element in a value, for a stream that goes on after it in another process; nil if the value has none.
  let lastElement: @Sendable (Value) -> Element?
}

extension StreamAccumulation {
  /// Folds each element into the value.
  ///
  /// The value may be set from outside between two elements: the next one is folded into that.
  ///
  /// - Parameters:
  ///   - initial: The value before the first element.
  ///   - update: Adds an element to the value. Called once for each element, by one task after the other.
  /// - Returns: The rule.
  public static func reduce(
    into initial: Value,
    _ update: @escaping @Sendable (inout Value, Element) -> Void
  ) -> Self {
    Self(
      initial: initial,
      adding: { value, element in
        var value = value ?? initial
        update(&value, element)
        return value
      },
      lastElement: { _ in nil }
    )
  }
}

extension StreamAccumulation where Element == Value {
  /// Each element replaces the one before.
  public static var latest: Self {
    Self(initial: nil, adding: { _, element in element }, lastElement: { $0 })
  }
}

extension StreamAccumulation where Value == [Element] {
  /// The value has all elements, in the order in which they came.
  ///
  /// - Complexity: O(*n*) in the elements so far for each new one, as each state is a copy. A stream that does not end needs
  ///   ``append(limit:)``.
  public static var append: Self { .append(limit: .max) }

  /// The value has the newest elements, in the order in which they came.
  ///
  /// - Parameter limit: The number of elements that are kept. At least one is.
  /// - Returns: The rule.
  public static func append(limit: Int) -> Self {
    Self(
      initial: [],
      adding: { elements, element in
        guard var elements else { return [element] }
        if elements.count >= max(limit, 1) { elements.removeFirst(elements.count - max(limit, 1) + 1) }
        elements.append(element)
        return elements
      },
      lastElement: { $0.last }
    )
  }
}
