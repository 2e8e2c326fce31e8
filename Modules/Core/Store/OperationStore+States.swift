extension OperationStore {
  /// The states of the store, the present one first, for as long as the store lives.
  ///
  /// Each iterator is a subscriber of its own. One that is slow gets the newest state and misses those before it.
  public var states: AsyncStates { AsyncStates(runtime: self.runtime) }

  /// The states of a store.
  public struct AsyncStates: AsyncSequence, Sendable {
    /// A state and the context in which it came about.
    public struct Element: Sendable {
      /// The state.
      public let state: State

      /// The context in which it came about.
      public let context: OperationContext
    }

    public typealias Failure = Never

    let runtime: StoreRuntime<State>

    public func makeAsyncIterator() -> Iterator {
      let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: .bufferingNewest(1))
      let handler = OperationEventHandler<State>(
        onStateChanged: { continuation.yield(Element(state: $0, context: $1)) }
      )
      let subscription = self.runtime.subscribe(handler, mode: .enqueued) { continuation.finish() }
      continuation.onTermination = { _ in subscription.cancel() }
      return Iterator(base: stream.makeAsyncIterator(), subscription: subscription)
    }

    /// Iterates over the states of a store.
    public struct Iterator: AsyncIteratorProtocol {
      public typealias Failure = Never

      var base: AsyncStream<Element>.Iterator
      let subscription: OperationSubscription

      public mutating func next() async -> Element? {
        await self.base.next()
      }

      public mutating func next(isolation: isolated (any Actor)?) async -> Element? {
        await self.base.next(isolation: isolation)
      }
    }
  }
}
