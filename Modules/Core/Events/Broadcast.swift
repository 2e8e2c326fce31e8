internal import Synchronization

/// A value that changes, and handlers that hear of it: what an observer is made of.
///
/// A handler hears the current value before `subscribe` returns, and then each value that is sent. Handlers run in the order
/// in which they came, one after the other, in the order of the values, and never under a lock: a value that is sent by a
/// handler is delivered after the present one. Subscribing and cancelling take constant time, however many there are.
package final class Broadcast<Value: Sendable>: Sendable {
  private struct State {
    var value: Value
    /// Counts the values.
    var version: UInt64 = 0
    var handlers: [UInt64: Handler] = [:]
    var lastID: UInt64 = 0
    var outbox: [Delivery] = []
    var isDelivering = false
  }

  private struct Delivery {
    let value: Value
    let handlers: [UInt64: Handler]
  }

  private final class Handler: Sendable {
    let receive: @Sendable (Value) -> Void
    private let isCancelled = Atomic(false)

    init(_ receive: @escaping @Sendable (Value) -> Void) {
      self.receive = receive
    }

    func cancel() {
      self.isCancelled.store(true, ordering: .releasing)
    }

    func deliver(_ value: Value) {
      if !self.isCancelled.load(ordering: .acquiring) { self.receive(value) }
    }
  }

  private let state: Mutex<State>

  package init(_ value: Value) {
    self.state = Mutex(State(value: value))
  }

  /// The value that was sent last.
  package var value: Value { self.state.withLock { $0.value } }

  /// The number of handlers.
  package var subscriberCount: Int { self.state.withLock { $0.handlers.count } }
}

// MARK: - Sending

extension Broadcast {
  /// Changes the value and delivers it, unless somebody delivers already, who then does it.
  package func send(_ value: Value) {
    let isDelivering = self.state.withLock { state in
      state.value = value
      state.version += 1
      state.outbox.append(Delivery(value: value, handlers: state.handlers))
      defer { state.isDelivering = true }
      return state.isDelivering
    }
    guard !isDelivering else { return }
    while let delivery = self.nextDelivery() {
      for (_, handler) in delivery.handlers.sorted(by: { $0.key < $1.key }) { handler.deliver(delivery.value) }
    }
  }

  private func nextDelivery() -> Delivery? {
    self.state.withLock { state in
      guard !state.outbox.isEmpty else {
        state.isDelivering = false
        return nil
      }
      return state.outbox.removeFirst()
    }
  }
}

// MARK: - Subscribing

extension Broadcast {
  package func subscribe(_ receive: @escaping @Sendable (Value) -> Void) -> OperationSubscription {
    let handler = Handler(receive)
    var heard: UInt64?
    // It counts from the moment on at which it has heard the value that is current then, so that it misses none and
    // never hears an old one after a newer one.
    while true {
      let (id, value, version) = self.state.withLock { state in
        guard heard == state.version else { return (UInt64?.none, state.value, state.version) }
        state.lastID += 1
        state.handlers[state.lastID] = handler
        return (state.lastID, state.value, state.version)
      }
      if let id { return OperationSubscription { self.remove(id) } }
      handler.deliver(value)
      heard = version
    }
  }

  private func remove(_ id: UInt64) {
    // What the handler captures is released after the lock.
    let handler = self.state.withLock { $0.handlers.removeValue(forKey: id) }
    handler?.cancel()
  }
}
