internal import Synchronization

extension StoreRuntime {
  /// Adds a subscriber, hands it the state, and runs the operation where that is due.
  ///
  /// - Parameter departure: `enqueued` where the caller is on an actor, which the operation is to leave.
  @inlinable
  func subscribe(
    _ handler: OperationEventHandler<State>,
    departure: RunFlight.Departure,
    onStoreGone: (@Sendable () -> Void)? = nil
  ) -> OperationSubscription {
    if self.isProbed { return self.subscribeProbed(handler, departure: departure, onStoreGone: onStoreGone) }
    return self.addSubscriber(handler, departure: departure, onStoreGone: onStoreGone)
  }

  @inlinable
  func addSubscriber(
    _ handler: OperationEventHandler<State>,
    departure: RunFlight.Departure,
    onStoreGone: (@Sendable () -> Void)?
  ) -> OperationSubscription {
    var isClosed = self.noteDependent()
    let mayDeliver = !self.machine.isOwnedByCurrentThread
    var (state, context) = (State?.none, OperationContext())
    let (subscriber, audience, news) = self.machine.withLock { machine in
      if machine.isClosed { isClosed = true }
      let subscriber = machine.subscribers.add(handler, role: .subscriber, onStoreGone: onStoreGone)
      context = machine.context
      let audience = machine.audience(
        of: StoreNews(isStateNew: true),
        result: nil,
        context,
        run: nil,
        addressee: subscriber,
        mayDeliver: mayDeliver
      )
      if audience != nil { state = machine.shownState }
      return (subscriber, audience, self.activityNews(of: &machine))
    }
    if let audience {
      audience.hear(state: state, result: nil, turn: nil, context, run: nil)
      self.endDelivery()
    }
    if let news { self.tell(news) }
    if isClosed { return self.subscriptionToClosedStore(subscriber) }
    if self.isAutomaticRunningEnabled, self.isStale { self.runForSubscribers(departure: departure) }
    return OperationSubscription { self.unsubscribe(subscriber) }
  }

  /// Ends a subscription that came when the store was gone: it has the last state, and nothing follows.
  @usableFromInline
  func subscriptionToClosedStore(_ subscriber: Subscriber<State>) -> OperationSubscription {
    self.unsubscribe(subscriber)
    subscriber.onStoreGone?()
    return .empty
  }

  @inlinable
  func unsubscribe(_ subscriber: Subscriber<State>) {
    subscriber.cancel()
    let flights: [RunFlight] = self.machine.withLock { machine in
      guard machine.subscribers.remove(subscriber), machine.subscribers.count == 0 else { return [] }
      defer { machine.heldFlights = [] }
      return machine.heldFlights
    }
    if !flights.isEmpty { self.act { for flight in flights { flight.release() } } }
    self.activityChanged()
  }

  /// Runs the operation on behalf of all subscribers, unless a run is there, which they then keep alive.
  @inlinable
  func runForSubscribers(departure: RunFlight.Departure) {
    let context = self.context
    if context.automaticRunsAreStopped { return }
    let task: Task? = self.machine.withLock { machine in
      guard machine.subscribers.count > 0, !machine.holdsRefresh() else { return nil }
      // Its first owners are the subscribers.
      let task = Task(flight: self.makeFlight(in: context, holders: 1), context: context)
      machine.heldFlights.append(task.flight)
      machine.reservedTasks.append(task)
      return task
    }
    guard let task else { return }
    self.act { task.flight.begin(in: task.context, departure: departure) }
  }

  /// A task that runs the operation again for the subscribers, who keep it alive together with those who await it.
  @inlinable
  func makeRerunTask(using context: OperationContext?) -> Task {
    var task = self.makeNamedTask(using: context)
    task.context.run.isForSubscribers = true
    return task
  }

  /// Calls `observer` after the first subscriber came or the last one left, and after the first run began or the last ended.
  func observeActivity(_ observer: @escaping @Sendable () -> Void) -> OperationSubscription {
    let isClosed = self.noteDependent()
    let isCancelled = Switch(false)
    let id = self.machine.withLock { machine in
      if isClosed || machine.isClosed { return UInt64(0) }
      let id = (machine.activityObservers.keys.max() ?? 0) + 1
      machine.activityObservers[id] = { if !isCancelled.isOn { observer() } }
      return id
    }
    return OperationSubscription {
      _ = isCancelled.set(true)
      let observer = self.machine.withLock { $0.activityObservers.removeValue(forKey: id) }
      _ = consume observer  // Released after the lock.
    }
  }

  /// The store is gone: its subscribers hear no more, and nobody keeps its automatic runs alive.
  func close() {
    let (subscribers, flights, controllers, observers) = self.machine.withLock { machine in
      machine.isClosed = true
      defer {
        machine.heldFlights = []
        machine.controllers = nil
        if !machine.activityObservers.isEmpty { machine.activityObservers = [:] }
      }
      return (machine.subscribers.removeAll(), machine.heldFlights, machine.controllers, machine.activityObservers)
    }
    for subscriber in subscribers { subscriber.onStoreGone?() }
    for flight in flights { flight.release() }
    controllers?.cancel()
    _ = consume observers  // Released after the lock.
  }
}

extension StoreMachine {
  /// Whether a run is there, or will be, that the subscribers keep alive and that brings what they are to get.
  @usableFromInline
  mutating func holdsRefresh() -> Bool {
    let isHeld = self.heldFlights.contains { flight in
      if let index = self.index(ofRun: flight.id) { return self.canRefresh(self.runs[index]) }
      return flight.isAlive && self.reservedTasks.contains { $0.id == flight.id }
    }
    if isHeld { return true }
    for run in self.runs.reversed() where self.canRefresh(run) && run.task.flight.hold() {
      self.heldFlights.append(run.task.flight)
      return true
    }
    // What those bring is older than the invalidation: the rerun comes when they have ended.
    if self.isInvalidated, !self.runsBeforeInvalidation.isEmpty {
      self.owesRerun = true
      return true
    }
    return false
  }
}
