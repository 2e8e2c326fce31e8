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
    self.noteDependent()
    let mayDeliver = !self.machine.isOwnedByCurrentThread
    var (state, context) = (State?.none, OperationContext())
    let (subscriber, audience, news) = self.machine.withLock { machine in
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
    if self.isAutomaticRunningEnabled, self.isStale { self.runForSubscribers(departure: departure) }
    return OperationSubscription { self.unsubscribe(subscriber) }
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
    let flight: RunFlight? = self.machine.withLock { machine in
      guard machine.subscribers.count > 0 else { return nil }
      if machine.heldFlights.contains(where: { !$0.isCancelled }) { return nil }
      for run in machine.runs.reversed() where run.isShown && run.task.flight.hold() {
        machine.heldFlights.append(run.task.flight)
        return nil
      }
      let flight = self.makeFlight(in: context)
      if flight.hold() { machine.heldFlights.append(flight) }
      return flight
    }
    guard let flight else { return }
    self.act { flight.begin(in: context, departure: departure) }
  }

  /// A task that runs the operation again for the subscribers, who keep it alive together with those who await it.
  @inlinable
  func makeRerunTask(using context: OperationContext?) -> Task {
    var task = self.makeTask(using: context)
    task.context.run.isForSubscribers = true
    return task
  }

  /// Calls `observer` after the first subscriber came or the last one left, and after the first run began or the last ended.
  @inlinable
  func observeActivity(_ observer: @escaping @Sendable () -> Void) -> OperationSubscription {
    self.noteDependent()
    let id = self.machine.withLock { machine in
      let id = (machine.activityObservers.keys.max() ?? 0) + 1
      machine.activityObservers[id] = observer
      return id
    }
    return OperationSubscription {
      let observer = self.machine.withLock { $0.activityObservers.removeValue(forKey: id) }
      _ = consume observer  // Released after the lock.
    }
  }

  /// The store is gone: its subscribers hear no more, and nobody keeps its automatic runs alive.
  func close() {
    let (subscribers, flights, controllers, observers) = self.machine.withLock { machine in
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
