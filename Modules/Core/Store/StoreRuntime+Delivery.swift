extension StoreRuntime {
  /// Delivers the queued events, unless another thread is delivering or this thread has exclusive access.
  func deliver() {
    guard !self.lock.isOwnedByCurrentThread else { return }
    self.deliver(from: self.withMachine { $0.beginDelivery() })
  }

  /// Performs a delivery, and the deliveries behind it in the queue.
  private func deliver(from first: Delivery?) {
    var delivery = first
    while let current = delivery.take() {
      current.perform()
      delivery = self.withMachine { $0.nextDelivery() }
    }
  }

  /// Ends a delivery that bypassed the event queue, and delivers the events that were queued meanwhile.
  func endDelivery() {
    if !self.withMachine({ $0.eventQueue.end() }) { self.deliverRest() }
  }

  /// Delivers the queued events, and ends the delivery that this thread has begun.
  func deliverRest() {
    self.deliver(from: self.withMachine { $0.nextDelivery() })
  }

  /// Performs an action after the events queued so far and before all later ones.
  func performInOrder(_ action: @escaping @Sendable () -> Void) {
    let mayDeliver = !self.lock.isOwnedByCurrentThread
    let isNext = self.withMachine { machine in
      let isNext = mayDeliver && machine.eventQueue.beginDirectly()
      if !isNext { machine.eventQueue.append(.action(action)) }
      return isNext
    }
    guard isNext else { return }
    action()
    self.endDelivery()
  }

  /// Performs an action that may call user code: now, or when the exclusive access of this thread ends.
  func act(_ action: @escaping @Sendable () -> Void) {
    if self.lock.isOwnedByCurrentThread {
      self.withMachine { $0.deferredActions.append(action) }
    } else {
      action()
    }
  }

  /// Runs `body` with exclusive access. When the outermost call ends, delivers the events and performs the actions.
  func withExclusiveAccess<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    defer { self.performDeferredActions() }
    return try self.lock.withExclusiveAccess(body)
  }

  func performDeferredActions() {
    guard !self.lock.isOwnedByCurrentThread else { return }
    let (actions, releases) = self.withMachine { ($0.takeDeferredActions(), $0.takeDeferredReleases()) }
    self.settleObservers()
    self.deliver()
    for action in actions { action() }
    _ = consume releases
  }
}
