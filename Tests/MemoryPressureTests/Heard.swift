import Synchronization

/// Writes down what handlers hear, in order.
final class Heard<Element: Sendable>: Sendable {
  private let state = Mutex<[Element]>([])

  var all: [Element] { self.state.withLock { $0 } }

  func append(_ element: Element) {
    self.state.withLock { $0.append(element) }
  }
}
