import FoundationEssentials
import Operation
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// The attempts that states and handlers of all kinds report.
@Suite(.bounded, .warningsAreIssues)
struct AttemptTests {
  private let clock = ManualClock(date: Date(timeIntervalSinceReferenceDate: 0))

  @Test
  func `Callers that join a store's run see its attempts`() async throws {
    let script = OperationScript<Int, any Error>()
    let store = OperationStore.detached(query: script.query().retry(limit: 3).deduplicated().manualTime(self.clock))
    script.enqueue(.error(Refused()))
    let first = Task { try await store.fetch() }
    try await self.clock.sleepers(count: 1)
    let received = Log<Int>()
    let second = Task.immediate {
      try await store.fetch(
        handler: QueryEventHandler(onAttemptFailed: { attempt, _ in received.append(attempt.index) })
      )
    }
    first.cancel()
    _ = await first.result
    expect(store.attempt?.index, equals: 1)
    self.clock.advance(by: .seconds(1))
    try await script.next().fail(Refused())
    try await self.clock.sleepers(count: 1)
    expect(store.attempt?.index, equals: 2)
    expect(received.all, equals: [2])
    second.cancel()
    _ = await second.result
    #expect(store.attempt == nil)
  }

  @Test
  func `A task that shares the work of another one shows the attempts of that`() async throws {
    let script = OperationScript<Int, any Error>()
    let store = OperationStore.detached(query: script.query().retry(limit: 5).deduplicated().manualTime(self.clock))
    let (first, second) = (store.fetchTask(), store.fetchTask())
    script.enqueue(.error(Refused(code: 1)))
    let leader = Task { try await first.runIfNeeded() }
    try await self.clock.sleepers(count: 1)
    let follower = Task.immediate { try await second.runIfNeeded() }
    expect(store.attempt?.index, equals: 1)
    expect(store.attempt?.nextBegins, equals: Date(timeIntervalSinceReferenceDate: 1))
    self.clock.advance(by: .seconds(1))
    let run = try await script.next()
    expect(store.attempt?.index, equals: 2)
    run.succeed(9)
    try await expect(leader.value, equals: 9)
    try await expect(follower.value, equals: 9)
    #expect(store.attempt == nil)
  }

  @Test
  func `A retry outside of the deduplication reports its attempts to all callers`() async throws {
    let script = OperationScript<Int, any Error>()
    let store = OperationStore.detached(query: script.query().deduplicated().retry(limit: 5).manualTime(self.clock))
    let leader = Task { try await store.fetch() }
    let run = try await script.next()
    let follower = Task.immediate { try await store.fetch() }
    run.fail(Refused())
    try await self.clock.sleepers(count: 1)
    #expect(store.attempt?.nextBegins != nil)
    leader.cancel()
    _ = await leader.result
    expect(store.attempt?.index, equals: 1)
    follower.cancel()
    _ = await follower.result
    #expect(store.attempt == nil)
  }

  @Test
  func `A store whose body joins the run of a runner sees its attempts`() async throws {
    let script = OperationScript<Int, any Error>()
    let query = script.query().retry(limit: 5).deduplicated().manualTime(self.clock)
    let leader = Task { try await OperationRunner(operation: query).run() }
    let run = try await script.next()
    let store = OperationStore.detached(
      query: QueryOperation("outer") { context in
        try await query.run(isolation: nil, in: context, with: OperationContinuation { _, _ in })
      }
    )
    let follower = Task.immediate { try await store.fetch() }
    run.fail(Refused())
    try await self.clock.sleepers(count: 1)
    expect(store.attempt?.index, equals: 1)
    self.clock.advance(by: .seconds(1))
    try await script.next().succeed(1)
    try await expect(follower.value, equals: 1)
    try await expect(leader.value, equals: 1)
    expect(script.runCount, equals: 2)
  }

  @Test
  func `A list shows the attempt of the page that it loads`() async throws {
    let script = OperationScript<String, any Error>()
    let feed = PaginatedOperation(
      "feed",
      initialPageId: 0,
      pageIdAfter: { $0.id + 1 },
      body: { paging, context, continuation in try await script.run(in: context, with: continuation) }
    )
    let store = OperationStore.detached(query: feed.retry(limit: 2).manualTime(self.clock), initialValue: [])
    let received = Log<String>()
    let note: @Sendable (String) -> Void = { text in received.append(text) }
    let subscription = store.subscribe(
      with: PaginatedEventHandler(
        onPageFetchingStarted: { id, context in note("page \(id) \(context.operationAttempt)") },
        onPageFetchingEnded: { id, _ in note("end \(id)") },
        onAttemptFailed: { attempt, _ in note("failed \(attempt.index)") }
      )
    )
    script.enqueue(.error(Refused()))
    let fetch = Task { try await store.fetchNextPage() }
    try await self.clock.sleepers(count: 1)
    expect(store.attempt?.index, equals: 1)
    #expect(store.attempt?.lastFailure is Refused)
    self.clock.advance(by: .seconds(1))
    let run = try await script.next()
    expect(store.attempt?.index, equals: 2)
    #expect(store.isLoadingInitialPage)
    run.succeed("a")
    try await expect(fetch.value?.value, equals: "a")
    #expect(store.attempt == nil)
    expect(received.all, equals: ["page 0 1", "end 0", "failed 1", "page 0 1", "end 0"])
    subscription.cancel()
  }

  @Test
  func `A mutation shows the attempt of its call, and each call in the history has its own`() async throws {
    let script = OperationScript<String, any Error>()
    let mutation = MutationOperation("posts") { (title: String, context, continuation) in
      try await script.run(in: context, with: continuation)
    }
    let store = OperationStore.detached(mutation: mutation.retry(limit: 2).manualTime(self.clock))
    let received = Log<String>()
    let subscription = store.subscribe(
      with: MutationEventHandler(
        onAttemptFailed: { arguments, attempt, _ in received.append("\(arguments) \(attempt.index)") }
      )
    )
    script.enqueue(.error(Refused(code: 1)))
    let first = Task { try await store.mutate(with: "a") }
    try await self.clock.sleepers(count: 1)
    let second = Task { try await store.mutate(with: "b") }
    let run = try await script.next()
    #expect(store.attempt?.index == 1 && store.attempt?.lastFailure == nil)
    expect(store.history.map { ($0.task.attempt?.lastFailure as? Refused)?.code }, equals: [1, nil])
    run.succeed("B")
    try await expect(second.value, equals: "B")
    expect((store.attempt?.lastFailure as? Refused)?.code, equals: 1)
    self.clock.advance(by: .seconds(1))
    try await script.next().succeed("A")
    try await expect(first.value, equals: "A")
    #expect(store.attempt == nil)
    expect(received.all, equals: ["a 1"])
    subscription.cancel()
  }

  @Test
  func `Pages that come again equal keep their values`() async throws {
    final class Text: Equatable, Sendable {
      let text: String
      init(_ text: String) { self.text = text }
      static func == (lhs: Text, rhs: Text) -> Bool { lhs.text == rhs.text }
    }
    let changes = Mutex("")
    let feed = PaginatedOperation(
      "feed",
      initialPageId: 0,
      pageIdAfter: { $0.id < 1 ? $0.id + 1 : nil },
      body: { paging, _ in Text("\(paging.pageId)\(paging.pageId == 1 ? changes.withLock { $0 } : "")") }
    )
    let plain = OperationStore.detached(query: feed.keepsEqualValues(), initialValue: [])
    try await plain.fetchNextPage()
    try await plain.fetchNextPage()
    let old = plain.currentValue
    changes.withLock { $0 = "!" }
    try await plain.refetchAllPages()
    #expect(plain.currentValue[id: 0]?.value === old[id: 0]?.value)
    expect(plain.currentValue.map(\.value.text), equals: ["0", "1!"])
    expect(plain.valueUpdateCount, equals: 3)
    let defaulted = OperationStore.detached(query: feed.defaultValue([]).keepsEqualValues())
    try await defaulted.fetchNextPage()
    let first = defaulted.currentValue[id: 0]
    try await defaulted.refetchAllPages()
    #expect(defaulted.currentValue[id: 0]?.value === first?.value)
  }
}
