import OperationCore
import OperationDedupe
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// What is left of a run that ends, for its callers and for those that come then.
@Suite(.bounded, .warningsAreIssues)
struct EndingTests {
  @Test
  func `A caller that comes as the run ends is served`() async throws {
    for _ in 0..<2_000 {
      let runner = OperationRunner(operation: BodyQuery { _ in 1 }.deduplicated())
      async let first = runner.run()
      async let second = runner.run()
      let sum = try await first + second
      expect(sum, equals: 2)
    }
  }

  @Test
  func `A caller that comes as the run ends and its first caller leaves is served`() async throws {
    for _ in 0..<500 {
      let runner = OperationRunner(operation: BodyQuery { _ in 1 }.deduplicated())
      let leader = Task { try await runner.run() }
      async let follower = runner.run()
      leader.cancel()
      try await expect(follower, equals: 1)
      if case .failure(let error) = await leader.result { #expect(error is CancellationError) }
    }
  }

  @Test
  func `A follower gets the value whenever the first caller leaves`() async throws {
    for _ in 0..<200 {
      let script = IntScript(default: .suspend, endsOnCancellation: false)
      let runner = OperationRunner(operation: script.query().deduplicated())
      let leader = Task { try await runner.run() }
      let run = try await script.next()
      let follower = Task.immediate { try await runner.run() }
      await withTaskGroup { group in
        group.addTask { leader.cancel() }
        group.addTask { run.succeed(1) }
      }
      try await expect(follower.finished(), equals: 1)
      if case .failure(let error) = await leader.result { #expect(error is CancellationError) }
      expect(script.runCount, equals: 1)
    }
  }

  @Test
  func `The error of a run without other callers is thrown and kept`() async throws {
    let store = IntStore.detached(query: BodyQuery { _ in throw Refused(code: 2) }.deduplicated())
    await #expect(throws: Refused(code: 2)) { try await store.fetch() }
    expect(store.error as? Refused, equals: Refused(code: 2))
    await #expect(throws: Refused(code: 2)) { try await store.fetch() }
    expect(store.errorUpdateCount, equals: 2)
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
    try await expect(store.fetch(handler: handler), equals: 1)
    #expect(values.withLock { $0.contains(7) })
    // Removed, as the store keeps the query that keeps the array.
    let continuation = try #require(continuations.withLock { $0.popLast() })
    expectWarning(.yieldAfterReturn) { continuation.yield(8) }
    expect(store.currentValue, equals: 1)
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
    try await expect(store.fetch(), equals: 3)
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
