import Dispatch
import OperationCore
import OperationTags
import OperationTesting
import TestFixtures
import Testing

/// Threads that change values and look for tags at the same time.
@Suite(.bounded, .warningsAreIssues) struct ThreadTests {
  @Test func `A value that anybody can read is found by its tags`() async {
    let client = OperationClient()
    let stores = (0..<4).map { client.posts("posts \($0)", initialValue: posts($0)) }
    let missed = Log<Int>()
    await onThreads(4) { thread in
      for round in 0..<2_000 {
        let number = thread * 2_000 + round
        // The two threads of a store use different tags. A tag that is not found is that of a replaced value.
        let store = stores[thread / 2]
        store.currentValue = posts(number)
        let found = !client.stores(tagged: .post(number)).isEmpty
        if !found, store.currentValue == posts(number) { missed.append(number) }
        if let shown = store.currentValue?.first?.id, client.stores(tagged: .post(shown)).isEmpty,
          store.currentValue == posts(shown)
        {
          missed.append(shown)
        }
      }
    }
    expect(missed.all, equals: [])
    for store in stores.prefix(2) {
      let shown = store.currentValue?.first?.id ?? -1
      expect(client.storePaths(tagged: .post(shown)), equals: [store.path])
    }
    #expect(client.tagCounts == (4, 4, 0))
  }

  @Test func `An invalidation that follows a value on another thread marks the store`() async throws {
    let client = OperationClient()
    let store = client.posts()
    // The handler of one thread's value keeps later values in the queue of events: those have tags all the same.
    let entered = Gate()
    let isOver = DispatchSemaphore(value: 0)
    let subscription = store.subscribe(
      with: QueryEventHandler(onStateChanged: { state, _ in
        guard state.currentValue == posts(1) else { return }
        entered.open()
        #expect(isOver.waitForSignal(), "The test has not ended.")
      })
    )
    async let first: Void = onThreads(1) { _ in store.currentValue = posts(1) }
    try await entered.wait()
    store.currentValue = posts(2)
    expect(client.stores(tagged: .post(2)).count, equals: 1)
    client.invalidate(tagged: .post(2))
    #expect(store.isStale)
    isOver.signal()
    await first
    subscription.cancel()
  }

  @Test func `Threads that make, change, remove and look for stores leave nothing`() async {
    let client = OperationClient()
    await onThreads(4) { thread in
      for round in 0..<500 {
        let store = client.posts("posts \(round % 7)", initialValue: posts(thread))
        store.currentValue = posts(round, round + 1)
        switch (round + thread) % 5 {
        case 0: client.clearStore(with: store.path)
        case 1: client.invalidate(tagged: .post(round))
        case 2:
          client.withStores(matching: [], of: PostsState.self) { stores, create in
            let query = PostsScript().query(path: store.path).taggedByID("post").disableAutomaticRunning()
            stores.update(create(for: query, initialValue: posts(round)))
          }
        case 3: store.resetState()
        default: _ = client.stores(tagged: .post(round), .post(thread))
        }
      }
    }
    for store in client.stores(matching: []) {
      let shown = (store.currentValue as? [Post]) ?? []
      for post in shown { #expect(client.stores(tagged: .post(post.id)).contains { $0.path == store.path }) }
    }
    client.clearStores()
    #expect(client.tagCounts == (0, 0, 0))
  }
}
