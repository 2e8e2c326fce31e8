import OperationCore
import OperationPagination
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Yields of pages: only the last one of a page is kept, also when a run is rolled back.
@Suite(.bounded, .warningsAreIssues)
struct PageYieldTests {
  /// A list of tokens, of which each page is yielded many times before it is returned.
  private struct Tokens: PaginatedRequest {
    let lifetimes: LifetimeTracker
    let yieldCount: Int
    let check: @Sendable (Int) -> Void
    let initialPageId = 0

    var path: OperationPath { ["tokens"] }

    func pageId(
      after page: Page<Int, LifetimeTracker.Token>,
      using paging: Paging<Int, LifetimeTracker.Token>,
      in context: OperationContext
    ) -> Int? {
      page.id + 1
    }

    func fetchPage(
      isolation: isolated (any Actor)?,
      using paging: Paging<Int, LifetimeTracker.Token>,
      in context: OperationContext,
      with continuation: OperationContinuation<LifetimeTracker.Token, any Error>
    ) async throws -> LifetimeTracker.Token {
      for number in 0..<self.yieldCount {
        continuation.yield(self.lifetimes.token())
        if number.isMultiple(of: 1_000) { self.check(self.lifetimes.aliveCount) }
      }
      self.check(self.lifetimes.aliveCount)
      return self.lifetimes.token()
    }
  }

  enum Listener: CaseIterable {
    case none
    case ofRuns
    case ofPages
    case ofOneRun
  }

  @Test(arguments: Listener.allCases)
  func `Thousands of yields retain no more than one`(listener: Listener) async throws {
    let lifetimes = LifetimeTracker()
    let most = Mutex(0)
    let yieldCount = listener == .ofPages ? ModelRuns.count(5_000, weight: 5) : 2_000
    let request = Tokens(lifetimes: lifetimes, yieldCount: yieldCount) { count in most.withLock { $0 = max($0, count) }
    }
    do {
      let store = OperationStore.detached(
        query: request.disableAutomaticRunning(),
        initialValue: [Page(id: 0, value: lifetimes.token()), Page(id: 1, value: lifetimes.token())]
      )
      typealias Handler = PaginatedEventHandler<PaginatedState<Int, LifetimeTracker.Token, any Error>>
      let count = Mutex(0)
      let pages = Handler(onPageResultReceived: { _, _, _ in count.withLock { $0 += 1 } })
      let runs = Handler(onResultReceived: { _, _ in count.withLock { $0 += 1 } })
      var subscription: OperationSubscription?
      switch listener {
      case .none, .ofOneRun: break
      case .ofRuns: subscription = store.subscribe(with: runs)
      case .ofPages: subscription = store.subscribe(with: pages)
      }
      try await store.refetchAllPages(handler: listener == .ofOneRun ? pages : nil)
      subscription?.cancel()
      switch listener {
      case .none: expect(count.withLock { $0 }, equals: 0)
      case .ofRuns: expect(count.withLock { $0 }, equals: 2 * yieldCount + 1)
      case .ofPages, .ofOneRun: expect(count.withLock { $0 }, equals: 2 * yieldCount + 2)
      }
      expect(store.valueUpdateCount, equals: 2 * yieldCount + 1)
    }
    #expect(most.withLock { $0 } < 60)
    try await lifetimes.noneAlive()
  }

  @Test
  func `Yields of two runs and edits between them are rolled back run by run`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a"))
    let next = start { try await store.fetchNextPage() }
    let previous = start { try await store.fetchPreviousPage() }
    let runs = (try await server.script.next(), try await server.script.next())
    for number in 0..<100 {
      runs.0.yield("n\(number)")
      runs.1.yield("p\(number)")
      runs.0.yield(error: Refused())
      store.currentValue[id: 0]?.value = "e\(number)"
    }
    expect(store.text, equals: "-1p99 0e99 1n99")
    expect(store.valueUpdateCount, equals: 300)
    expect(store.errorUpdateCount, equals: 100)
    next.cancel()
    _ = await next.result
    // The pages that were set contain the page that was yielded before.
    expect(store.valueUpdateCount, equals: 200)
    expect(store.errorUpdateCount, equals: 0)
    expect(store.currentValue[id: 0]?.value, equals: "e99")
    expect(store.currentValue[id: -1]?.value, equals: "p99")
    runs.1.succeed("p")
    _ = try await previous.value
    expect(store.currentValue[id: -1]?.value, equals: "p")
  }

  @Test
  func `Yields of each page of a refetch stay while another run is rolled back`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a", "b"))
    let refetch = start { try await store.refetchAllPages() }
    let first = try await server.script.next()
    first.yield("A1")
    first.yield("A2")
    first.succeed("A")
    let second = try await server.script.next()
    second.yield("B1")
    second.yield("B2")
    expect(store.text, equals: "0A2 1B2")
    expect(store.valueUpdateCount, equals: 4)
    refetch.cancel()
    _ = await refetch.result
    expect(store.text, equals: "0a 1b")
    expect(store.valueUpdateCount, equals: 0)
  }
}
