/// What a condition asks of an observer, which only knows how to be subscribed to.
///
/// An observer may tell its value to each subscriber at once, or changes alone. What was heard is remembered as long as there
/// is a subscription to the observer: while a user of the condition subscribes and, where the observer tells nothing at once,
/// from the first question on. All copies of a condition share one of these.
package final class ObservedValue<Value: Sendable>: Sendable {
  package typealias Subscribe = @Sendable (@escaping @Sendable (Value) -> Void) -> OperationSubscription

  fileprivate struct State {
    /// The subscription to the observer; nil while there is none, and while it is being made.
    var source: OperationSubscription?
    var isOpening = false
    /// Counts the subscriptions to the observer and their ends. What comes from an earlier one does not count.
    var generation: UInt64 = 0
    /// How many values the present subscription has told, and the last of them.
    var heardCount = 0
    var heard: Value?
    /// Whether the observer tells a value at once, or knows it without being subscribed to; nil while that is not known.
    var tellsAtOnce: Bool?
    var handlers = Handlers<Void>()

    var isOpen: Bool { self.isOpening || self.source != nil }
  }

  private let state: Locked<State>
  private let subscribe: Subscribe
  private let ask: (@Sendable () -> Value?)?

  /// - Parameters:
  ///   - ask: Tells the value now, for an observer that knows a cheaper way than being subscribed to for a moment.
  ///   - isAnswerReliable: Whether `ask` is known to be right while there is no subscription.
  package init(
    asking ask: (@Sendable () -> Value?)? = nil,
    isAnswerReliable: Bool = false,
    subscribe: @escaping Subscribe
  ) {
    self.ask = ask
    self.subscribe = subscribe
    var state = State()
    if isAnswerReliable { state.tellsAtOnce = true }
    self.state = Locked(state)
  }
}

// MARK: - Asking

extension ObservedValue {
  /// The value now: what was heard last, or what a subscriber hears at once. Nil when nothing is known.
  package var current: Value? {
    let state = self.state.withLock { $0 }
    if let heard = state.heard { return heard }
    // It has told nothing at once: all that it has told is heard.
    if state.source != nil { return self.ask?() }
    guard !state.isOpening, state.tellsAtOnce != true else { return self.answer }
    guard let generation = self.state.withLock({ $0.beginOpening() }) else { return self.answer }
    self.open(generation)
    return self.takeAnswer(generation)
  }

  /// Ends a subscription that was made for a question, unless the observer tells nothing at once: it would not tell again
  /// what it tells meanwhile.
  private func takeAnswer(_ generation: UInt64) -> Value? {
    let (isOver, value, source) = self.state.withLock { state in
      guard state.generation == generation else { return (true, Value?.none, OperationSubscription?.none) }
      let value = state.heard
      return (false, value, state.handlers.isEmpty && value != nil ? state.close() : nil)
    }
    source?.cancel()
    return isOver ? self.answer : value ?? self.ask?()
  }

  private var answer: Value? {
    if let ask { ask() } else { Self.heardAtOnce(by: self.subscribe) }
  }

  /// What a subscriber hears at once. Nil when it hears nothing.
  package static func heardAtOnce(
    by subscribe: (@escaping @Sendable (Value) -> Void) -> OperationSubscription
  ) -> Value? {
    let heard = Locked<Value?>(nil)
    subscribe { value in heard.withLock { $0 = value } }.cancel()
    return heard.withLock { $0 }
  }
}

// MARK: - Subscribing

extension ObservedValue {
  /// Calls `onChange` for each value after the one that is heard at once.
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

  /// Subscribes to the observer. What it tells meanwhile is what it begins with, and all after the first a change.
  private func open(_ generation: UInt64) {
    let source = self.subscribe { [weak self] in self?.receive($0, generation) }
    let handlers = self.state.withLock { state -> [Handlers<Void>.Handler]? in
      guard state.generation == generation else { return nil }
      state.isOpening = false
      state.source = source
      state.tellsAtOnce = state.heardCount > 0
      return state.heardCount > 1 ? state.handlers.all : []
    }
    guard let handlers else { return source.cancel() }
    for handler in handlers { handler.call(()) }
  }

  private func receive(_ value: Value, _ generation: UInt64) {
    let handlers = self.state.withLock { state in
      guard state.generation == generation else { return [Handlers<Void>.Handler]() }
      state.heard = value
      state.heardCount += 1
      return state.isOpening ? [] : state.handlers.all
    }
    for handler in handlers { handler.call(()) }
  }
}

extension ObservedValue.State {
  /// Returns the generation of the subscription that the caller has to make; nil when there is one already.
  fileprivate mutating func beginOpening() -> UInt64? {
    guard !self.isOpen else { return nil }
    self.isOpening = true
    self.generation += 1
    return self.generation
  }

  /// Forgets what was heard, and returns the subscription, to be cancelled after the lock.
  fileprivate mutating func close() -> OperationSubscription? {
    self.generation += 1
    self.isOpening = false
    (self.heard, self.heardCount) = (nil, 0)
    return self.source.take()
  }
}
