internal import Synchronization

/// What a condition asks of an observer, which only knows how to be subscribed to.
package struct ObservedValue<Value: Sendable>: Sendable {
  private let subscribe: @Sendable (@escaping @Sendable (Value) -> Void) -> OperationSubscription
  private let ask: (@Sendable () -> Value?)?

  /// - Parameter ask: Tells the value now, for an observer that knows a cheaper way than being subscribed to for a moment.
  package init(
    asking ask: (@Sendable () -> Value?)? = nil,
    subscribe: @escaping @Sendable (@escaping @Sendable (Value) -> Void) -> OperationSubscription
  ) {
    self.ask = ask
    self.subscribe = subscribe
  }

  /// The value now: what a subscriber hears at once. Nil when it hears nothing.
  package var current: Value? {
    if let ask { ask() } else { Self.heardAtOnce(by: self.subscribe) }
  }

  /// What a subscriber hears at once. Nil when it hears nothing.
  package static func heardAtOnce(
    by subscribe: (@escaping @Sendable (Value) -> Void) -> OperationSubscription
  ) -> Value? {
    let heard = Latest<Value>()
    subscribe { heard.set($0) }.cancel()
    return heard.value
  }

  /// Calls `onChange` for each value after the one that is heard at once.
  package func subscribeToChanges(_ onChange: @escaping @Sendable () -> Void) -> OperationSubscription {
    let opening = Opening()
    let subscription = self.subscribe { _ in
      if opening.isChange() { onChange() }
    }
    if opening.end() { onChange() }
    return subscription
  }
}

/// The value that was heard last.
private final class Latest<Value: Sendable>: Sendable {
  private let state = Mutex<Value?>(nil)

  var value: Value? { self.state.withLock { $0 } }

  func set(_ value: Value) {
    self.state.withLock { $0 = value }
  }
}

/// Tells the value with which a subscription begins from the changes after it.
private final class Opening: Sendable {
  private struct State {
    var count = 0
    var isOver = false
  }

  private let state = Mutex(State())

  /// Counts a value, and says whether to report it now.
  func isChange() -> Bool {
    self.state.withLock { state in
      state.count += 1
      return state.isOver
    }
  }

  /// Says whether the value has changed while the subscription was being made.
  func end() -> Bool {
    self.state.withLock { state in
      state.isOver = true
      return state.count > 1
    }
  }
}
