internal import Synchronization

/// Handlers in the order in which they came, as part of what a lock guards.
///
/// They are called without the lock, and each only until it is removed: also by one that is called before it.
package struct Handlers<Value>: Sendable {
  /// A handler, which knows whether it has been removed.
  package final class Handler: Sendable {
    private let receive: @Sendable (Value) -> Void
    private let isRemoved = Atomic(false)

    package init(_ receive: @escaping @Sendable (Value) -> Void) {
      self.receive = receive
    }

    fileprivate func markRemoved() {
      self.isRemoved.store(true, ordering: .releasing)
    }

    /// Calls the handler unless it has been removed.
    package func call(_ value: Value) {
      if !self.isRemoved.load(ordering: .acquiring) { self.receive(value) }
    }
  }

  private var handlers: [UInt64: Handler] = [:]
  private var lastID: UInt64 = 0

  package init() {}

  package var isEmpty: Bool { self.handlers.isEmpty }
  package var count: Int { self.handlers.count }

  /// All of them, in order.
  package var all: [Handler] { self.handlers.sorted { $0.key < $1.key }.map(\.value) }

  /// Adds a handler, and returns by what it is removed.
  package mutating func add(_ handler: Handler) -> UInt64 {
    self.lastID += 1
    self.handlers[self.lastID] = handler
    return self.lastID
  }

  /// Takes a handler out, and returns it, to be released after the lock.
  package mutating func remove(_ id: UInt64) -> Handler? {
    let handler = self.handlers.removeValue(forKey: id)
    handler?.markRemoved()
    return handler
  }
}
