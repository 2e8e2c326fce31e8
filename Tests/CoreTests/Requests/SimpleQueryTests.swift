import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Queries that return one value.
@Suite(.bounded, .warningsAreIssues)
struct SimpleQueryTests {
  @Test
  func `A type with fetch(in:) alone is a query, with its modifiers`() async throws {
    let client = OperationClient()
    let store = client.store(for: Doubled(number: 3).modifier(TryingAgain(limit: 1, waits: false)))
    expect(store.path, equals: ["doubled", 3])
    try await expect(store.fetch(), equals: 6)
    expect(store.runTask().configuration.name, equals: "Doubled: fetch")
    #expect(client.store(for: Doubled(number: 3)) === store)
  }

  @Test
  func `Its failure is the one that fetch(in:) throws`() async {
    let failing = OperationStore<QueryState<Int, Refused>>.detached(query: Failing())
    await #expect(throws: Refused(code: 7)) { try await failing.fetch() }
    let store = OperationStore<QueryState<Int, Never>>.detached(query: NeverFailing())
    await expect(store.fetch(), equals: 1)
  }

  @Test @MainActor
  func `It runs on the actor of its caller, unless it is written otherwise`() async throws {
    #expect(try await OperationRunner(operation: OnItsCaller()).run())
    try await expect(OperationRunner(operation: OnNoActor()).run(), equals: false)
  }
}

private struct Doubled: SimpleQueryRequest {
  let number: Int

  var path: OperationPath { ["doubled", self.number] }

  func fetch(in context: OperationContext) async throws -> Int {
    guard context.operationAttempt > 1 else { throw Refused() }
    return self.number * 2
  }
}

private struct Failing: SimpleQueryRequest, Hashable {
  func fetch(in context: OperationContext) async throws(Refused) -> Int { throw Refused(code: 7) }
}

private struct NeverFailing: SimpleQueryRequest, Hashable {
  func fetch(in context: OperationContext) async -> Int { 1 }
}

private struct OnItsCaller: SimpleQueryRequest, Hashable {
  func fetch(in context: OperationContext) async throws -> Bool { #isolation === MainActor.shared }
}

private struct OnNoActor: SimpleQueryRequest, Hashable {
  @concurrent func fetch(in context: OperationContext) async throws -> Bool { #isolation === MainActor.shared }
}
