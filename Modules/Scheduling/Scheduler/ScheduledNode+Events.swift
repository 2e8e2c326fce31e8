internal import OperationCore

/// An event of an operation, with the observers that the operation had when it happened.
enum NodeEvent: Sendable {
  case started([any OperationObserver])
  case produced(ScheduledNode, [any OperationObserver])
  case ended(OperationOutcome, [any OperationObserver])
  /// What happened before an observer was added.
  case missed(any OperationObserver, hasStarted: Bool, outcome: OperationOutcome?)
}

extension ScheduledNode {
  /// Adds an observer, and notifies it of what has happened already.
  func addObserver(_ observer: any OperationObserver) {
    SchedulingLock.perform { actions in
      if self.state.hasStarted || self.hasOutcome {
        let outcome = self.hasOutcome ? self.state.outcome : nil
        self.state.events.append(.missed(observer, hasStarted: self.state.hasStarted, outcome: outcome))
        actions.deliveries.append(self)
      }
      if !self.hasOutcome { self.state.observers.append(observer) }
    }
  }

  /// Starts the operation, as its conditions are satisfied, and notifies the observers before the body runs, unless
  /// another thread is still notifying them of an earlier event.
  func start() {
    SchedulingLock.perform { self.start(&$0) }
  }

  /// Starts the operation. Called under the lock.
  func start(_ actions: inout SchedulingActions) {
    guard self.state.phase == .preparing else { return }
    self.state.phase = .running
    self.state.hasStarted = true
    guard !self.state.observers.isEmpty else { return }
    self.state.events.append(.started(self.state.observers))
    actions.deliveries.append(self)
  }

  /// Notifies the observers that this operation has produced another one.
  func reportProduct(_ other: ScheduledNode) {
    SchedulingLock.perform { actions in
      guard !self.hasOutcome, !self.state.observers.isEmpty else { return }
      self.state.events.append(.produced(other, self.state.observers))
      actions.deliveries.append(self)
    }
  }

  /// Delivers the events in order, unless another thread is delivering them, and then completes the end if it has come.
  func deliverEvents() {
    var next = SchedulingLock.withLock { self.state.events.begin() }
    while let event = next {
      self.deliver(event)
      next = SchedulingLock.perform { actions in
        let next = self.state.events.next()
        // In one step with the end of the delivery: an observer that a caller of `value` adds is notified at once.
        if next == nil, self.state.phase == .ending { self.core.complete(self, &actions) }
        return next
      }
    }
  }

  private func deliver(_ event: NodeEvent) {
    let operation = AnyScheduledOperation(node: self)
    switch event {
    case .started(let observers):
      for observer in observers { observer.operationDidStart(operation) }
    case .produced(let other, let observers):
      let other = AnyScheduledOperation(node: other)
      for observer in observers { observer.operation(operation, didProduce: other) }
    case .ended(let outcome, let observers):
      for observer in observers { observer.operation(operation, didFinishWith: outcome) }
    case .missed(let observer, let hasStarted, let outcome):
      if hasStarted { observer.operationDidStart(operation) }
      if let outcome { observer.operation(operation, didFinishWith: outcome) }
    }
  }
}
