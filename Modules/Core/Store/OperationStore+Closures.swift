extension OperationStore {
  /// Calls a closure with the current state at once and with each later one, until the subscription ends.
  ///
  /// ```swift
  /// let subscription = store.subscribe { state in print(state.status) }
  /// ```
  ///
  /// It works like ``subscribe(with:isolation:)-(OperationEventHandler<State>,_)``, for code that needs only the state.
  ///
  /// - Parameters:
  ///   - isolation: The actor of the caller, on which a run that this call starts does not begin.
  ///   - onStateChanged: Called in event order with no lock held, on the thread that delivers the event.
  /// - Returns: The subscription. Calls stop when it is cancelled or dropped.
  public func subscribe(
    isolation: (any Actor)? = #isolation,
    _ onStateChanged: @escaping @Sendable (State) -> Void
  ) -> OperationSubscription {
    self.subscribe(
      with: OperationEventHandler(onStateChanged: { state, _ in onStateChanged(state) }),
      isolation: isolation
    )
  }

  /// Calls a closure on an actor with the current state and with later ones, until the subscription ends.
  ///
  /// ```swift
  /// let subscription = store.subscribe(on: counter) { counter, state in counter.note(state.currentValue) }
  /// ```
  ///
  /// The states come in order. If several states come before the actor is free, the closure receives only the newest.
  /// Called on `actor`, this method delivers the current state before it returns. Once the subscription has been
  /// cancelled on `actor`, the closure is not called again.
  ///
  /// - Parameters:
  ///   - actor: The actor to call the closure on. The subscription keeps it alive.
  ///   - isolation: The actor of the caller, on which a run that this call starts does not begin.
  ///   - onStateChanged: Receives the actor and the state.
  /// - Returns: The subscription. Calls stop when it is cancelled or dropped.
  public func subscribe<Target: Actor>(
    on actor: Target,
    isolation: (any Actor)? = #isolation,
    _ onStateChanged: @escaping @Sendable (isolated Target, State) -> Void
  ) -> OperationSubscription {
    let delivery = ActorDelivery<State> { take in
      Task { await Self.deliver(on: actor, take, onStateChanged) }
    }
    let subscription = self.subscribe(with: delivery.handler, isolation: isolation)
    if isolation === actor {
      actor.assumeIsolated { actor in
        while let state = delivery.take() { onStateChanged(actor, state) }
      }
    }
    return delivery.subscription(ending: subscription)
  }

  /// Calls a closure on the main actor with the current state and with later ones, until the subscription ends.
  ///
  /// ```swift
  /// self.subscription = store.subscribe(on: MainActor.shared) { [weak self] state in
  ///   self?.title = state.currentValue?.title
  /// }
  /// ```
  ///
  /// The states come in order. If several states come before the main actor is free, the closure receives only the
  /// newest. Called on the main actor, this method delivers the current state before it returns. Once the subscription
  /// has been cancelled on the main actor, the closure is not called again.
  ///
  /// - Parameters:
  ///   - actor: The main actor.
  ///   - isolation: The actor of the caller, on which a run that this call starts does not begin.
  ///   - onStateChanged: Receives the state, and may use members that are isolated to the main actor.
  /// - Returns: The subscription. Calls stop when it is cancelled or dropped.
  public func subscribe(
    on actor: MainActor,
    isolation: (any Actor)? = #isolation,
    _ onStateChanged: @escaping @MainActor (State) -> Void
  ) -> OperationSubscription {
    let delivery = ActorDelivery<State> { take in
      Task { @MainActor in
        while let state = take() { onStateChanged(state) }
      }
    }
    let subscription = self.subscribe(with: delivery.handler, isolation: isolation)
    if isolation === actor {
      MainActor.assumeIsolated {
        while let state = delivery.take() { onStateChanged(state) }
      }
    }
    return delivery.subscription(ending: subscription)
  }

  private static func deliver<Target: Actor>(
    on actor: isolated Target,
    _ take: @Sendable () -> State?,
    _ onStateChanged: @Sendable (isolated Target, State) -> Void
  ) {
    while let state = take() { onStateChanged(actor, state) }
  }
}

/// Delivers the newest state of a store to an actor.
private final class ActorDelivery<State: OperationState & Sendable>: Sendable {
  private struct Content {
    /// The newest state that the actor has not received.
    var newest: State?
    /// Whether a task will still look for a newer state.
    var isDelivering = false
    var isCancelled = false
  }

  private let content = Locked(Content())
  /// Makes a task on the actor that delivers the states that the closure returns, until it returns nil.
  private let deliver: @Sendable (@escaping @Sendable () -> State?) -> Void

  init(deliver: @escaping @Sendable (@escaping @Sendable () -> State?) -> Void) {
    self.deliver = deliver
  }

  var handler: OperationEventHandler<State> {
    OperationEventHandler(onStateChanged: { state, _ in self.receive(state) })
  }

  private func receive(_ state: State) {
    let isFirst = self.content.withLock { content, released in
      if content.isCancelled { return false }
      released.append(content.newest)
      content.newest = state
      defer { content.isDelivering = true }
      return !content.isDelivering
    }
    if isFirst { self.deliver { self.take() ?? self.endDelivery() } }
  }

  /// Returns the newest state; nil when the actor has received it. Called on the actor.
  func take() -> State? {
    self.content.withLock { $0.newest.take() }
  }

  /// Ends the delivery and returns nil. If a state has come meanwhile, returns it instead, and does not end the
  /// delivery.
  private func endDelivery() -> State? {
    self.content.withLock { content in
      if content.newest == nil { content.isDelivering = false }
      return content.newest.take()
    }
  }

  /// Returns a subscription that ends the delivery and the subscription to the store.
  func subscription(ending subscription: OperationSubscription) -> OperationSubscription {
    OperationSubscription {
      subscription.cancel()
      self.content.withLock { content, released in
        content.isCancelled = true
        released.append(content.newest.take())
      }
    }
  }
}
