import CoreFixtures
import OperationCore
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Observers that an author outside of the package writes with nothing but the core.
@Suite(.bounded, .warningsAreIssues)
struct ThirdPartyObserverTests {
  private let client = OperationClient()

  @Test
  func `Metrics count attempts and joins`() async throws {
    let gate = Gate()
    let query = QueryOperation<Int, any Error>("a") { context in
      try await gate.wait()
      var next = context
      next.beginNextAttempt(after: Refused())
      return 1
    }
    let metrics = RunMetrics()
    let subscription = self.client.observe(matching: ["a"], with: metrics)
    let store = self.client.store(for: query.context { $0.operationRunSharing = OperationRunSharing() })
    let first = Task.immediate { try await store.fetch() }
    let second = Task.immediate { try await store.fetch() }
    gate.open()
    _ = try await (first.finished(), second.finished())
    expect(metrics.attempts.load(ordering: .relaxed), equals: 2)
    expect(metrics.joins.load(ordering: .relaxed), equals: 1)
    subscription.cancel()
  }

  @Test
  func `An index finds a value as soon as it can be read`() {
    let index = AuthorIndex()
    let subscription = self.client.observe(with: index)
    let script = OperationScript<[Post], any Error>(default: .value([]))
    let stores = (0..<3).map { self.client.store(for: script.query(path: ["posts", $0])) }
    stores[0].currentValue = [Post(author: "Ann"), Post(author: "Bob")]
    stores[1].withExclusiveAccess { store in
      store.currentValue = [Post(author: "Bob")]
      // The handlers have not been called, and the observers have not settled.
      expect(index.stores(by: "Bob"), equals: [stores[0].reference, stores[1].reference])
    }
    self.client.clearStore(with: ["posts", 0])
    #expect(index.stores(by: "Ann").isEmpty)
    expect(index.stores(by: "Bob"), equals: [stores[1].reference])
    subscription.cancel()
    #expect(index.stores(by: "Bob").isEmpty)
  }

  @Test
  func `They keep the rules of observers`() async throws {
    try await checkStoreObserver { RunMetrics() }
    try await checkStoreValueObserver(values: [Post(author: "Ann")], []) { AuthorIndex() }
  }
}

private final class RunMetrics: StoreObserver {
  let attempts = Atomic<Int>(0)
  let joins = Atomic<Int>(0)

  var observedEvents: StoreEvent.Kinds { [.runs, .attempts] }

  func receive(_ event: StoreEvent, of store: StoreReference) {
    switch event.what {
    case .runBegan, .attemptBegan: self.attempts.add(1, ordering: .relaxed)
    case .runJoined: self.joins.add(1, ordering: .relaxed)
    default: break
    }
  }
}

private struct Post: Sendable {
  let author: String
}

private final class AuthorIndex: StoreValueObserver {
  private typealias Posts = QueryState<[Post], any Error>

  private struct Content {
    var shown: [StoreReference: ShownState] = [:]
    var authors: [StoreReference: Set<String>] = [:]
  }

  private let content = Mutex(Content())

  var observedEvents: StoreEvent.Kinds { [] }

  func storeShows(_ shown: ShownState, of store: StoreReference) -> (any Sendable)? {
    self.content.withLock { $0.shown.updateValue(shown, forKey: store) }
  }

  func storeHasSettled(_ store: StoreReference) {
    while let shown = self.content.withLock({ $0.shown[store] }) {
      let posts = shown.isInClient ? (shown.state(as: Posts.self)?.currentValue ?? nil) ?? [] : []
      let authors = Set(posts.map(\.author))
      let former = self.content.withLock { content -> ShownState? in
        // A later state has come meanwhile: once more.
        guard content.shown[store]?.version == shown.version else { return nil }
        content.authors[store] = authors
        return content.shown.removeValue(forKey: store)
      }
      _ = former
    }
  }

  func receive(_ event: StoreEvent, of store: StoreReference) {
    guard case .unobserved = event.what else { return }
    let former = self.content.withLock { content in
      content.authors[store] = nil
      return content.shown.removeValue(forKey: store)
    }
    _ = former
  }

  func stores(by author: String) -> Set<StoreReference> {
    for store in self.content.withLock({ Array($0.shown.keys) }) { self.storeHasSettled(store) }
    return self.content.withLock { content in
      Set(content.authors.filter { $0.value.contains(author) }.map(\.key))
    }
  }
}
