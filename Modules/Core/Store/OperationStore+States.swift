extension OperationStore {
  /// An asynchronous sequence of the current state and all later ones.
  ///
  /// It ends when the store is released, or removed from its client.
  ///
  /// Each iterator is a subscriber of its own and unsubscribes when it is dropped. A slow iterator receives the newest
  /// state and misses the earlier ones.
  public var states: AsyncStates { AsyncStates(runtime: self.runtime) }

  /// The states of a store, as ``OperationStore/states`` returns them.
  public struct AsyncStates: AsyncSequence, Sendable {
    /// A state and the context of the change that produced it.
    public struct Element: Sendable {
      /// The state.
      public let state: State

      /// The context of the change that produced the state.
      public let context: OperationContext
    }

    public typealias Failure = Never

    let runtime: StoreRuntime

    public func makeAsyncIterator() -> Iterator {
      let (elements, subscription) = OperationStore.makeStream(of: self.runtime) { Element(state: $0, context: $1) }
      return Iterator(base: elements.makeAsyncIterator(), subscription: subscription)
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
