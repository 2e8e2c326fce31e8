import CoreFixtures
import FoundationEssentials
import OperationEvents
import OperationPausing
import OperationTesting
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

/// What `store.explain()` tells of runs: situations, each with the text of its explanation.
@Suite(.bounded, .warningsAreIssues)
struct ExplainedRunTests {
  private let posts = PostFixture()

  @Test
  func `A run for a subscriber, joined by three callers`() async throws {
    let query = self.posts.query.context { $0.operationRunSharing = OperationRunSharing() }
    let store = IntStore.detached(query: query.stale(after: .seconds(60)))
    _ = store.explain()
    let subscription = store.subscribe(named: "PostView")
    let run = try await self.posts.script.next()
    let calls = (0..<3).map { _ in Task.immediate { try await store.fetch() } }
    self.posts.clock.advance(by: .seconds(3))
    expect(
      store.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has no value.
        It is stale, because it has no value.
        One subscriber keeps it: PostView.
        A run is under way: started 3 s ago by the new subscriber PostView; 3 other callers have joined it.
        """
    )
    run.succeed(1)
    for call in calls { _ = try await call.finished() }
    self.posts.clock.advance(by: .seconds(2))
    expect(
      store.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has a value (Int), set 2 s ago.
        It is fresh for 58 s more.
        One subscriber keeps it: PostView.
        Earlier runs, newest first:
          2 s ago: succeeded after 3 s, started by the new subscriber PostView
        Next: it becomes stale in 58 s.
        """
    )
    subscription.cancel()
  }

  @Test
  func `A run that is invalidated by a mutation while it runs`() async throws {
    let store = self.posts.client.store(for: self.posts.freshQuery)
    let subscription = store.subscribe(named: "PostView")
    let run = try await self.posts.script.next()
    self.posts.client.invalidate(matching: [], by: "AddPost", isolation: nil)
    expect(
      store.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has no value.
        It has been stale for 0 s, because of an invalidation of all stores by AddPost.
        One subscriber keeps it: PostView.
        A run is under way: started by the new subscriber PostView; the store was invalidated while it ran, so another \
        run follows.
        """
    )
    subscription.cancel()
    run.succeed(1)
  }

  @Test
  func `A run that waits for a condition`() async throws {
    let store = IntStore.detached(query: self.posts.freshQuery.waits(until: DescribedSwitch(false)))
    let fetch = Task.immediate { try await store.fetch() }
    try await store.reached { $0.isPaused }
    self.posts.clock.advance(by: .seconds(5))
    expect(
      store.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has no value.
        It is stale, because it has no value.
        It has no subscribers.
        A run is under way: started by a call; it has waited for 5 s until the light is green.
        """
    )
    fetch.cancel()
    await #expect(throws: (any Error).self) { try await fetch.finished() }
  }

  @Test
  func `Between two attempts, because the server asked for the delay`() async throws {
    let (failed, begin, end) = (Gate(), Gate(), Gate())
    let query = QueryOperation<Int, any Error>("posts", 1, operationName: "GetPost") { context in
      context.attemptFailed(with: Busy(retryAfter: .milliseconds(1200)), nextAfter: .milliseconds(1200))
      failed.open()
      try await begin.wait()
      var next = context
      next.beginNextAttempt(after: Busy(retryAfter: nil))
      failed.open()
      try await end.wait()
      return 1
    }
    let store = IntStore.detached(query: query.manualTime(self.posts.clock))
    let fetch = Task.immediate { try await store.fetch() }
    try await failed.wait()
    expect(
      store.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has no value.
        It is stale, because it has no rule for staleness.
        It has no subscribers.
        A new subscriber does not run it: automatic running is not enabled.
        A run is under way: started by a call; attempt 2 begins in 1.2 s, because the server asked for it; attempt 1 \
        failed: busy.
        """
    )
    begin.open()
    try await store.reached { $0.attempt?.index == 2 }
    expect(
      store.explain().runs.first?.description,
      equals: """
        A run is under way: started by a call; it is in attempt 2; attempt 1 failed: busy.
        """
    )
    end.open()
    _ = try await fetch.finished()
  }

  @Test
  func `A rejection of the process that asks for a delay is named by its type`() async throws {
    let (failed, end) = (Gate(), Gate())
    let query = QueryOperation<Int, any Error>("posts", 1, operationName: "GetPost") { context in
      context.attemptFailed(with: Overloaded(), nextAfter: .seconds(2))
      failed.open()
      try await end.wait()
      return 1
    }
    let store = IntStore.detached(query: query.manualTime(self.posts.clock))
    let fetch = Task.immediate { try await store.fetch() }
    try await failed.wait()
    expect(store.explain().runs.first?.nextAttemptReason, equals: "Overloaded asked for it")
    end.open()
    _ = try await fetch.finished()
  }

  @Test
  func `A run that was cancelled before its work is skipped`() async throws {
    let store = IntStore.detached(query: self.posts.query)
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.posts.script.next()
    // The engine calls it just before the end of such a run.
    let sharedRun = try #require(store.runtime.withMachine { $0.runs.first?.task.sharedRun })
    store.runtime.wasCancelledBeforeWork(sharedRun)
    expect(store.inspect().runs.map(\.phase), equals: [.skipped])
    run.succeed(1)
    _ = try await fetch.finished()
  }

  @Test
  func `The last eight runs are remembered from the first explanation on`() async throws {
    let store = IntStore.detached(query: self.posts.query)
    #expect(store.explain().endedRuns.isEmpty)
    for number in 0..<10 {
      self.posts.script.enqueue(number == 9 ? .error(Refused()) : .value(number))
      _ = try? await store.fetch()
    }
    let cancelled = Task.immediate { try await store.fetch() }
    _ = try await self.posts.script.next()
    cancelled.cancel()
    _ = await cancelled.result
    await store.runtime.settled()
    let runs = store.explain().endedRuns
    expect(runs.count, equals: 8)
    expect(runs.first?.description, equals: "0 s ago: was cancelled after 0 s, started by a call")
    expect(
      runs.dropFirst().first?.description,
      equals: "0 s ago: failed after 0 s: Refused(code: 0), started by a call"
    )
  }
}

private struct Overloaded: LocalRejection, RetryHinting {
  let retryAfter: OperationDuration? = .seconds(2)
}
