import Operation
import OperationTesting
import TestFixtures
import Testing

/// Refetches of all pages, whose modifiers are run for each page.
@Suite(.bounded, .warningsAreIssues) struct PageByPageTests {
  private let defaults = ClientDefaults(.slow)
  private let fetched = Log<Int>()

  /// A list whose pages take 0.6 seconds each.
  private var feed: PaginatedOperation<Int, Int, any Error> {
    self.feed { _ in }
  }

  private func feed(
    _ failing: @escaping @Sendable (Int) throws -> Void
  ) -> PaginatedOperation<Int, Int, any Error> {
    PaginatedOperation(
      "feed",
      initialPageId: 0,
      pageIdAfter: { $0.id + 1 },
      body: { [fetched] paging, context in
        try failing(fetched.append(paging.pageId))
        try await context.operationDeadlines.sleep(for: .milliseconds(600))
        return paging.pageId
      }
    )
  }

  /// Refetches a list of three pages. The pages are those of the refetch.
  private func refetch(
    _ request: some PaginatedRequest<Int, Int, any Error>
  ) -> (experience: ClientDefaults.Experience, pages: [Int]) {
    let store = self.defaults.client().store(for: request, initialValue: [(0, 0), (1, 1), (2, 2)].pages)
    let experience = self.defaults.experience { try await store.refetchAllPages().count }
    return (experience, self.fetched.all)
  }

  @Test func `A timeout limits each page`() {
    let (experience, pages) = self.refetch(self.feed.timeout(.seconds(1)))
    expect(experience, equals: .init(attempts: 0, freed: .milliseconds(1_800), outcome: "3"))
    expect(pages, equals: [0, 1, 2])
  }

  @Test func `In one run a timeout limits all pages`() {
    let (experience, pages) = self.refetch(self.feed.timeout(.seconds(1)).refetchesPagesInOneRun())
    #expect(experience.outcome == "\(OperationTimedOut(after: .seconds(1)))" && experience.freed == .seconds(1))
    expect(pages, equals: [0, 1])
  }

  @Test func `A deadline limits all pages`() {
    let (experience, pages) = self.refetch(self.feed.deadline(after: .seconds(1)))
    #expect(experience.outcome == "\(OperationTimedOut(after: .seconds(1)))" && experience.freed == .seconds(1))
    expect(pages, equals: [0, 1])
  }

  @Test(arguments: [true, false])
  func `A rate limit counts pages`(isOneRun: Bool) {
    let limit = RateLimit(1, per: .seconds(10))
    let (experience, pages) = self.refetch(self.feed.limited(by: limit).refetchesPagesInOneRun(isOneRun))
    #expect(experience.outcome == "3" && pages == [0, 1, 2])
    // The second permit is there after ten seconds, the third after twenty.
    expect(experience.freed, equals: .milliseconds(isOneRun ? 1_800 : 20_600))
  }

  @Test(arguments: [true, false])
  func `A circuit breaker counts pages`(isOneRun: Bool) {
    let breaker = CircuitBreaker()
    _ = self.refetch(self.feed.circuitBreaker(breaker).refetchesPagesInOneRun(isOneRun))
    #expect(breaker.snapshot().runs == (isOneRun ? 1 : 3) && breaker.snapshot().failures == 0)
  }

  @Test func `A retry tries each page as often as its limit says, and goes on at the page that failed`() {
    let feed = self.feed { if [1, 3, 5].contains($0) { throw Refused() } }
    let (experience, pages) = self.refetch(feed.retry(limit: 1).backoff(.noBackoff))
    #expect(experience.outcome == "3" && pages == [0, 0, 1, 1, 2, 2])
  }

  @Test func `A retry budget counts pages`() {
    let budget = RetryBudget(ratio: 0.5, minimumPerSecond: 0)
    let feed = self.feed { if $0 == 2 { throw Refused() } }
    let (experience, pages) = self.refetch(feed.retry(limit: 1).backoff(.noBackoff).retryBudget(budget))
    // The first page and the second pay for one retry.
    #expect(experience.outcome == "3" && pages == [0, 1, 1, 2])
  }

  @Test func `A refetch that fails at a page keeps the old pages`() {
    let feed = self.feed { if $0 >= 2 { throw Refused() } }
    let store = self.defaults.client().store(for: feed.retry(limit: 0), initialValue: [(0, 7), (1, 8)].pages)
    let experience = self.defaults.experience { try await store.refetchAllPages().count }
    #expect(experience.outcome == "\(Refused())" && store.currentValue.map(\.value) == [7, 8])
    expect(self.defaults.experience { try await store.refetchAllPages().count }.outcome, equals: "\(Refused())")
    expect(self.fetched.all, equals: [0, 1, 0])
  }

  @Test func `A fallback ends a refetch`() {
    let feed = self.feed { if $0 == 2 { throw Refused() } }.retry(limit: 0)
    let (experience, pages) = self.refetch(feed.fallback(.allPages([(9, 9)].pages)))
    #expect(experience.outcome == "1" && pages == [0, 1])
  }

  @Test func `A hedge runs each page twice, and no page is lost`() {
    let (experience, pages) = self.refetch(self.feed.idempotent().hedged(after: .milliseconds(500)))
    expect(experience, equals: .init(attempts: 0, freed: .milliseconds(1_800), outcome: "3"))
    expect(pages, equals: [0, 0, 1, 1, 2, 2])
  }

  @Test func `The state shows one run, and all pages at its end`() {
    let store = self.defaults.client().store(for: self.feed, initialValue: [(0, 7), (1, 8)].pages)
    let values = Log<[Int]>()
    let starts = Counter()
    let subscription = store.subscribe(
      with: OperationEventHandler(
        onStateChanged: { state, _ in
          let pages = state.currentValue.map(\.value)
          if pages != values.all.last { values.append(pages) }
        },
        onRunStarted: { _ in starts.increment() }
      )
    )
    defer { subscription.cancel() }
    _ = self.defaults.experience { try await store.refetchAllPages().count }
    #expect(values.all == [[7, 8], [0, 1]] && starts.value == 1)
  }

  @Test func `Two stores of one deduplicated list both get all pages`() async throws {
    let client = self.defaults.client()
    let request = self.feed.deduplicated()
    let stores = (0..<2).map { _ in
      OperationStore.detached(
        query: request,
        initialValue: [(0, 7), (1, 8)].pages,
        initialContext: client.defaultContext
      )
    }
    let experience = self.defaults.experience {
      async let first = stores[0].refetchAllPages().count
      async let second = stores[1].refetchAllPages().count
      return try await first + second
    }
    expect(experience.outcome, equals: "4")
    #expect(stores.allSatisfy { $0.currentValue.map(\.value) == [0, 1] })
  }
}

extension [(Int, Int)] {
  /// Pages with these identifiers and values.
  fileprivate var pages: PagesFor<PaginatedOperation<Int, Int, any Error>> {
    var pages = PagesFor<PaginatedOperation<Int, Int, any Error>>()
    for (id, value) in self { pages.append(Page(id: id, value: value)) }
    return pages
  }
}
