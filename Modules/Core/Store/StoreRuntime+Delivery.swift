extension StoreRuntime {
  /// Delivers the queued events, unless another thread is delivering or this thread has exclusive access.
  @usableFromInline
  func deliver() {
    guard !self.machine.isOwnedByCurrentThread else { return }
    self.deliver(from: self.machine.withLock { $0.beginDelivery() })
  }

  /// Performs a delivery, and those that follow it in the queue.
  private func deliver(from first: Delivery<State>?) {
    var delivery = first
    while let current = delivery {
      current.perform()
      delivery = self.machine.withLock { $0.nextDelivery() }
    }
  }

  /// Ends a delivery that bypassed the event queue, and delivers the events that were queued meanwhile.
  @inlinable
  func endDelivery() {
    if !self.machine.withLock({ $0.eventQueue.end() }) { self.deliverRest() }
  }

  /// Delivers the queued events, and ends the delivery that this thread has begun.
  @usableFromInline
  func deliverRest() {
    self.deliver(from: self.machine.withLock { $0.nextDelivery() })
  }

  /// Performs an action after the events queued so far and before all later ones.
  @usableFromInline
  func performInOrder(_ action: @escaping @Sendable () -> Void) {
    let mayDeliver = !self.machine.isOwnedByCurrentThread
    let isNext = self.machine.withLock { machine in
      let isNext = mayDeliver && machine.eventQueue.beginDirectly()
      if !isNext { machine.eventQueue.append(.action(action)) }
      return isNext
    }
    guard isNext else { return }
    action()
    self.endDelivery()
  }

  /// Performs an action that may call user code: now, or when the exclusive access of this thread ends.
  @inlinable
  func act(_ action: @escaping @Sendable () -> Void) {
    if self.machine.isOwnedByCurrentThread {
      self.machine.withLock { $0.deferredActions.append(action) }
    } else {
      action()
    }
  }

  /// Runs `body` with exclusive access. When the outermost call ends, delivers the events and performs the actions.
  @inlinable
  func withExclusiveAccess<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    defer { self.performDeferredActions() }
    return try self.lock.withExclusiveAccess(body)
  }

  @usableFromInline
  func performDeferredActions() {
    guard !self.machine.isOwnedByCurrentThread else { return }
    let (actions, releases) = self.machine.withLock { ($0.takeDeferredActions(), $0.takeDeferredReleases()) }
    self.deliver()
    for action in actions { action() }
    _ = consume releases
  }
}
