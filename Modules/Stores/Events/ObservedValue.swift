/// The current value of an observer that only offers subscriptions, for a condition that reads it.
///
/// Some observers deliver their current value to each new subscriber, others deliver only changes. The last value is
/// stored while a subscription to the observer exists: while the condition has subscribers and, for an observer that
/// only delivers changes, from the first read until the last subscriber leaves. All copies of a condition share one
/// instance.
package final class ObservedValue<Value: Sendable>: Sendable {
  package typealias Subscribe = @Sendable (@escaping @Sendable (Value) -> Void) -> OperationSubscription

  fileprivate struct State {
    /// The subscription to the observer; nil if none exists or while it is being made.
    var source: OperationSubscription?
    var isOpening = false
    /// Incremented when a subscription to the observer begins or ends. Values of earlier subscriptions are ignored.
    var generation: UInt64 = 0
    /// The number of values that the current subscription has received.
    var receivedCount = 0
    /// The last value that the current subscription has received.
    var lastValue: Value?
    /// Whether the value is known to be available without a lasting subscription.
    ///
    /// True if the observer has delivered its value to a new subscriber, or if `ask` is reliable.
    var isAvailableAtOnce: Bool
    var handlers = Handlers<Void>()

    var isOpen: Bool { self.isOpening || self.source != nil }
  }

  private let state: Locked<State>
  private let subscribe: Subscribe
  private let ask: (@Sendable () -> Value?)?
  private let isAnswerReliable: Bool

  /// Creates the value of an observer.
  ///
  /// - Parameters:
  ///   - ask: Returns the current value, if the observer has a cheaper way than a momentary subscription.
  ///   - isAnswerReliable: Whether `ask` is known to return the right value without a subscription.
  ///   - subscribe: Subscribes to the observer.
  package init(
    asking ask: (@Sendable () -> Value?)? = nil,
    isAnswerReliable: Bool = false,
    subscribe: @escaping Subscribe
  ) {
    self.ask = ask
    self.subscribe = subscribe
    self.isAnswerReliable = isAnswerReliable
    self.state = Locked(State(isAvailableAtOnce: isAnswerReliable))
  }
}

// MARK: - Reading

extension ObservedValue {
  /// The current value: the last one received, or the one that a new subscriber receives at once; nil if unknown.
  package var current: Value? {
    let state = self.state.withLock { $0 }
    if let lastValue = state.lastValue { return lastValue }
    // The subscription received no value when it was made, so a new one would not receive one either.
    if state.source != nil { return self.ask?() }
    guard !state.isOpening, !state.isAvailableAtOnce else { return self.answer }
    guard let generation = self.state.withLock({ $0.beginOpening() }) else { return self.answer }
    self.open(generation)
    return self.takeAnswer(generation)
  }

  /// Ends a subscription that was made for a read, unless the observer only delivers changes.
  ///
  /// Such an observer does not repeat a change, so the next change would be missed without the subscription.
  private func takeAnswer(_ generation: UInt64) -> Value? {
    let (isOver, value, source) = self.state.withLock { state in
      guard state.generation == generation else { return (true, Value?.none, OperationSubscription?.none) }
      let value = state.lastValue
      return (false, value, state.handlers.isEmpty && value != nil ? state.close() : nil)
    }
    source?.cancel()
    return isOver ? self.answer : value ?? self.ask?()
  }

  private var answer: Value? {
    if let ask { ask() } else { Self.initialValue(from: self.subscribe) }
  }

  /// Returns the value that a new subscriber receives before `subscribe` returns; nil if it receives none.
  package static func initialValue(
    from subscribe: (@escaping @Sendable (Value) -> Void) -> OperationSubscription
  ) -> Value? {
    let lastValue = Locked<Value?>(nil)
    subscribe { value in lastValue.withLock { $0 = value } }.cancel()
    return lastValue.withLock { $0 }
  }
}

// MARK: - Subscribing

extension ObservedValue {
  /// Calls `onChange` for each value after the initial one. If several values are received before the subscription
  /// exists, they cause one call.
  package func subscribeToChanges(_ onChange: @escaping @Sendable () -> Void) -> OperationSubscription {
    let (id, generation) = self.state.withLock { state in
      (state.handlers.add(Handlers.Handler(onChange)), state.beginOpening())
    }
    if let generation { self.open(generation) }
    return OperationSubscription { self.remove(id) }
  }

  private func remove(_ id: UInt64) {
    let source = self.state.withLock { state, released in
      released.append(state.handlers.remove(id))
      return state.handlers.isEmpty ? state.close() : nil
    }
    source?.cancel()
  }

  /// Subscribes to the observer.
  ///
  /// Of the values received before the subscription is made, the first one is the initial value, and all others are
  /// changes.
  private func open(_ generation: UInt64) {
    let source = self.subscribe { [weak self] in self?.receive($0, generation) }
    let handlers = self.state.withLock { state -> [Handlers<Void>.Handler]? in
      guard state.generation == generation else { return nil }
      state.isOpening = false
      state.source = source
      state.isAvailableAtOnce = state.receivedCount > 0 || self.isAnswerReliable
      return state.receivedCount > 1 ? state.handlers.all : []
    }
    guard let handlers else { return source.cancel() }
    for handler in handlers { handler.call(()) }
  }

  private func receive(_ value: Value, _ generation: UInt64) {
    let handlers = self.state.withLock { state in
      guard state.generation == generation else { return [Handlers<Void>.Handler]() }
      state.lastValue = value
      state.receivedCount += 1
      return state.isOpening ? [] : state.handlers.all
    }
    for handler in handlers { handler.call(()) }
  }
}

extension ObservedValue.State {
  /// Returns the generation of the subscription that the caller has to make; nil if one exists or is being made.
  fileprivate mutating func beginOpening() -> UInt64? {
    guard !self.isOpen else { return nil }
    self.isOpening = true
    self.generation += 1
    return self.generation
  }

  /// Discards the received values, and returns the subscription, which the caller cancels after unlocking.
  fileprivate mutating func close() -> OperationSubscription? {
    self.generation += 1
    self.isOpening = false
    (self.lastValue, self.receivedCount) = (nil, 0)
    return self.source.take()
  }
}
