import Synchronization

/// Elements in the order in which handlers on any thread append them.
package final class Log<Element: Sendable>: Sendable {
  private let state = Mutex<[Element]>([])

  package init() {}

  package var all: [Element] { self.state.withLock { $0 } }
  package var count: Int { self.state.withLock { $0.count } }

  /// Appends an element, and returns the new number of elements.
  @discardableResult
  package func append(_ element: Element) -> Int {
    self.state.withLock { elements in
      elements.append(element)
      return elements.count
    }
  }
}
