import Synchronization

/// Elements in the order in which handlers received them.
final class Log<Element: Sendable>: Sendable {
  private let state = Mutex<[Element]>([])

  var all: [Element] { self.state.withLock { $0 } }
  var count: Int { self.all.count }

  func append(_ element: Element) {
    self.state.withLock { $0.append(element) }
  }
}

/// A value that is set after the handlers that use it are made.
final class Box<Value: Sendable>: Sendable {
  private let state = Mutex<Value?>(nil)

  var value: Value? {
    get { self.state.withLock { $0 } }
    set { self.state.withLock { $0 = newValue } }
  }
}
