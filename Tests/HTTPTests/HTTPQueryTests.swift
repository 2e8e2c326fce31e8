import Foundation
import OperationBackoff
import OperationCore
import OperationHTTP
import OperationRetry
import OperationTesting
import OperationTimeout
import TestFixtures
import Testing

/// `HTTPQuery`, against a server that answers by a script.
@Suite(.bounded, .warningsAreIssues)
struct HTTPQueryTests {
  private let clock = ManualClock()
  private let server = ScriptedServer()

  private func store<Value>(
    _ query: HTTPQuery<Value>
  ) -> OperationStore<QueryState<Value, any Error>> {
    let silent = query.context { $0.operationHTTPCallFields = [] }
    return .detached(query: silent.sent(by: self.server).manualTime(self.clock))
  }

  @Test
  func `It sends its request, and decodes the answer`() async throws {
    self.server.enqueue(200, [:], #"{"id": 1}"#)
    let query = HTTPQuery(address, method: "POST", fields: ["Accept": "application/json"], body: Data([1]))
    try await expect(self.store(query.decode(Post.self)).fetch(), equals: Post(id: 1))
    let request = try #require(self.server.requests.all.first)
    let fields: OperationHTTPFields = ["accept": "application/json"]
    expect(request, equals: OperationHTTPRequest(address, method: "POST", fields: fields, body: Data([1])))

    self.server.enqueue(200, [:], "abc")
    try await expect(self.store(HTTPQuery(address)).fetch(), equals: Data("abc".utf8))
    self.server.enqueue(201, ["Location": "/2"], "abc")
    let own = HTTPQuery(address).decode { response in "\(response.status) \(response.fields["location"] ?? "")" }
    try await expect(self.store(own).fetch(), equals: "201 /2")
  }

  @Test
  func `Its path is the method and the address, with the fields and the body if there are some`() {
    expect(HTTPQuery(address).path, equals: ["GET", "https://example.org/posts/1"])
    expect(HTTPQuery(address, path: ["posts", 1]).decode(Post.self).path, equals: ["posts", 1])
    let german = HTTPQuery(address, fields: ["Accept-Language": "de"])
    let french = HTTPQuery(address, fields: ["Accept-Language": "fr"])
    expect(german.path, equals: HTTPQuery(address, fields: ["accept-language": "de"]).path)
    #expect(german.path != french.path && german.path != HTTPQuery(address).path)
    #expect(!"\(german.path)".contains("de\""))
    expect(HTTPQuery(address).decode(Post.self).operationName, equals: "GET example.org")
    expect(HTTPQuery(address, operationName: "Post").operationName, equals: "Post")
  }

  @Test
  func `An answer for one user is neither fresh nor stored where the value is shared`() async throws {
    for (fields, control, isKept) in [
      ([:], "private, max-age=60", false), (["authorization": "Bearer a"], "max-age=60", false),
      (["Authorization": "Bearer a"], "public, max-age=60", true), ([:], "max-age=60", true),
    ] as [(OperationHTTPFields, String, Bool)] {
      self.server.enqueue(200, ["Cache-Control": control], "abc")
      let store = self.store(HTTPQuery(address, fields: fields, isShared: true))
      try await store.fetch()
      #expect(store.isStale == !isKept && store.valueStamp.mayLeaveStore == isKept, "\(control)")
    }
  }

  @Test
  func `A status that is no success is an error with the answer`() async throws {
    self.server.enqueue(503, ["Retry-After": "7"], "busy")
    let error = try #require(await self.failure(of: self.store(HTTPQuery(address))) as? OperationHTTPStatusError)
    #expect(error.status == 503 && error.body == Data("busy".utf8) && error.fields["retry-after"] == "7")
    expect(error.retryClassification, equals: .retryAfter(.seconds(7)))
    #expect(!"\(error)".contains("busy"))
  }

  @Test
  func `A retry waits as the server asks, and gives up where that is useless`() async throws {
    self.server.enqueue(429, ["Retry-After": "5"])
    self.server.enqueue(200, [:], #"{"id": 2}"#)
    let query = HTTPQuery(address).decode(Post.self).retry(limit: 1).honoringRetryAfter(jitter: .none)
    let retried = OperationStore.detached(query: query.sent(by: self.server).manualTime(self.clock))
    let run = Task { try await retried.fetch() }
    try await self.clock.sleepers(count: 1)
    self.clock.advance(by: .seconds(4))
    expect(self.server.requests.count, equals: 1)
    self.clock.advance(by: .seconds(1))
    try await expect(run.value, equals: Post(id: 2))

    self.server.enqueue(403)
    await #expect(throws: OperationHTTPStatusError.self) { try await retried.fetch() }
    self.server.enqueue(200, [:], "no json")
    await #expect(throws: OperationHTTPContentError.self) { try await retried.fetch() }
    expect(self.server.requests.count, equals: 4)
  }

  @Test
  func `The value is fresh as long as the server says, and is asked about after that`() async throws {
    let store = self.store(HTTPQuery(address).decode(Post.self))
    self.server.enqueue(200, ["Cache-Control": "max-age=60", "ETag": "\"a\""], #"{"id": 1}"#)
    try await store.fetch()
    self.clock.advance(by: .seconds(59))
    #expect(!store.isStale)
    self.clock.advance(by: .seconds(1))
    #expect(store.isStale)

    self.server.enqueue(304)
    try await expect(store.fetch(), equals: Post(id: 1))
    expect(self.server.requests.all[1].fields["If-None-Match"], equals: "\"a\"")
    #expect(!store.isStale && store.valueUpdateCount == 1)

    self.clock.advance(by: .seconds(60))
    self.server.enqueue(200, ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"], #"{"id": 3}"#)
    try await expect(store.fetch(), equals: Post(id: 3))
    self.server.enqueue(304)
    try await expect(store.fetch(), equals: Post(id: 3))
    expect(self.server.requests.all[3].fields["If-Modified-Since"], equals: "Sun, 06 Nov 1994 08:49:37 GMT")
    expect(self.server.requests.all[3].fields["If-None-Match"], equals: nil)
  }

  @Test
  func `What a request says to caches is sent, and changes nothing here`() async throws {
    let directives = "max-stale=600, min-fresh=50, only-if-cached"
    let store = self.store(HTTPQuery(address, fields: ["Cache-Control": directives]).decode(Post.self))
    self.server.enqueue(200, ["Cache-Control": "max-age=60"], #"{"id": 1}"#)
    try await store.fetch()
    expect(self.server.requests.all.map { $0.fields["Cache-Control"] }, equals: [directives])
    self.clock.advance(by: .seconds(59))
    #expect(!store.isStale)
    self.clock.advance(by: .seconds(1))
    #expect(store.isStale)
    // A cache on the way has nothing.
    self.server.enqueue(504)
    let error = await self.failure(of: store) as? OperationHTTPStatusError
    #expect(error?.status == 504 && store.currentValue == Post(id: 1))
  }

  @Test
  func `A value that was never there is not asked about, and an own condition stays`() async throws {
    let store = self.store(HTTPQuery(address, fields: ["If-None-Match": "\"mine\""]).decode(Post.self))
    self.server.enqueue(200, ["ETag": "\"a\""], #"{"id": 1}"#)
    try await store.fetch()
    self.server.enqueue(304)
    let error = await self.failure(of: store) as? OperationHTTPStatusError
    expect(error?.status, equals: 304)
    expect(self.server.requests.all.map { $0.fields["If-None-Match"] }, equals: ["\"mine\"", "\"mine\""])
  }

  @Test
  func `Nothing at the address is nil where it is asked for, and a failure elsewhere`() async throws {
    let store = self.store(HTTPQuery(address).decodeIfFound(Post.self))
    self.server.enqueue(404)
    #expect(try await store.fetch() == .some(nil))
    self.server.enqueue(200, [:], #"{"id": 1}"#)
    try await expect(store.fetch(), equals: Post(id: 1))
    self.server.enqueue(500)
    await expect((self.failure(of: store) as? OperationHTTPStatusError)?.status, equals: 500)
  }

  @Test
  func `A streamed body yields after each line`() async throws {
    let (parts, source) = AsyncThrowingStream<Data, any Error>.makeStream()
    self.server.enqueue(OperationHTTPBody(parts))
    let query = HTTPQuery(address).streamingLines(into: [Int]()) { numbers, line in numbers.append(Int(line) ?? -1) }
    let store = self.store(query)
    let values = Receiver<[Int]>()
    let subscription = store.subscribe { state in
      if let value = state.currentValue { values.receive(value) }
    }
    let run = Task { try await store.fetch() }
    source.yield(Data("1\n2".utf8))
    try await values.last([1])
    source.yield(Data("0\r\n3\n4".utf8))
    try await values.last([1, 20, 3])
    source.finish()
    try await expect(run.value, equals: [1, 20, 3, 4])
    subscription.cancel()
  }

  @Test
  func `The failure of a body is the failure of the run, and so is one that is too long`() async throws {
    let (parts, source) = AsyncThrowingStream<Data, any Error>.makeStream()
    self.server.enqueue(OperationHTTPBody(parts))
    source.yield(Data("1".utf8))
    source.finish(throwing: Refused(code: 3))
    await expect(self.failure(of: self.store(HTTPQuery(address))) as? Refused, equals: Refused(code: 3))
    let response = OperationHTTPResponse(status: 200, body: Data([1, 2, 3]))
    await #expect(throws: OperationHTTPContentError.self) { try await response.data(upTo: 2) }
    try await expect(OperationHTTPResponse(status: 200, body: Data([1, 2])).data(upTo: 2), equals: Data([1, 2]))
  }

  @Test
  func `The deadline and the criticality of the run travel in fields`() async throws {
    self.server.enqueue(200)
    let query = HTTPQuery(address).deadline(after: .milliseconds(1_500))
      .context { $0.operationCriticality = .sheddable }
    let store = OperationStore.detached(query: query.sent(by: self.server).manualTime(self.clock))
    try await store.fetch()
    let fields = try #require(self.server.requests.all.first).fields
    expect(fields["grpc-timeout"], equals: "1500000u")
    expect(fields["X-Request-Criticality"], equals: "SHEDDABLE")

    var context = OperationContext()
    context.use(self.clock)
    context.readCallHeaderFields(fields)
    expect(context.operationTimeRemaining, equals: .milliseconds(1_500))
    expect(context.operationCriticality, equals: .sheddable)

    self.server.enqueue(200)
    let silent = query.context { $0.operationHTTPCallFields = [] }
    try await OperationStore.detached(query: silent.sent(by: self.server).manualTime(self.clock)).fetch()
    #expect(self.server.requests.all[1].fields.isEmpty)
  }

  @Test
  func `A body of any operation sends requests, too`() async throws {
    let create = OperationRunner(operation: Creation(server: self.server))
    self.server.enqueue(201, [:], #"{"id": 9}"#)
    try await expect(create.run(), equals: Post(id: 9))
    let request = try #require(self.server.requests.all.first)
    #expect(request.method == "POST" && request.fields["Content-Type"] == "application/json")
    expect(request.body, equals: Data(#"{"id":8}"#.utf8))
    self.server.enqueue(422)
    await #expect(throws: OperationHTTPStatusError.self) { try await create.run() }
  }

  private func failure<Value>(of store: OperationStore<QueryState<Value, any Error>>) async -> (any Error)? {
    do {
      _ = try await store.fetch()
      return nil
    } catch {
      return error
    }
  }
}

private struct Creation: OperationRequest {
  let server: ScriptedServer

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Post, any Error>
  ) async throws -> Post {
    var context = context
    context.operationHTTPTransport = self.server
    return try await context.send(OperationHTTPRequest(address, json: Post(id: 8))).decoded()
  }
}
