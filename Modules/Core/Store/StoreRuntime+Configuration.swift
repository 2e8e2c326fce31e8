extension StoreRuntime {
  /// Attaches the handlers and controllers that the operation's modifiers put in the context.
  @usableFromInline
  func attachConfiguration(of context: OperationContext) {
    let (handlers, controllers) = (context.operationEventHandlers, context.operationControllers)
    let probes = context.operationProbes
    let followsSpecification = context.changingAutomaticRunningSpecification != nil
    if handlers.isEmpty, controllers.isEmpty, probes.isEmpty, !followsSpecification { return }
    self.noteDependent()
    for handler in handlers {
      if let handler = handler.adapted(to: State.self) {
        self.machine.withLock { _ = $0.subscribers.add(handler, role: .listener) }
      } else {
        self.reportMismatch(of: type(of: handler))
      }
    }
    guard !controllers.isEmpty || !probes.isEmpty || followsSpecification else { return }
    var subscriptions = controllers.map { self.start($0) } + probes.map { $0.storeWasMade() }
    if let subscription = self.followAutomaticRunning(in: context) { subscriptions.append(subscription) }
    // Most stores have at most one controller, which needs no combined subscription.
    let subscription = subscriptions.count == 1 ? subscriptions[0] : .combined(subscriptions)
    self.machine.withLock { $0.controllers = subscription }
  }

  private func start<Controller: OperationController & Sendable>(_ controller: Controller) -> OperationSubscription {
    guard let controls = self.controls(for: Controller.State.self) else {
      self.reportMismatch(of: Controller.self)
      return .empty
    }
    return controller.control(with: controls)
  }

  private func reportMismatch(of type: any Any.Type) {
    OperationWarning(
      code: .stateMismatch,
      message: """
        \(type) is attached to the operation at \(self.path), whose state is \(State.self). It is ignored. Attach it to \
        an operation with the state that it was written for.
        """
    ).report()
  }
}
