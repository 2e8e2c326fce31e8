import Synchronization

/// A value that handlers on any thread read and replace.
package final class Box<Value: Sendable>: Sendable {
  private let content: Mutex<Value>

  package init(_ value: Value) {
    self.content = Mutex(value)
  }

  package var value: Value {
    get { self.content.withLock { $0 } }
    set { _ = self.replace(with: newValue) }
  }

  /// Replaces the value, and returns the old one.
  package func replace(with new: Value) -> Value {
    self.content.withLock { value in
      let old = value
      value = new
      return old
    }
  }
}
