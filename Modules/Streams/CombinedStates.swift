public import OperationCore

/// The states of several stores as one value: ``combinedStates(of:)`` and `client.states(of:)` make the sequence.
///
/// Each element has the newest states of all stores at the time when it is read. The first element is available at
/// once. States that change while the reader is busy arrive together. Each iterator is a subscriber of each store, so
/// stale values are fetched, and it unsubscribes when it is dropped. The sequence keeps the stores alive, and ends when
/// its task is cancelled. When a client removes a store, the sequence goes on with the client's next store at that path.
public struct CombinedStates<Element>: AsyncSequence, Sendable {
  public typealias Failure = Never

  /// Subscribes to all stores. The closure is called after each change.
  private let subscribe: @Sendable (@escaping @Sendable () -> Void) -> OperationSubscription
  private let read: @Sendable () -> Element
  /// Whether to leave an element out that equals the element before it; nil to leave none out.
  private let isRepeated: (@Sendable (Element, Element) -> Bool)?

  init(
    subscribe: @escaping @Sendable (@escaping @Sendable () -> Void) -> OperationSubscription,
    read: @escaping @Sendable () -> Element,
    isRepeated: (@Sendable (Element, Element) -> Bool)? = nil
  ) {
    self.subscribe = subscribe
    self.read = read
    self.isRepeated = isRepeated
  }

  /// The results of a closure for the states. A result that equals the one before it is left out.
  ///
  /// ```swift
  /// let isLoading = client.states(of: queries).combined { states in states.contains { $0.isLoading } }
  /// ```
  ///
  /// - Parameter combine: Returns one value for the states. Called by the reader, with no lock held.
  /// - Returns: The sequence of results.
  public func combined<Combined: Equatable & Sendable>(
    _ combine: @escaping @Sendable (Element) -> Combined
  ) -> CombinedStates<Combined> {
    let read = self.read
    return CombinedStates<Combined>(subscribe: self.subscribe, read: { combine(read()) }, isRepeated: { $0 == $1 })
  }

  public func makeAsyncIterator() -> Iterator {
    let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let subscription = self.subscribe { continuation.yield() }
    // Without stores, nothing else would yield the first element.
    continuation.yield()
    continuation.onTermination = { _ in subscription.cancel() }
    return Iterator(states: self, changes: changes.makeAsyncIterator(), subscription: subscription)
  }

  /// Iterates over the states of several stores.
  public struct Iterator: AsyncIteratorProtocol {
    public typealias Failure = Never

    private let states: CombinedStates
    private var changes: AsyncStream<Void>.Iterator
    private let subscription: OperationSubscription
    private var last: Element?

    fileprivate init(
      states: CombinedStates,
      changes: AsyncStream<Void>.Iterator,
      subscription: OperationSubscription
    ) {
      self.states = states
      self.changes = changes
      self.subscription = subscription
    }

    public mutating func next() async -> Element? {
      await self.next(isolation: nil)
    }

    public mutating func next(isolation: isolated (any Actor)?) async -> Element? {
      while await self.changes.next(isolation: isolation) != nil {
        let element = self.states.read()
        guard let isRepeated = self.states.isRepeated else { return element }
        if let last = self.last, isRepeated(last, element) { continue }
        self.last = element
        return element
      }
      return nil
    }
  }
}

extension Sequence {
  /// Follows the states of several stores of one type as one value.
  ///
  /// - Returns: The sequence of the states, each element in the order of the stores.
  /// - Complexity: O(*n*) in the number of stores for each element that is read.
  public func combinedStates<State>() -> CombinedStates<[State]> where Element == OperationStore<State> {
    let stores = self.map { FollowedStore($0) }
    return CombinedStates(
      subscribe: { onChange in .combined(stores.map { $0.subscribe(calling: onChange) }) },
      read: { stores.map(\.store.state) }
    )
  }
}

/// Follows the states of several stores, each of its own type, as one value.
///
/// ```swift
/// for await (user, posts) in combinedStates(of: userStore, postsStore) {
///   print(user.currentValue as Any, posts.isLoading)
/// }
/// ```
///
/// - Parameter store: The stores.
/// - Returns: The sequence of the states, each element in the order of the stores.
public func combinedStates<each State: OperationState & Sendable>(
  of store: repeat OperationStore<each State>
) -> CombinedStates<(repeat each State)> {
  let followed = (repeat FollowedStore(each store))
  return CombinedStates(
    subscribe: { onChange in
      var subscriptions: [OperationSubscription] = []
      repeat subscriptions.append((each followed).subscribe(calling: onChange))
      return .combined(subscriptions)
    },
    read: { (repeat (each followed).store.state) }
  )
}

extension OperationClient {
  /// Follows the states of several queries of one type as one value.
  ///
  /// ```swift
  /// for await posts in client.states(of: ids.map { PostQuery(id: $0) }) {
  ///   print(posts.count { $0.isLoading }, "of", posts.count, "are loading")
  /// }
  /// ```
  ///
  /// - Parameter queries: The queries, whose stores are made if need be.
  /// - Returns: The sequence of the states, each element in the order of the queries.
  /// - Complexity: O(*n*) in the number of queries for each element that is read.
  public func states<Queries: Sequence>(
    of queries: Queries
  ) -> CombinedStates<[QueryState<Queries.Element.Value, Queries.Element.Failure>]>
  where Queries.Element: QueryRequest {
    queries.map { self.store(for: $0, fileID: "", line: 0) }.combinedStates()
  }

  /// Follows the states of several operations of one type that provide their initial states, as one value.
  ///
  /// - Parameter operations: The operations, such as queries with a default value. Their stores are made if need be.
  /// - Returns: The sequence of the states, each element in the order of the operations.
  /// - Complexity: O(*n*) in the number of operations for each element that is read.
  public func states<Operations: Sequence>(
    of operations: Operations
  ) -> CombinedStates<[Operations.Element.State]>
  where Operations.Element: DefaultStateRequest {
    operations.map { self.store(for: $0, fileID: "", line: 0) }.combinedStates()
  }

  /// Follows the states of several queries, each of its own type, as one value.
  ///
  /// ```swift
  /// for await (user, posts) in client.states(of: UserQuery(id: 1), PostsQuery(userID: 1)) {
  ///   print(user.currentValue as Any, posts.currentValue as Any)
  /// }
  /// ```
  ///
  /// For stores of operations of other kinds, see ``combinedStates(of:)``.
  ///
  /// - Parameter query: The queries, whose stores are made if need be.
  /// - Returns: The sequence of the states, each element in the order of the queries.
  public func states<each Query: QueryRequest>(
    of query: repeat each Query
  ) -> CombinedStates<(repeat QueryState<(each Query).Value, (each Query).Failure>)> {
    combinedStates(of: repeat self.store(for: each query, fileID: "", line: 0))
  }
}
