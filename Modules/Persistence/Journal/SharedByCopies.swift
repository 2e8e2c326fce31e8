/// A large value, which copies share until one of them is changed.
@propertyWrapper struct SharedByCopies<Value: Equatable & Sendable>: Equatable, Sendable {
  private final class Box: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
  }

  private var box: Box

  init(wrappedValue: Value) { self.box = Box(wrappedValue) }

  var wrappedValue: Value {
    get { self.box.value }
    set { self.box = Box(newValue) }
  }

  static func == (lhs: Self, rhs: Self) -> Bool { lhs.box === rhs.box || lhs.box.value == rhs.box.value }
}
