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
    var handlers = Handlers<Value>()
    var eventQueue: [Delivery] = []
    var isDelivering = false
  }

  private struct Delivery {
    let value: Value
    let handlers: Handlers<Value>
  }

  private let state: Locked<State>

  package init(_ value: Value) {
    self.state = Locked(State(value: value))
  }

  /// The value that was sent last.
  package var value: Value { self.state.withLock { $0.value } }

  /// The number of handlers.
  package var subscriberCount: Int { self.state.withLock { $0.handlers.count } }
}

// MARK: - Sending

extension Broadcast {
  /// Changes the value and delivers it, unless a delivery is going on, which then includes it.
  package func send(_ value: Value) {
    let isDelivering = self.state.withLock { state, released in
      released.append(state.value)
      state.value = value
      state.version += 1
      state.eventQueue.append(Delivery(value: value, handlers: state.handlers))
      defer { state.isDelivering = true }
      return state.isDelivering
    }
    guard !isDelivering else { return }
    while let delivery = self.nextDelivery() {
      for handler in delivery.handlers.all { handler.call(delivery.value) }
    }
  }

  private func nextDelivery() -> Delivery? {
    self.state.withLock { state in
      guard !state.eventQueue.isEmpty else {
        state.isDelivering = false
        return nil
      }
      return state.eventQueue.removeFirst()
    }
  }
}

// MARK: - Subscribing

extension Broadcast {
  package func subscribe(_ receive: @escaping @Sendable (Value) -> Void) -> OperationSubscription {
    let handler = Handlers<Value>.Handler(receive)
    var heard: UInt64?
    // It counts from the moment on at which it has heard the value that is current then, so that it misses none and
    // never hears an old one after a newer one.
    while true {
      let (id, value, version) = self.state.withLock { state in
        guard heard == state.version else { return (UInt64?.none, state.value, state.version) }
        return (state.handlers.add(handler), state.value, state.version)
      }
      if let id { return OperationSubscription { self.remove(id) } }
      handler.call(value)
      heard = version
    }
  }

  private func remove(_ id: UInt64) {
    self.state.withLock { state, released in released.append(state.handlers.remove(id)) }
  }
}
