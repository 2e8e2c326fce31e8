extension OperationStore {
  /// Subscribes to the events of the store until the subscription is cancelled or dropped.
  ///
  /// The handler receives the current state at once. If the value is stale and automatic running is enabled, the store
  /// runs the operation, or uses a run under way. That run is cancelled when the last subscriber has left and no caller
  /// waits for it. The subscription does not keep the store alive. If the operation shares runs, a `fetch()` after this
  /// call joins that run while it is under way. After its end, a `fetch()` makes a second run.
  ///
  /// - Parameters:
  ///   - handler: Called in event order with no lock held, on the thread that delivers the event.
  ///   - isolation: The actor of the caller. With an actor, a run that this call starts does not begin on that actor.
  ///     With nil, it begins on the current thread at once and stays there until it first suspends. A nonisolated
  ///     function that may be called on an actor should take an isolation parameter and pass it on here.
  /// - Returns: The subscription. Events stop when it is cancelled or dropped.
  public func subscribe(
    with handler: OperationEventHandler<State>,
    isolation: (any Actor)? = #isolation
  ) -> OperationSubscription {
    self.runtime.subscribe(handler, mode: isolation == nil ? .immediate : .enqueued)
  }

  /// Subscribes to the events of the store for a caller that does not know its actor: a run does not begin on it.
  package func subscribe(enqueuing handler: OperationEventHandler<State>) -> OperationSubscription {
    self.runtime.subscribe(handler, mode: .enqueued)
  }
}

extension OperationStore where State: QueryStateProtocol {
  /// Subscribes to the events of the store until the subscription is cancelled or dropped.
  ///
  /// Works like the method that takes an ``OperationEventHandler``.
  ///
  /// - Parameters:
  ///   - handler: Called in event order with no lock held, on the thread that delivers the event.
  ///   - isolation: The actor of the caller, on which a run that this call starts does not begin.
  /// - Returns: The subscription. Events stop when it is cancelled or dropped.
  public func subscribe(
    with handler: QueryEventHandler<State>,
    isolation: (any Actor)? = #isolation
  ) -> OperationSubscription {
    self.subscribe(with: OperationEventHandler(handler), isolation: isolation)
  }
}

// MARK: - Names

extension OperationStore {
  /// Subscribes to the events of the store under a name, which explanations and events show.
  ///
  /// ```swift
  /// self.subscription = store.subscribe(named: "PostView", with: handler)
  /// ```
  ///
  /// Works like ``subscribe(with:isolation:)-(OperationEventHandler<State>,_)`` otherwise.
  ///
  /// - Parameters:
  ///   - name: The name of the subscriber, without user data, such as the name of a view.
  ///   - handler: Called in event order with no lock held, on the thread that delivers the event.
  ///   - isolation: The actor of the caller, on which a run that this call starts does not begin.
  /// - Returns: The subscription. Events stop when it is cancelled or dropped.
  public func subscribe(
    named name: String,
    with handler: OperationEventHandler<State> = OperationEventHandler(),
    isolation: (any Actor)? = #isolation
  ) -> OperationSubscription {
    let mode: SharedRun.StartMode = isolation == nil ? .immediate : .enqueued
    return self.runtime.subscribe(handler, mode: mode, name: SubscriberName(name))
  }

  /// Subscribes as ``subscribe(with:isolation:)-(OperationEventHandler<State>,_)`` does, under a name.
  ///
  /// - Parameters:
  ///   - name: The name of the subscriber, without user data.
  ///   - runs: Whether the operation runs if it is stale.
  ///   - handler: Called in event order with no lock held.
  /// - Returns: The subscription.
  package func subscribe(
    named name: String,
    runsIfStale runs: Bool,
    with handler: OperationEventHandler<State>
  ) -> OperationSubscription {
    self.runtime.subscribe(handler, mode: runs ? .immediate : nil, name: SubscriberName(name))
  }
}

extension OperationStore where State: QueryStateProtocol {
  /// Subscribes to the events of the store under a name, which explanations and events show.
  ///
  /// Works like the method that takes an ``OperationEventHandler``.
  ///
  /// - Parameters:
  ///   - name: The name of the subscriber, without user data, such as the name of a view.
  ///   - handler: Called in event order with no lock held, on the thread that delivers the event.
  ///   - isolation: The actor of the caller, on which a run that this call starts does not begin.
  /// - Returns: The subscription. Events stop when it is cancelled or dropped.
  public func subscribe(
    named name: String,
    with handler: QueryEventHandler<State>,
    isolation: (any Actor)? = #isolation
  ) -> OperationSubscription {
    self.subscribe(named: name, with: OperationEventHandler(handler), isolation: isolation)
  }
}

extension OpaqueOperationStore {
  /// Subscribes to the events of the store under a name, which explanations and events show.
  ///
  /// Works like ``subscribe(with:isolation:)`` otherwise.
  ///
  /// - Parameters:
  ///   - name: The name of the subscriber, without user data, such as the name of a view.
  ///   - handler: Called in event order with no lock held, on the thread that delivers the event.
  ///   - isolation: The actor of the caller, on which a run that this call starts does not begin.
  /// - Returns: The subscription. Events stop when it is cancelled or dropped.
  public func subscribe(
    named name: String,
    with handler: OpaqueOperationEventHandler = OpaqueOperationEventHandler(),
    isolation: (any Actor)? = #isolation
  ) -> OperationSubscription {
    self.typed.subscribe(named: name, with: handler, isEnqueued: isolation != nil)
  }
}

// MARK: - Closures

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

// MARK: - States

extension OperationStore {
  /// An asynchronous sequence of the current state and all later ones.
  ///
  /// It ends when the store is released, or removed from its client.
  ///
  /// Each iterator is a subscriber of its own and unsubscribes when it is dropped. A slow iterator receives the newest
  /// state and misses the earlier ones.
  public var states: AsyncStates { AsyncStates(runtime: self.runtime) }

  /// The states of a store, as ``OperationStore/states`` returns them.
  public struct AsyncStates: AsyncSequence, Sendable {
    /// A state and the context of the change that produced it.
    public struct Element: Sendable {
      /// The state.
      public let state: State

      /// The context of the change that produced the state.
      public let context: OperationContext
    }

    public typealias Failure = Never

    let runtime: StoreRuntime

    public func makeAsyncIterator() -> Iterator {
      let (elements, subscription) = OperationStore.makeStream(of: self.runtime) { Element(state: $0, context: $1) }
      return Iterator(base: elements.makeAsyncIterator(), subscription: subscription)
    }

    /// Iterates over the states of a store.
    public struct Iterator: AsyncIteratorProtocol {
      public typealias Failure = Never

      var base: AsyncStream<Element>.Iterator
      let subscription: OperationSubscription

      public mutating func next() async -> Element? {
        await self.base.next()
      }

      public mutating func next(isolation: isolated (any Actor)?) async -> Element? {
        await self.base.next(isolation: isolation)
      }
    }
  }
}

// MARK: - Streams

extension OperationStore {
  /// Subscribes to the store, and streams the results of a closure for the current state and for later states.
  ///
  /// - Parameters:
  ///   - runtime: The runtime of the store, which the stream does not keep alive.
  ///   - makeElement: Returns the element for a state, or nil to leave the state out.
  /// - Returns: The stream and the subscription that feeds it. The stream keeps the newest element, and ends when the
  ///   store is released, or removed from its client. Dropping the stream or cancelling its reader ends the subscription.
  static func makeStream<Element: Sendable>(
    of runtime: StoreRuntime,
    _ makeElement: @escaping @Sendable (State, OperationContext) -> Element?
  ) -> (elements: AsyncStream<Element>, subscription: OperationSubscription) {
    let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: .bufferingNewest(1))
    let handler = OperationEventHandler<State>(
      onStateChanged: { state, context in
        if let element = makeElement(state, context) { continuation.yield(element) }
      }
    )
    let subscription = runtime.subscribe(handler, mode: .enqueued) { continuation.finish() }
    continuation.onTermination = { _ in subscription.cancel() }
    return (stream, subscription)
  }
}
