/// An event handler with its state type erased, stored in the context of an operation.
protocol AnyEventHandler: Sendable {
  /// Returns the handler for a store with the given state type.
  ///
  /// That is the state type that the handler was made for, or one layered on it; nil for any other type.
  func adapted<State: OperationState & Sendable>(to type: State.Type) -> OperationEventHandler<State>?
}

extension OperationEventHandler: AnyEventHandler {
  func adapted<Other: OperationState & Sendable>(to type: Other.Type) -> OperationEventHandler<Other>? {
    if let handler = self as? OperationEventHandler<Other> { return handler }
    guard let layered = type as? any LayeredOperationState.Type else { return nil }
    return self.lifted(through: layered, to: type)
  }

  private func lifted<Layer: LayeredOperationState, Other: OperationState & Sendable>(
    through layer: Layer.Type,
    to type: Other.Type
  ) -> OperationEventHandler<Other>? {
    guard let handler = self.adapted(to: Layer.Base.self) else { return nil }
    var lifted = OperationEventHandler<Layer>(onRunStarted: handler.onRunStarted, onRunEnded: handler.onRunEnded)
    lifted.onResultReceived = handler.onResultReceived
    lifted.onAttemptFailed = handler.onAttemptFailed
    lifted.onStoreRemoved = handler.onStoreRemoved
    if let onStateChanged = handler.onStateChanged {
      lifted.onStateChanged = { state, context in onStateChanged(state.base, context) }
    }
    return lifted as? OperationEventHandler<Other>
  }
}

extension OperationContext {
  /// Adds a handler of the events of the store that is made with this context. A modifier calls it in its setup.
  ///
  /// Users add handlers by the modifier `handleEvents(with:)`, which does the same.
  ///
  /// - Parameter handler: Called in event order with no lock held. It is not called if the state of the store is neither
  ///   of type `State` nor a ``LayeredOperationState`` around one.
  public mutating func addEventHandler<State: OperationState & Sendable>(_ handler: OperationEventHandler<State>) {
    self.operationEventHandlers.append(handler)
  }

  /// Removes the handlers, for a context that goes on to another operation.
  package mutating func removeEventHandlers() { self.operationEventHandlers = [] }

  /// The handlers that the operation itself is configured with, innermost first.
  var operationEventHandlers: [any AnyEventHandler] {
    get { self[EventHandlersKey.self] }
    set { self[EventHandlersKey.self] = newValue }
  }

  private enum EventHandlersKey: Key {
    static let defaultValue: [any AnyEventHandler] = []
  }
}
