/// A changing value and the handlers that receive it, for observers and run specifications.
///
/// ```swift
/// final class SwitchRunSpecification: OperationRunSpecification, Sendable {
///   private let isOn = Broadcast(false)
///
///   func set(_ isOn: Bool) { self.isOn.send(isOn) }
///
///   func isSatisfied(in context: OperationContext) -> Bool { self.isOn.value }
///
///   func subscribe(in context: OperationContext, onChange: @escaping @Sendable () -> Void) -> OperationSubscription {
///     self.isOn.subscribe { _ in onChange() }
///   }
/// }
/// ```
///
/// A handler receives the current value before `subscribe` returns, and then each value that is sent. Values are
/// delivered in order, one at a time, to the handlers in the order of their subscriptions, and never with a lock held.
/// A value that a handler sends is delivered after the current one. Subscribing and cancelling take constant time for
/// any number of handlers, except that the first of them during a delivery copies the handlers.
public final class Broadcast<Value: Sendable>: Sendable {
  private struct State {
    var value: Value
    /// The number of values sent.
    var version: UInt64 = 0
    var handlers = Handlers<Value>()
    var deliveries = SerialQueue<Delivery>()

    /// Sets the value, and queues its delivery to the handlers that are subscribed now.
    mutating func enqueue(_ value: Value, _ released: inout ReleasedValues) {
      released.append(self.value)
      self.value = value
      self.version += 1
      if !self.handlers.isEmpty { self.deliveries.append(Delivery(value: value, handlers: self.handlers)) }
    }
  }

  private struct Delivery {
    let value: Value
    let handlers: Handlers<Value>
  }

  private let state: Locked<State>

  /// Creates a broadcast without handlers.
  ///
  /// - Parameter value: The value until another one is sent.
  public init(_ value: Value) {
    self.state = Locked(State(value: value))
  }

  /// The last value that was sent.
  public var value: Value { self.state.withLock { $0.value } }

  /// The number of values sent.
  package var version: UInt64 { self.state.withLock { $0.version } }

  /// The number of handlers.
  public var subscriberCount: Int { self.state.withLock { $0.handlers.count } }
}

// MARK: - Sending

extension Broadcast {
  /// Sets the value, and calls all handlers with it before this returns, unless a delivery is in progress.
  ///
  /// If a delivery is in progress, on this thread or another one, it includes the value, and this returns at once. Call it
  /// with no lock held.
  ///
  /// - Parameter value: The new value, which ``value`` returns from now on.
  public func send(_ value: Value) {
    self.deliver(
      from: self.state.withLock { state, released in
        state.enqueue(value, &released)
        return state.deliveries.begin()
      }
    )
  }

  /// Sets the value, which `deliver` then delivers to the handlers that are subscribed now.
  ///
  /// - Parameters:
  ///   - value: The new value.
  ///   - version: The version that the value follows; nil for any. Does nothing if another value was sent after it.
  /// - Returns: Whether there is something to deliver.
  package func enqueue(_ value: Value, after version: UInt64? = nil) -> Bool {
    self.state.withLock { state, released in
      guard version == nil || version == state.version else { return false }
      state.enqueue(value, &released)
      return !state.deliveries.isEmpty
    }
  }

  /// Delivers the values that are waiting, unless a delivery is in progress, which includes them.
  package func deliver() {
    self.deliver(from: self.state.withLock { $0.deliveries.begin() })
  }

  private func deliver(from first: Delivery?) {
    var next = first
    while let delivery = next {
      for handler in delivery.handlers.all { handler.call(delivery.value) }
      next = self.state.withLock { $0.deliveries.next() }
    }
  }
}

// MARK: - Subscribing

extension Broadcast {
  /// Adds a handler, and calls it with the current value before this returns.
  ///
  /// - Parameter receive: Called with no lock held, on the thread that subscribes or sends.
  /// - Returns: The subscription. No call of the handler begins after it was cancelled or dropped, except one that
  ///   another thread is about to make.
  public func subscribe(_ receive: @escaping @Sendable (Value) -> Void) -> OperationSubscription {
    let handler = Handlers<Value>.Handler(receive)
    var receivedVersion: UInt64?
    // The handler is added only once it has received the current value. So it misses no value, and never receives an
    // older value after a newer one.
    while true {
      let (id, value, version) = self.state.withLock { state in
        guard receivedVersion == state.version else { return (UInt64?.none, state.value, state.version) }
        return (state.handlers.add(handler), state.value, state.version)
      }
      if let id { return OperationSubscription { self.remove(id) } }
      handler.call(value)
      receivedVersion = version
    }
  }

  private func remove(_ id: UInt64) {
    self.state.withLock { state, released in released.append(state.handlers.remove(id)) }
  }
}
