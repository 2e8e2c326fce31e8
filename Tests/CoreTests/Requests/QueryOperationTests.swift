import CoreFixtures
import OperationCore
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Queries from closures.
@Suite(.bounded, .warningsAreIssues)
struct QueryOperationTests {
  @Test
  func `It is a query at its path, with its name, that takes modifiers`() async throws {
    let client = OperationClient()
    func post(_ id: Int) -> some QueryRequest<String, any Error> {
      QueryOperation("posts", id) { context in
        guard context.operationAttempt > 1 else { throw Refused() }
        return "post \(id)"
      }
      .modifier(TryingAgain(limit: 1, waits: false))
    }
    let store = client.store(for: post(1))
    expect(store.path, equals: ["posts", 1])
    try await expect(store.fetch(), equals: "post 1")
    #expect(client.store(for: post(1)) === store)
    #expect(client.store(for: post(2)) !== store)
    expect(post(1).operationName, equals: "posts")
    expect(store.runTask().configuration.name, equals: "posts: fetch")
  }

  @Test
  func `A second form yields values`() async throws {
    let query = QueryOperation("numbers") { context, continuation in
      continuation.yield(1)
      return 2
    }
    let store = OperationStore.detached(query: query)
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    try await expect(store.fetch(), equals: 2)
    expect(recorder.values, equals: [1, 2])
    subscription.cancel()
  }

  @Test
  func `Its failure is any error, unless its type says otherwise`() async throws {
    let any = QueryOperation("a") { _ in 1 }
    #expect(try await OperationStore<QueryState<Int, any Error>>.detached(query: any).fetch() == 1)
    let typed = QueryOperation<Int, Refused>("b") { _ throws(Refused) in throw Refused(code: 4) }
    let store = OperationStore<QueryState<Int, Refused>>.detached(query: typed)
    await #expect(throws: Refused(code: 4)) { try await store.fetch() }
    let never = QueryOperation<Int, Never>("c") { _, continuation in
      continuation.yield(1)
      return 3
    }
    await expect(OperationStore.detached(query: never).fetch(), equals: 3)
  }

  @Test
  func `The failure of its closure is its failure`() async throws {
    let code = 4
    let typed = QueryOperation("a") { _ throws(Refused) in
      if code > 0 { throw Refused(code: code) }
      return 1
    }
    await #expect(throws: Refused(code: 4)) { try await failing(typed).fetch() }
    let yielding = QueryOperation("a") { _, continuation throws(Refused) in
      continuation.yield(1)
      if code > 0 { throw Refused(code: code + 1) }
      return 1
    }
    await #expect(throws: Refused(code: 5)) { try await failing(yielding).fetch() }
    let plain = QueryOperation("a") { () throws(Refused) in 1 }
    try await expect(failing(plain).fetch(), equals: 1)
  }

  @Test
  func `Its name is that of its type when its path begins with no string, or the one it is given`() {
    expect(QueryOperation(1, "a") { _ in 1 }.operationName, equals: "QueryOperation<Int, Error>")
    expect(QueryOperation(1, "a", operationName: "One") { _ in 1 }.operationName, equals: "One")
    expect(QueryOperation(1, "a") { _ in 1 }.path, equals: [1, "a"])
    expect(QueryOperation([1, 2]) { _ in 1 }.path.count, equals: 1)
  }

  @Test
  func `Statuses describe themselves`() {
    expect("\(OperationStatus<Int, any Error>.idle)", equals: "idle")
    expect("\(OperationStatus<Int, any Error>.loading)", equals: "loading")
    expect("\(OperationStatus<Int, any Error>.result(.success(3)))", equals: "value(3)")
    expect("\(OperationStatus<String, any Error>.result(.success("a")))", equals: "value(a)")
    expect("\(OperationStatus<Int, any Error>.result(.failure(Unavailable())))", equals: "error(unavailable)")
    expect("\(OperationAttempt(index: 2, lastFailure: Unavailable()))", equals: "attempt 2 after unavailable")
  }
}

/// A store that fails with one type.
private func failing(_ query: some QueryRequest<Int, Refused>) -> OperationStore<QueryState<Int, Refused>> {
  .detached(query: query)
}

/// An error with a description of its own.
private struct Unavailable: Error, CustomStringConvertible {
  let description = "unavailable"
}
