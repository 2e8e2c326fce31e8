/// An event handler with its state type erased, stored in the context of an operation.
package protocol AnyEventHandler: Sendable {
  /// Returns the handler for a store with the given state type.
  ///
  /// That is the state type that the handler was made for, or one layered on it; nil for any other type.
  func adapted<State: OperationState & Sendable>(to type: State.Type) -> OperationEventHandler<State>?
}

extension OperationEventHandler: AnyEventHandler {
  package func adapted<Other: OperationState & Sendable>(to type: Other.Type) -> OperationEventHandler<Other>? {
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
  /// The handlers that the operation itself is configured with, innermost first.
  package var operationEventHandlers: [any AnyEventHandler] {
    get { self[EventHandlersKey.self] }
    set { self[EventHandlersKey.self] = newValue }
  }

  private enum EventHandlersKey: Key {
    static let defaultValue: [any AnyEventHandler] = []
  }
}
