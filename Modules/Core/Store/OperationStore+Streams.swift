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
