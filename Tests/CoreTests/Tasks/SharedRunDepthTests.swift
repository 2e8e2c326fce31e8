import CoreFixtures
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

@Suite(.bounded, .warningsAreIssues) struct SharedRunDepthTests {
  @Test func `A body that never suspends ends on its caller's thread`() async throws {
    let before = ThreadLocal.currentThread
    let task = OperationTask<UInt, any Error> { _, _ in ThreadLocal.currentThread }
    let inside = try await task.runIfNeeded()
    let after = ThreadLocal.currentThread
    expect(before, equals: inside)
    expect(inside, equals: after)
  }

  @Test func `A nested body ends on its caller's thread too`() async throws {
    let before = ThreadLocal.currentThread
    let inner = OperationTask<UInt, any Error> { _, _ in ThreadLocal.currentThread }
    let outer = inner.map { $0 }.map { $0 }
    let inside = try await outer.runIfNeeded()
    expect(before, equals: inside)
    expect(ThreadLocal.currentThread, equals: before)
    expect(ThreadLocal.depth.pointee, equals: 0)
  }

  @MainActor @Test func `A body leaves the actor of its caller`() async throws {
    let task = OperationTask<Bool, any Error> { _, _ in
      // On this thread, perhaps, and not on the actor.
      #isolation == nil
    }
    #expect(try await task.runIfNeeded())
    MainActor.assertIsolated()
  }

  @Test func `Runs nest ten thousand deep`() async throws {
    try await expect(withTimeLimit("the nested runs") { try await Self.nest(10_000) }, equals: 10_000)
  }

  @Test func `Runs nest ten thousand deep on a small stack`() async throws {
    let result = Mutex<Task<Int, any Error>?>(nil)
    await onThreads(1, stackSize: 512 * 1_024) { _ in
      let task = Task.immediate { try await Self.nest(10_000) }
      result.withLock { $0 = task }
    }
    let task = try #require(result.withLock { $0 })
    try await expect(withTimeLimit("the nested runs") { try await task.value }, equals: 10_000)
  }

  @Test func `Runs nest ten thousand deep and suspend at the end`() async throws {
    let gate = Gate()
    let task = Task { try await Self.nest(10_000, gate: gate) }
    try await gate.arrivals(count: 1)
    gate.open()
    try await expect(withTimeLimit("the nested runs") { try await task.value }, equals: 10_000)
  }

  @Test func `A cancellation reaches the innermost run`() async throws {
    let gate = Gate()
    let task = Task { try await Self.nest(10_000, gate: gate) }
    try await gate.arrivals(count: 1)
    task.cancel()
    await #expect(throws: CancellationError.self) {
      try await withTimeLimit("the nested runs") { try await task.value }
    }
  }

  @Test func `Runs of stores nest too`() async throws {
    try await expect(withTimeLimit("the nested runs") { try await NestingQuery(depth: 2_000).fetch() }, equals: 2_000)
  }

  private static func nest(_ depth: Int, gate: Gate? = nil) async throws -> Int {
    guard depth > 0 else {
      try await gate?.wait()
      return 0
    }
    return try await OperationTask<Int, any Error> { _, _ in
      try await self.nest(depth - 1, gate: gate) + 1
    }.runIfNeeded()
  }
}

/// A query whose work is a query.
private struct NestingQuery: QueryRequest, Hashable {
  let depth: Int

  func fetch() async throws -> Int {
    try await OperationStore.detached(query: self).fetch()
  }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    self.depth == 0 ? 0 : try await NestingQuery(depth: self.depth - 1).fetch() + 1
  }
}
