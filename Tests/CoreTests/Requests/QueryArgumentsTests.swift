import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Queries whose closures receive the elements of their paths.
@Suite(.bounded, .warningsAreIssues)
struct QueryArgumentsTests {
  @Test
  func `The closure receives the elements after the first one, then the context`() async throws {
    let client = OperationClient()
    func post(_ id: Int) -> some QueryRequest<String, any Error> {
      QueryOperation("posts", id) { id, context in try await text(id, context) }
    }
    expect(client.store(for: post(1)).path, equals: ["posts", 1])
    try await expect(client.store(for: post(1)).fetch(), equals: "1 at attempt 1")
    try await expect(client.store(for: post(2)).fetch(), equals: "2 at attempt 1")
    expect(post(1).operationName, equals: "posts")

    let comment = QueryOperation("posts", 3, "comments", 4, operationName: "Comment") { post, _, comment, _ in
      post * 10 + comment
    }
    expect(comment.path, equals: ["posts", 3, "comments", 4])
    expect(comment.operationName, equals: "Comment")
    try await expect(OperationStore.detached(query: comment).fetch(), equals: 34)
  }

  @Test
  func `It yields values with the continuation as the last parameter`() async throws {
    let query = QueryOperation("numbers", 1, 2) { first, second, _, continuation in
      continuation.yield(first)
      return second
    }
    let store = OperationStore.detached(query: query)
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    try await expect(store.fetch(), equals: 2)
    expect(recorder.values, equals: [1, 2])
    subscription.cancel()
  }

  @Test
  func `Of two parameters the first is the element wherever the body allows it`() async throws {
    let element = QueryOperation("a", 7) { id, _ in "\(id)" }
    try await expect(OperationStore.detached(query: element).fetch(), equals: "7")
    let context = QueryOperation("a", 7) { context, continuation in
      continuation.yield(context.operationAttempt)
      return 2
    }
    try await expect(OperationStore.detached(query: context).fetch(), equals: 2)
    let none = QueryOperation("a", 7) { 3 }
    try await expect(OperationStore.detached(query: none).fetch(), equals: 3)
  }

  @Test
  func `Its failure is any error, unless the closure or the type says otherwise`() async throws {
    let nothing = QueryOperation("a", 1) { id, _ in id }
    try await expect(store(nothing).fetch(), equals: 1)
    let anything = QueryOperation("a", 1) { id, _ in
      if id == 1 { throw Refused(code: 3) }
      return id
    }
    await #expect(throws: Refused(code: 3)) { try await store(anything).fetch() }
    let closure = QueryOperation("a", 1) { id, _ throws(Refused) in
      if id == 1 { throw Refused(code: 4) }
      return id
    }
    let typed: OperationStore<QueryState<Int, Refused>> = .detached(query: closure)
    await #expect(throws: Refused(code: 4)) { try await typed.fetch() }
    let never = QueryOperation<Int, Never>("a", 5) { id, _, continuation in
      continuation.yield(id)
      return id + 1
    }
    await expect(OperationStore.detached(query: never).fetch(), equals: 6)
    let written: QueryOperation<Int, any Error> = QueryOperation("a", 1) { _, _ throws(Refused) in
      throw Refused(code: 6)
    }
    await #expect(throws: Refused(code: 6)) { try await store(written).fetch() }
    let function = QueryOperation("a", 1, body: text)
    try await expect(OperationStore.detached(query: function).fetch(), equals: "1 at attempt 1")
  }
}

private func store(_ query: some QueryRequest<Int, any Error>) -> OperationStore<QueryState<Int, any Error>> {
  .detached(query: query)
}

@Sendable
private func text(_ id: Int, _ context: OperationContext) async throws -> String {
  "\(id) at attempt \(context.operationAttempt)"
}
