import OperationCore
import OperationEvents
import OperationNetworkObserving
import OperationPausing
import OperationTesting
import TestFixtures
import Testing

/// What explanations tell of runs that wait for the network.
@Suite(.bounded, .warningsAreIssues)
struct NetworkExplanationTests {
  @Test func `A run that is paused until the network is connected`() async throws {
    let posts = PostFixture()
    let observer = MockNetworkObserver(initialStatus: .disconnected)
    let store = posts.client.store(for: posts.freshQuery.waits(until: .connected(to: observer)))
    let events = posts.client.events
    let subscription = store.subscribe(named: "PostView")
    try await store.shows { $0.isPaused }
    posts.clock.advance(by: .seconds(3))
    expect(
      store.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has no value.
        It is stale, because it has no value.
        One subscriber keeps it: PostView.
        A run is under way: started 3 s ago by the new subscriber PostView; it has waited for 3 s until the network is \
        connected.
        """
    )
    observer.send(status: .connected)
    try await posts.script.next().succeed(1)
    try await store.shows { $0.currentValue == 1 && !$0.isLoading }
    let texts = try await withTimeLimit("events") {
      var (texts, iterator) = ([String](), events.makeAsyncIterator())
      while texts.count < 3, let event = await iterator.next() {
        switch event.what {
        // `shows` subscribes, too.
        case .subscriberCame, .subscriberLeft: break
        default: texts.append(event.what.description)
        }
      }
      return texts
    }
    expect(
      texts,
      equals: [
        "began", "waits until the network is connected", "resumed after 3 s: the network is connected",
      ]
    )
    subscription.cancel()
  }

  @Test func `A run in the mode online says what it waits for, as one that waits for a connection does`() async throws {
    let posts = PostFixture()
    let observer = MockNetworkObserver(initialStatus: .disconnected)
    let query = posts.freshQuery.networkMode(.online).networkObserver(observer)
    let store = posts.client.store(for: query)
    let fetch = Task.immediate { try await store.fetch() }
    try await store.shows { $0.isPaused }
    expect(store.explain().runs.map(\.pause), equals: ["the network is connected"])
    fetch.cancel()
    _ = await fetch.result
  }
}

extension OperationStore {
  /// Waits until the store shows a state.
  fileprivate func shows(_ condition: @escaping @Sendable (State) -> Bool) async throws {
    _ = try await withTimeLimit("a state") { await self.states.first { condition($0.state) } }
  }
}
