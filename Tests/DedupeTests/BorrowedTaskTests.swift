import OperationCore
import OperationDedupe
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// A run in the task of a store has a shared run only once another caller joins it.
@Suite(.timeLimit(.minutes(10)), .warningsAreIssues)
struct BorrowedTaskTests {
  @Test
  func `A caller that comes as the run ends is served`() async throws {
    for _ in 0..<2_000 {
      let query = BodyQuery { _ in 1 }.deduplicated()
      let store = IntStore.detached(query: query)
      async let first = store.fetch()
      async let second = OperationRunner(operation: query).run()
      let sum = try await first + second
      #expect(sum == 2)
      #expect(!store.isLoading)
    }
  }

  @Test
  func `A caller that comes as the run ends and its store leaves is served`() async throws {
    for _ in 0..<500 {
      let query = BodyQuery { _ in 1 }.deduplicated()
      let store = IntStore.detached(query: query)
      let leader = Task { try await store.fetch() }
      async let follower = OperationRunner(operation: query).run()
      leader.cancel()
      #expect(try await follower == 1)
      if case .failure(let error) = await leader.result { #expect(error is CancellationError) }
      #expect(!store.isLoading)
    }
  }

  @Test
  func `The error of a run without other callers is thrown and kept`() async throws {
    let store = IntStore.detached(query: BodyQuery { _ in throw Refused(code: 2) }.deduplicated())
    await #expect(throws: Refused(code: 2)) { try await store.fetch() }
    #expect(store.error as? Refused == Refused(code: 2))
    await #expect(throws: Refused(code: 2)) { try await store.fetch() }
    #expect(store.errorUpdateCount == 2)
  }

  @Test
  func `A yield reaches the store during the run, and is reported afterwards`() async throws {
    let continuations = Mutex<[OperationContinuation<Int, any Error>]>([])
    let store = IntStore.detached(
      query: BodyQuery { continuation in
        continuation.yield(7)
        continuations.withLock { $0.append(continuation) }
        return 1
      }.deduplicated()
    )
    let values = Mutex<[Int?]>([])
    let handler = QueryEventHandler<IntState>(
      onStateChanged: { state, _ in values.withLock { $0.append(state.currentValue) } }
    )
    #expect(try await store.fetch(handler: handler) == 1)
    #expect(values.withLock { $0.contains(7) })
    // Removed, as the store keeps the query that keeps the array.
    let continuation = try #require(continuations.withLock { $0.popLast() })
    expectWarning(.yieldAfterReturn) { continuation.yield(8) }
    #expect(store.currentValue == 1)
  }

  @Test
  func `Nothing is left of a run without other callers`() async throws {
    let token = Token()
    weak let left = token
    try await Self.fetch(with: consume token)
    #expect(left == nil)
  }

  private static func fetch(with token: consuming Token) async throws {
    let held = token
    let store = IntStore.detached(query: BodyQuery { [held] _ in held.number }.deduplicated())
    #expect(try await store.fetch() == 3)
  }
}

private final class Token: Sendable {
  let number = 3
}

private struct BodyQuery: QueryRequest {
  typealias State = IntState

  let body: @Sendable (OperationContinuation<Int, any Error>) throws -> Int

  var path: OperationPath { ["body"] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    try self.body(continuation)
  }
}
