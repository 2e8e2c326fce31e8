extension StoreRuntime {
  /// Attaches the handlers, controllers and observers that modifiers of the operation have put into the context.
  ///
  /// - Parameters:
  ///   - context: The context that the operation has set up.
  ///   - state: The type of the state of the store.
  func attachConfiguration<State: OperationState & Sendable>(of context: OperationContext, for state: State.Type) {
    // A controller may change the state at once, for example to a stored one.
    if context.event.isOfNewStore { context.clientObservers?.storeWillBeTaken(self) }
    let (handlers, controllers) = (context.operationEventHandlers, context.operationControllers)
    let followsSpecification = context.changingAutomaticRunningSpecification != nil
    let observers = context.operationObservers
    if handlers.isEmpty, controllers.isEmpty, observers.isEmpty, !followsSpecification { return }
    self.noteDependent()
    // Observers come before controllers, because a controller may set a value.
    for observer in observers { self.add(StoreObserving(observer)) }
    for handler in handlers {
      if let handler = handler.adapted(to: State.self) {
        let subscriber = TypedSubscriber(handler)
        self.withMachine { $0.subscribers.add(subscriber, role: .listener) }
      } else {
        self.reportMismatch(of: type(of: handler), with: state)
      }
    }
    guard !controllers.isEmpty || followsSpecification else { return }
    var subscriptions = controllers.map { self.start($0, for: state) }
    if let subscription = self.followAutomaticRunning(in: context) { subscriptions.append(subscription) }
    // Most stores have at most one controller, which needs no combined subscription.
    let subscription = subscriptions.count == 1 ? subscriptions[0] : .combined(subscriptions)
    self.withMachine { $0.controllers = subscription }
  }

  private func start<State: OperationState & Sendable, Controller: OperationController & Sendable>(
    _ controller: Controller,
    for state: State.Type
  ) -> OperationSubscription {
    guard let projection = StateProjection<Controller.State>(from: state) else {
      self.reportMismatch(of: Controller.self, with: state)
      return .empty
    }
    return controller.control(
      with: OperationControls(runtime: self, projection: projection, controller: Controller.self)
    )
  }

  private func reportMismatch(of type: any Any.Type, with state: any Any.Type) {
    OperationWarning(
      code: .stateMismatch,
      message: """
        \(type) is attached to the operation at \(ShownText.of(self.path)), whose state is \(state). It is ignored. \
        Attach it to an operation with the state that it was written for.
        """
    ).report()
  }
}
