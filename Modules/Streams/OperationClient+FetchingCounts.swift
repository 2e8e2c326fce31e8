public import OperationCore

extension OperationClient {
  /// The numbers of stores that have a run under way, at paths that start with `path`: the current one, and later ones.
  ///
  /// ```swift
  /// for await count in client.fetchingCounts(matching: ["posts"]) { spinner.isVisible = count > 0 }
  /// ```
  ///
  /// It follows the result of ``/OperationCore/OperationClient/isFetching(matching:)`` from the events of the stores,
  /// and counts nothing without an iterator. A slow iterator receives the newest number and misses the earlier ones. No
  /// number comes twice in a row.
  ///
  /// - Parameter path: The prefix; the empty path matches all stores.
  /// - Returns: The sequence, which does not keep the client alive while it is iterated. It ends when its task is
  ///   cancelled.
  /// - Complexity: O(*n*) in the number of matching stores to make an iterator, and O(1) for each change.
  public func fetchingCounts(matching path: OperationPath = []) -> FetchingCounts {
    FetchingCounts(client: self, path: path)
  }

  /// The numbers of stores that have a run under way, as ``OperationCore/OperationClient/fetchingCounts(matching:)``
  /// returns them.
  public struct FetchingCounts: AsyncSequence, Sendable {
    public typealias Element = Int
    public typealias Failure = Never

    let client: OperationClient
    let path: OperationPath

    public func makeAsyncIterator() -> Iterator {
      let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
      let counter = FetchingCounter { continuation.yield() }
      let subscription = counter.start(self.client, matching: self.path)
      continuation.yield()
      continuation.onTermination = { _ in subscription.cancel() }
      return Iterator(changes: changes.makeAsyncIterator(), counter: counter, subscription: subscription)
    }

    /// Iterates over the numbers of stores that have a run under way.
    public struct Iterator: AsyncIteratorProtocol {
      public typealias Failure = Never

      var changes: AsyncStream<Void>.Iterator
      let counter: FetchingCounter
      let subscription: OperationSubscription
      var last: Int?

      init(changes: AsyncStream<Void>.Iterator, counter: FetchingCounter, subscription: OperationSubscription) {
        self.changes = changes
        self.counter = counter
        self.subscription = subscription
      }

      public mutating func next() async -> Int? {
        await self.next(isolation: nil)
      }

      public mutating func next(isolation: isolated (any Actor)?) async -> Int? {
        while await self.changes.next(isolation: isolation) != nil {
          let count = self.counter.count
          guard count != self.last else { continue }
          self.last = count
          return count
        }
        return nil
      }
    }
  }
}
