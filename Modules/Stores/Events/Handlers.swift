internal import Synchronization

/// Handlers in the order of their subscriptions, as part of a state that a lock guards.
///
/// They are called without the lock. After a handler was removed, no call of it begins, even if an earlier handler
/// removes it during a delivery. The only exception is a call that another thread is about to make.
package struct Handlers<Value>: Sendable {
  /// A handler that can be removed.
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

  /// All handlers, in the order of their subscriptions.
  package var all: [Handler] { self.handlers.sorted { $0.key < $1.key }.map(\.value) }

  /// Adds a handler, and returns the identifier for its removal.
  package mutating func add(_ handler: Handler) -> UInt64 {
    self.lastID += 1
    self.handlers[self.lastID] = handler
    return self.lastID
  }

  /// Removes a handler and returns it, so that the caller releases it after unlocking.
  package mutating func remove(_ id: UInt64) -> Handler? {
    let handler = self.handlers.removeValue(forKey: id)
    handler?.markRemoved()
    return handler
  }
}
