import Synchronization

/// Writes down what handlers hear, in order.
final class Heard<Element: Sendable>: Sendable {
  private let state = Mutex<[Element]>([])

  var all: [Element] { self.state.withLock { $0 } }
  var count: Int { self.all.count }

  func append(_ element: Element) {
    self.state.withLock { $0.append(element) }
  }
}

/// Keeps something that is made later than what needs it.
final class Box<Value: Sendable>: Sendable {
  private let state = Mutex<Value?>(nil)

  var value: Value? {
    get { self.state.withLock { $0 } }
    set { self.state.withLock { $0 = newValue } }
  }
}
