import Foundation
import Operation
import TestFixtures
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.bounded) struct QuerySamples {
  private let post = Post(id: 1, userId: 1, title: "Mock Title", body: "This is the body of the mock post.")

  @Test func `A query returns the post`() async throws {
    let store = OperationStore.detached(
      query: Post.query(for: 1),
      initialValue: nil
    )
    store.context.dataTransport = MockDataTransport(posts: ["1": self.post])

    let post = try await store.fetch()

    expect(post, equals: self.post)
    expect(store.status.resultValue, equals: .some(self.post))
  }

  @Test func `A missing post is a value`() async throws {
    let store = OperationStore.detached(query: Post.query(for: 2))
    store.context.dataTransport = MockDataTransport()

    try await expect(store.fetch(), equals: nil)
    #expect(store.status.isSuccessful)
  }

  @Test func `The clock dates the value`() async throws {
    let store = OperationStore.detached(
      query: Post.query(for: 1),
      initialValue: nil
    )
    store.context.dataTransport = MockDataTransport(posts: ["1": self.post])
    let date = Date(timeIntervalSince1970: 1_234_567_890)
    store.context.operationClock = .custom { date }

    try await store.fetch()

    expect(store.valueLastUpdatedAt, equals: date)
  }

  @Test func `Retries without a delay do not wait`() async throws {
    let store = OperationStore.detached(query: Post.Query(id: 1).retry(limit: 3))
    store.context.dataTransport = FailingTransport()
    store.context.operationDelayer = .noDelay

    await #expect(throws: URLError.self) { try await store.fetch() }
    #expect(store.error is URLError)
  }

  @Test func `A client shares the state of a path`() async throws {
    let client = OperationClient()
    client.defaultContext.dataTransport = MockDataTransport(posts: ["1": self.post])

    try await client.store(for: Post.query(for: 1)).fetch()

    expect(client.store(for: Post.query(for: 1)).currentValue, equals: .some(self.post))
    #expect(client.store(with: [Post.Query(id: 1)]) != nil)
  }
}

private struct FailingTransport: HTTPDataTransport {
  func data(for request: URLRequest) async throws -> (Data, URLResponse) {
    throw URLError(.notConnectedToInternet)
  }
}
