import OperationCore
import OperationDedupe
import OperationTesting
import OperationTimeout
import TestFixtures
import Testing

/// Callers with deadlines that share a run of `.deadline()`.
@Suite(.bounded, .warningsAreIssues) struct CallersDeadlinesTests {
  private let clock = ManualClock()
  private let script = OperationScript<Int, any Error>()
  private let store: OperationStore<QueryState<Int, any Error>>

  init() {
    let query = self.script.query().deduplicated().deadline().disableAutomaticRunning().manualTime(self.clock)
    self.store = OperationStore.detached(query: query)
  }

  /// A call with a deadline after some seconds; nil for none.
  private func fetch(within seconds: Int?) -> Task<Int, any Error> {
    var context = OperationContext()
    if let seconds { context.operationDeadline = self.clock.instant + .seconds(seconds) }
    let store = self.store
    return Task.immediate { [context] in try await store.fetch(using: context) }
  }

  private func expectTimeout(
    of task: Task<Int, any Error>,
    after seconds: Int,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    await #expect(throws: OperationTimedOut(after: .seconds(seconds)), sourceLocation: sourceLocation) {
      try await task.value
    }
  }

  @Test func `A caller with a deadline leaves alone where another one has none`() async throws {
    let (first, second) = (self.fetch(within: 1), self.fetch(within: nil))
    let run = try await self.script.next()
    self.clock.advance(by: .seconds(1))
    await self.expectTimeout(of: first, after: 1)
    #expect(!run.isCancelled && run.context.operationDeadline == nil)
    self.clock.advance(by: .seconds(1000))
    run.succeed(2)
    try await expect(second.value, equals: 2)
    #expect(self.script.runCount == 1 && self.clock.sleeperCount() == 0)
  }

  @Test(arguments: [(1, 3), (3, 1)])
  func `The run ends at the latest deadline of its callers`(first: Int, second: Int) async throws {
    let tasks = [self.fetch(within: first), self.fetch(within: second)]
    let run = try await self.script.next()
    let begin = self.clock.instant
    expect(run.context.operationDeadline, equals: begin + .seconds(3))
    self.clock.advance(by: .seconds(1))
    await self.expectTimeout(of: tasks[first == 1 ? 0 : 1], after: 1)
    #expect(!run.isCancelled)
    self.clock.advance(by: .seconds(2))
    await self.expectTimeout(of: tasks[first == 3 ? 0 : 1], after: 3)
    #expect(run.isCancelled)
    #expect(self.script.runCount == 1 && self.clock.sleeperCount() == 0)
  }

  @Test func `The deadline of the only caller ends the run, and the state has its error`() async throws {
    let task = self.fetch(within: 1)
    let run = try await self.script.next()
    self.clock.advance(by: .seconds(1))
    await self.expectTimeout(of: task, after: 1)
    #expect(run.isCancelled)
    #expect(self.store.error is OperationTimedOut)
    expect(self.clock.sleeperCount(), equals: 0)
  }

  @Test func `A caller with a deadline leaves a run that has begun without one`() async throws {
    let (first, second) = (self.fetch(within: nil), self.fetch(within: 1))
    let run = try await self.script.next()
    self.clock.advance(by: .seconds(1))
    await self.expectTimeout(of: second, after: 1)
    #expect(!run.isCancelled)
    run.succeed(1)
    try await expect(first.value, equals: 1)
    expect(self.clock.sleeperCount(), equals: 0)
  }

  @Test func `A caller that is cancelled leaves at once`() async throws {
    let (first, second) = (self.fetch(within: 5), self.fetch(within: 3))
    let run = try await self.script.next()
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    #expect(!run.isCancelled)
    run.succeed(1)
    try await expect(first.value, equals: 1)
  }
}
