internal import OperationCore

extension CircuitBreaker {
  /// An asynchronous sequence of the current state and all later ones, which ends when the breaker is released.
  ///
  /// Each iterator has its own buffer of 64 states. A slower iterator misses the oldest ones.
  public var states: AsyncStates { AsyncStates(broadcast: self.broadcast) }

  /// The states of a circuit breaker, as ``CircuitBreaker/states`` returns them.
  public struct AsyncStates: AsyncSequence, Sendable {
    /// A state of the breaker.
    public typealias Element = State

    public typealias Failure = Never

    let broadcast: Broadcast<State?>

    public func makeAsyncIterator() -> Iterator {
      let (stream, continuation) = AsyncStream.makeStream(of: State.self, bufferingPolicy: .bufferingNewest(64))
      let subscription = self.broadcast.subscribe { state in
        if let state { continuation.yield(state) } else { continuation.finish() }
      }
      return Iterator(base: stream.makeAsyncIterator(), subscription: subscription)
    }

    /// Iterates over the states of a circuit breaker.
    public struct Iterator: AsyncIteratorProtocol {
      public typealias Failure = Never

      var base: AsyncStream<State>.Iterator
      let subscription: OperationSubscription

      public mutating func next() async -> State? {
        await self.base.next()
      }

      public mutating func next(isolation: isolated (any Actor)?) async -> State? {
        await self.base.next(isolation: isolation)
      }
    }
  }
}
