extension OperationStore {
  /// An asynchronous sequence of the current value and all later ones.
  ///
  /// It ends when the store is released, or removed from its client.
  ///
  /// A value is repeated when it is set again, but not when a run begins, pauses or fails. Each iterator is a
  /// subscriber of its own and unsubscribes when it is dropped. A slow iterator receives the newest value and misses
  /// the earlier ones.
  public var values: AsyncValues { AsyncValues(runtime: self.runtime) }

  /// The values of a store, as ``OperationStore/values`` returns them.
  public struct AsyncValues: AsyncSequence, Sendable {
    public typealias Element = State.StateValue
    public typealias Failure = Never

    let runtime: StoreRuntime

    public func makeAsyncIterator() -> Iterator {
      let last = Locked<(values: Int, errors: Int)?>(nil)
      let (values, subscription) = OperationStore.makeStream(of: self.runtime) { state, context -> Element? in
        let counts = (values: state.valueUpdateCount, errors: state.errorUpdateCount)
        let previous = last.withLock { last in
          defer { last = counts }
          return last
        }
        let isSet = previous?.values != counts.values
        // Optimistic updates and resets show another value without setting one. They come from outside of runs.
        let isShownAnew = context.operationRunningTaskIdentifier == nil && previous?.errors == counts.errors
        return isSet || isShownAnew ? .some(state.currentValue) : nil
      }
      return Iterator(base: values.makeAsyncIterator(), subscription: subscription)
    }

    /// Iterates over the values of a store.
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
