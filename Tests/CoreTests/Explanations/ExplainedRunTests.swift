import FoundationEssentials
import OperationTesting
import TestFixtures
import Testing

@testable import OperationCore

/// What `store.explain()` tells of runs: situations, each with the text of its explanation.
@Suite(.timeLimit(.minutes(10)), .warningsAreIssues)
struct ExplainedRunTests {
  private let client = OperationClient()
  private let clock = ManualClock()
  private let script = IntScript()

  private var query: some QueryRequest<Int, any Error> {
    GetPost(script: self.script).enableAutomaticRunning(onlyWhen: .always(true)).manualTime(self.clock)
  }

  /// The text without the line of the modifiers, which release builds know less of.
  private func text(of explanation: OperationExplanation) -> String {
    explanation.description.split(separator: "\n").filter { !$0.hasPrefix("Modifiers") }.joined(separator: "\n")
  }

  private func text(of store: OperationStore<IntState>) -> String { self.text(of: store.explain()) }

  @Test
  func `A run for a subscriber, joined by two callers`() async throws {
    let query = self.query.context { $0.operationRunSharing = OperationRunSharing() }
    let store = IntStore.detached(query: query.stale(after: .seconds(60)))
    _ = store.explain()
    let subscription = store.subscribe(named: "PostView")
    let run = try await self.script.next()
    let calls = (0..<2).map { _ in Task.immediate { try await store.fetch() } }
    self.clock.advance(by: .seconds(3))
    #expect(
      self.text(of: store) == """
        GetPost at ["posts", 1]
        It has no value.
        It is stale, because it has no value.
        One subscriber keeps it: PostView.
        A run is under way: started 3 s ago by the new subscriber PostView; 2 other callers have joined it.
        """
    )
    run.succeed(1)
    for call in calls { _ = try await call.finished() }
    self.clock.advance(by: .seconds(2))
    #expect(
      self.text(of: store) == """
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
    let store = self.client.store(for: self.query.stale(after: .seconds(60)))
    let subscription = store.subscribe(named: "PostView")
    let run = try await self.script.next()
    self.client.invalidate(matching: [], by: "AddPost", isolation: nil)
    #expect(
      self.text(of: store) == """
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
    let store = IntStore.detached(query: self.query.stale(after: .seconds(60)).waits(until: DescribedSwitch(false)))
    let fetch = Task.immediate { try await store.fetch() }
    try await store.reached { $0.isPaused }
    self.clock.advance(by: .seconds(5))
    #expect(
      self.text(of: store) == """
        GetPost at ["posts", 1]
        It has no value.
        It is stale, because it has no value.
        Nobody subscribes to it.
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
    let store = IntStore.detached(query: query.manualTime(self.clock))
    let fetch = Task.immediate { try await store.fetch() }
    try await failed.wait()
    #expect(
      store.explain().runs.first?.description == """
        A run is under way: started by a call; attempt 2 begins in 1.2 s, because the server asked for it; attempt 1 \
        failed: busy.
        """
    )
    begin.open()
    try await store.reached { $0.attempt?.index == 2 }
    #expect(
      store.explain().runs.first?.description == """
        A run is under way: started by a call; it is in attempt 2; attempt 1 failed: busy.
        """
    )
    end.open()
    _ = try await fetch.finished()
  }

  @Test
  func `The last eight runs are remembered from the first explanation on`() async throws {
    let store = IntStore.detached(query: self.query)
    #expect(store.explain().endedRuns.isEmpty)
    for number in 0..<10 {
      self.script.enqueue(number == 9 ? .error(Refused()) : .value(number))
      _ = try? await store.fetch()
    }
    let cancelled = Task.immediate { try await store.fetch() }
    _ = try await self.script.next()
    cancelled.cancel()
    _ = await cancelled.result
    await store.runtime.settled()
    let runs = store.explain().endedRuns
    #expect(runs.count == 8)
    #expect(runs.first?.description == "0 s ago: was cancelled after 0 s, started by a call")
    #expect(runs.dropFirst().first?.description == "0 s ago: failed after 0 s: Refused(code: 0), started by a call")
  }
}

/// A query with a short name.
struct GetPost: QueryRequest {
  let script: IntScript

  var path: OperationPath { ["posts", 1] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    try await self.script.run(in: context, with: continuation)
  }
}
