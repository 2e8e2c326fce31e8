import OperationBackoff
import OperationCore
import OperationRetry
import OperationStreams
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct StreamQueryTests {
  let client = OperationClient.automatic()
  let server = Server("a", "b")

  @Test
  func `Subscribers keep a stream open, and the last one closes it`() async throws {
    let store = self.client.store(for: self.server.chat())
    let one = Subscriber(store)
    try await one.shows("a", "b")
    let two = Subscriber(store)
    self.server.send("c")
    try await two.shows("a", "b", "c")
    expect(self.server.opened, equals: [nil])
    #expect(store.isLoading)
    one.leave()
    expect(self.server.openCount, equals: 1)
    two.leave()
    var closings = self.server.closings.makeAsyncIterator()
    await expect(closings.next(), equals: 1)
    expect(store.texts, equals: ["a", "b", "c"])
    #expect(store.status.isIdle || store.status.isSuccessful)
    #expect(!store.isLoading && store.error == nil)
  }

  @Test
  func `The next subscriber gets what there was, and the stream goes on after it`() async throws {
    let store = self.client.store(for: self.server.chat())
    let one = Subscriber(store)
    try await one.shows("a", "b")
    one.leave()
    self.server.send("c")
    let two = Subscriber(store)
    try await two.shows("a", "b", "c")
    expect(self.server.opened, equals: [nil, 2])
    expect(store.valueUpdateCount, equals: 3)
    two.leave()
  }

  @Test
  func `A value of a stream is partial, and the end of the stream makes it final`() async throws {
    let store = self.client.store(for: self.server.chat().stale(after: .seconds(60)))
    let fetch = Task.immediate { try await store.fetch() }
    let subscriber = Subscriber(store)
    try await subscriber.shows("a", "b")
    expect(store.valueStamp.kind, equals: .partial)
    #expect(store.isStale)
    self.server.end()
    try await expect(fetch.value.map(\.text), equals: ["a", "b"])
    expect(store.valueStamp.kind, equals: .final)
    #expect(!store.isStale)
    subscriber.leave()
  }

  @Test
  func `Each element replaces the one before, or is folded into the value`() async throws {
    let latest = QueryOperation("latest", streaming: .latest) { [server] _ in try server.messages(after: nil) }
    let total = QueryOperation<Int, any Error>("total", streaming: .reduce(into: 10) { $0 += $1.id }) { [server] _ in
      try server.messages(after: nil)
    }
    let few = self.server.chat(.append(limit: 2))
    let (one, two, three) = (
      Subscriber(self.client.store(for: latest)), Subscriber(self.client.store(for: total)),
      Subscriber(self.client.store(for: few))
    )
    self.server.send("c")
    try await one.shows(Message(id: 3, text: "c"))
    try await two.shows(16)
    try await three.shows("b", "c")
    for subscriber in [one.leave, two.leave, three.leave] { subscriber() }
  }

  @Test
  func `The closure receives the second element of the path`() async throws {
    let query = QueryOperation("rooms", 7, streaming: .append, id: \Message.id) { [server] room, lastID, _ in
      try server.messages(after: lastID ?? (room == 7 ? 1 : 0))
    }
    let other = QueryOperation("rooms", "x", streaming: .latest) { [server] room, _ in
      try server.messages(after: room == "x" ? 1 : 0)
    }
    expect(query.path, equals: ["rooms", 7])
    let (one, two) = (Subscriber(self.client.store(for: query)), Subscriber(self.client.store(for: other)))
    try await one.shows("b")
    try await two.shows(Message(id: 2, text: "b"))
    one.leave()
    two.leave()
  }

  @Test
  func `A stream that ends without an element has the initial value, or fails`() async throws {
    let empty = AsyncStream<Int> { $0.finish() }
    let list = QueryOperation("list", streaming: .append) { _ in empty }
    let sum = QueryOperation("sum", streaming: .reduce(into: 3) { $0 += $1 }) { _ in empty }
    let latest = QueryOperation("latest", streaming: .latest) { _ in empty }
    try await expect(self.client.store(for: list).fetch(), equals: [])
    try await expect(self.client.store(for: sum).fetch(), equals: 3)
    await #expect(throws: StreamEnded.self) { try await self.client.store(for: latest).fetch() }
  }

  @Test
  func `A failure without a retry is shown beside what the stream has brought`() async throws {
    let store = self.client.store(for: self.server.chat())
    let subscriber = Subscriber(store)
    try await subscriber.shows("a", "b")
    self.server.end(throwing: ConnectionLost())
    let state = try await subscriber.recorder.firstState { $0.error != nil }
    #expect(state.error is ConnectionLost && !state.isLoading)
    expect(store.texts, equals: ["a", "b"])
    subscriber.leave()
  }

  @Test
  func `A value that was set meanwhile is what the next element is added to`() async throws {
    let store = self.client.store(for: self.server.chat())
    let subscriber = Subscriber(store)
    try await subscriber.shows("a", "b")
    store.currentValue = [Message(id: 2, text: "edited")]
    self.server.send("c")
    try await subscriber.shows("edited", "c")
    subscriber.leave()
    expect(store.texts, equals: ["edited", "c"])
    let next = Subscriber(store)
    self.server.send("d")
    try await next.shows("edited", "c", "d")
    expect(self.server.opened, equals: [nil, 3])
    next.leave()
  }

  @Test
  func `After a reset the stream begins anew`() async throws {
    let store = self.client.store(for: self.server.chat())
    let subscriber = Subscriber(store)
    try await subscriber.shows("a", "b")
    store.resetState()
    expect(store.currentValue, equals: nil)
    subscriber.leave()
    let next = Subscriber(store)
    try await next.shows("a", "b")
    expect(self.server.opened, equals: [nil, nil])
    next.leave()
  }

  @Test
  func `A cancelled call leaves what the stream has brought`() async throws {
    let store = OperationStore.detached(query: self.server.chat())
    let recorder = EventRecorder<QueryState<[Message], any Error>>()
    let fetch = Task { try await store.run(handler: recorder.handler) }
    try await recorder.first { event in
      if case .resultReceived(.success(let messages)) = event.kind { messages.count == 2 } else { false }
    }
    fetch.cancel()
    await #expect(throws: CancellationError.self) { try await fetch.value }
    expect(store.texts, equals: ["a", "b"])
    expect(store.valueStamp.kind, equals: .partial)
  }

  @Test
  func `A runner returns the value of all elements`() async throws {
    let query = QueryOperation("list", streaming: .append) { _ in
      AsyncStream<Int> { stream in
        for number in 1...3 { stream.yield(number) }
        stream.finish()
      }
    }
    try await expect(OperationRunner(operation: query).run(), equals: [1, 2, 3])
  }
}
