import OperationCore
import OperationDedupe
import OperationTesting
import TestFixtures
import Testing

/// Runs whose `Failure` cannot represent a `CancellationError`.
@Suite(.bounded, .warningsAreIssues)
struct TypedFailureTests {
  private let script = OperationScript<Int, Refused>(endsOnCancellation: false)

  private func caller(
    _ fetch: @escaping @Sendable (OperationContext?) async throws(Refused) -> Int
  ) -> Task<Result<Int, Refused>, Never> {
    Task.immediate {
      do throws(Refused) { return .success(try await fetch(nil)) } catch { return .failure(error) }
    }
  }

  @Test(arguments: Runner.allCases)
  func `A cancelled caller waits for the end of a run that continues for others`(_ kind: Runner) async throws {
    let fetch = kind(self.script.query().deduplicated())
    let leader = self.caller(fetch)
    let run = try await self.script.next()
    let follower = self.caller(fetch)
    leader.cancel()
    #expect(!run.isCancelled)
    run.succeed(3)
    try await expect(leader.finished(), equals: .success(3))
    try await expect(follower.finished(), equals: .success(3))
    expect(self.script.runCount, equals: 1)
  }

  @Test(arguments: Runner.allCases)
  func `A cancelled caller no longer counts as a waiter`(_ kind: Runner) async throws {
    let fetch = kind(self.script.query().deduplicated())
    let leader = self.caller(fetch)
    let run = try await self.script.next()
    let follower = self.caller(fetch)
    leader.cancel()
    follower.cancel()
    try await run.cancelled()
    run.fail(Refused(code: 9))
    try await expect(leader.finished(), equals: .failure(Refused(code: 9)))
    try await expect(follower.finished(), equals: .failure(Refused(code: 9)))
  }

  @Test(arguments: Runner.allCases)
  func `A new caller starts another run while cancelled callers wait for theirs`(
    _ kind: Runner
  ) async throws {
    let fetch = kind(self.script.query().deduplicated())
    let old = self.caller(fetch)
    let cancelledRun = try await self.script.next()
    old.cancel()
    try await cancelledRun.cancelled()
    let new = self.caller(fetch)
    let fresh = try await self.script.next()
    fresh.succeed(2)
    try await expect(new.finished(), equals: .success(2))
    cancelledRun.fail(Refused(code: 1))
    try await expect(old.finished(), equals: .failure(Refused(code: 1)))
  }

  @Test
  func `An operation that cannot fail is shared without a try`() async throws {
    let script = OperationScript<Int, Never>(default: .suspend)
    let store = OperationStore<QueryState<Int, Never>>.detached(query: script.query().deduplicated())
    let runner = OperationRunner(operation: script.query().deduplicated())
    let callers = (0..<3).map { _ in Task.immediate { await store.fetch() } }
    try await script.next().succeed(5)
    for caller in callers { try await expect(caller.finished(), equals: 5) }
    let others = (0..<3).map { _ in Task.immediate { await runner.run() } }
    try await script.next().succeed(6)
    for caller in others { try await expect(caller.finished(), equals: 6) }
  }
}
