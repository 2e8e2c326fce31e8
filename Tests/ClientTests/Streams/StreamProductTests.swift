import OperationCore
import OperationDerivation
import OperationMutation
import OperationPersistence
import OperationStreams
import OperationTesting
import TestFixtures
import Testing

/// Streams against what else changes a store.
@Suite(.bounded, .warningsAreIssues)
struct StreamProductTests {
  let client = OperationClient.automatic()
  let server = Server("a", "b")

  // MARK: Invalidations

  @Test
  func `An invalidation closes the stream, and another one begins anew`() async throws {
    let store = self.client.store(for: self.server.chat())
    let subscriber = Subscriber(store)
    try await subscriber.shows("a", "b")
    self.client.invalidate(matching: ["chat"])
    var closings = self.server.closings.makeAsyncIterator()
    await expect(closings.next(), equals: 1)
    try await subscriber.recorder.firstState { $0.valueUpdateCount >= 5 && $0.currentValue?.count == 2 }
    expect(self.server.opened, equals: [nil, nil])
    #expect(!store.isInvalidated)
    self.server.send("c")
    try await subscriber.shows("a", "b", "c")
    expect(self.server.openCount, equals: 1)
    subscriber.leave()
  }

  @Test
  func `A call that waits for a stream gets its value when an invalidation closes it`() async throws {
    let store = self.client.store(for: self.server.chat())
    let recorder = EventRecorder<QueryState<[Message], any Error>>()
    let fetch = Task { try await store.run(handler: recorder.handler) }
    try await recorder.firstState { $0.currentValue?.count == 2 }
    self.client.invalidate(matching: ["chat"])
    try await expect(fetch.value.map(\.text), equals: ["a", "b"])
    #expect(store.isInvalidated && store.isStale && !store.isLoading)
  }

  @Test
  func `An invalidation without a rerun closes the stream until somebody comes`() async throws {
    let store = self.client.store(for: self.server.chat())
    let one = Subscriber(store)
    try await one.shows("a", "b")
    self.client.invalidate(matching: ["chat"], rerunning: .none)
    try await one.recorder.firstState { $0.valueUpdateCount >= 2 && !$0.isLoading && $0.currentValue != nil }
    expect(self.server.opened, equals: [nil])
    let two = Subscriber(store)
    self.server.send("c")
    try await two.shows("a", "b", "c")
    expect(self.server.opened, equals: [nil, nil])
    one.leave()
    two.leave()
  }

  // MARK: Optimistic updates

  @Test
  func `An optimistic update lies over each element, and is no part of what the next is added to`() async throws {
    let store = self.client.store(for: self.server.chat())
    let subscriber = Subscriber(store)
    try await subscriber.shows("a", "b")
    let gate = Gate()
    let mutation = MutationOperation<String, Void, any Error>("send") { _, _ in
      try await gate.wait()
      throw ConnectionLost()
    }
    .optimistic(on: ["chat"], of: QueryState<[Message], any Error>.self) { $0?.append(Message(id: 0, text: $1)) }
    let call = Task { try await self.client.store(for: mutation).mutate(with: "mine") }
    try await gate.arrivals(count: 1)
    try await subscriber.shows("a", "b", "mine")
    self.server.send("c")
    try await subscriber.shows("a", "b", "c", "mine")
    #expect(store.valueStamp.isUnconfirmed)
    gate.open()
    await #expect(throws: ConnectionLost.self) { try await call.value }
    expect(store.texts, equals: ["a", "b", "c"])
    subscriber.leave()
    expect(store.texts, equals: ["a", "b", "c"])
    let next = Subscriber(store)
    self.server.send("d")
    try await next.shows("a", "b", "c", "d")
    expect(self.server.opened, equals: [nil, 3])
    next.leave()
  }

  // MARK: Derived queries and readers

  @Test
  func `An open stream with final elements is fresh, and a derived query follows each element`() async throws {
    let chat = self.server.chat(yielding: .final)
    let derived = QueryOperation<Int, any Error>("count") { try await $0.value(of: chat).count }.derived()
    let store = self.client.store(for: chat)
    #expect(store.isStale)
    let source = Subscriber(store)
    try await source.shows("a", "b")
    #expect(!store.isStale && store.valueStamp.kind == .final)
    try await expect(self.client.ensureValue(for: chat).count, equals: 2)
    let counts = Subscriber(self.client.store(for: derived))
    try await counts.shows(2)
    source.leave()
    self.server.send("c")
    try await counts.shows(3)
    expect(self.server.opened, equals: [nil])
    counts.leave()
    #expect(store.isStale)
    let next = Subscriber(store)
    self.server.send("d")
    try await next.shows("a", "b", "c", "d")
    expect(self.server.opened, equals: [nil, 3])
    next.leave()
  }

  @Test
  func `Readers that come before the first element get that, and not the end`() async throws {
    let server = Server()
    let chat = server.chat(yielding: .final)
    let derived = QueryOperation<Int, any Error>("count") { try await $0.value(of: chat).count }.derived()
    let source = Subscriber(self.client.store(for: chat))
    let counts = Subscriber(self.client.store(for: derived))
    let read = Task.immediate { try await self.client.ensureValue(for: chat) }
    try await source.recorder.firstState { $0.isLoading }
    server.send("a")
    try await expect(read.value.map(\.text), equals: ["a"])
    try await counts.shows(1)
    server.send("b")
    try await counts.shows(2)
    expect(server.opened, equals: [nil])
    source.leave()
    counts.leave()
  }

  @Test
  func `A reader alone opens the stream, takes its first element, and closes it`() async throws {
    let chat = self.server.chat(yielding: .final)
    try await expect(self.client.ensureValue(for: chat).isEmpty, equals: false)
    var closings = self.server.closings.makeAsyncIterator()
    await expect(closings.next(), equals: 1)
    let store = self.client.store(for: chat)
    await store.settled()
    #expect(store.currentValue?.isEmpty == false && store.isStale)
  }

  @Test
  func `A reader that is cancelled before the first element leaves the stream`() async throws {
    let server = Server()
    let chat = server.chat(yielding: .final)
    let store = self.client.store(for: chat)
    let read = Task.immediate { try await self.client.ensureValue(for: chat) }
    read.cancel()
    await #expect(throws: CancellationError.self) { try await read.value }
    await store.settled()
    #expect(store.currentValue == nil && !store.isLoading)
  }

  @Test
  func `An element from before an invalidation is no answer for a reader that comes after it`() async throws {
    let chat = self.server.chat(yielding: .final)
    let store = self.client.store(for: chat)
    let subscriber = Subscriber(store)
    try await subscriber.shows("a", "b")
    self.client.invalidate(matching: ["chat"])
    let value = try await self.client.ensureValue(for: chat)
    #expect(!value.isEmpty && self.server.opened.count == 2)
    subscriber.leave()
  }

  @Test
  func `A fetch of a stream with final elements waits for its end`() async throws {
    let store = self.client.store(for: self.server.chat(yielding: .final))
    let recorder = EventRecorder<QueryState<[Message], any Error>>()
    let fetch = Task { try await store.run(handler: recorder.handler) }
    try await recorder.firstState { $0.currentValue?.count == 2 }
    self.server.end()
    try await expect(fetch.value.map(\.text), equals: ["a", "b"])
  }

  @Test
  func `A subscriber keeps a stream open that a call has opened`() async throws {
    let store = self.client.store(for: self.server.chat(yielding: .final))
    let recorder = EventRecorder<QueryState<[Message], any Error>>()
    let fetch = Task { try await store.run(handler: recorder.handler) }
    try await recorder.firstState { $0.currentValue?.count == 2 }
    // No event is delivered during exclusive access: the subscriber keeps the stream open before its coming is told.
    let subscriber = store.withExclusiveAccess { store in
      let subscriber = Subscriber(store)
      fetch.cancel()
      return subscriber
    }
    await #expect(throws: CancellationError.self) { try await fetch.value }
    self.server.send("c")
    try await subscriber.shows("a", "b", "c")
    #expect(self.server.opened == [nil] && self.server.openCount == 1)
    subscriber.leave()
    var closings = self.server.closings.makeAsyncIterator()
    await expect(closings.next(), equals: 1)
  }

  @Test
  func `A subscriber keeps no stream open of a query that does not run for it`() async throws {
    let chat = self.server.chat(yielding: .final).enableAutomaticRunning(onlyWhen: .always(false))
    let store = self.client.store(for: chat)
    let recorder = EventRecorder<QueryState<[Message], any Error>>()
    let fetch = Task { try await store.run(handler: recorder.handler) }
    try await recorder.firstState { $0.currentValue?.count == 2 }
    let subscription = store.subscribe(with: QueryEventHandler())
    fetch.cancel()
    await #expect(throws: CancellationError.self) { try await fetch.value }
    var closings = self.server.closings.makeAsyncIterator()
    await expect(closings.next(), equals: 1)
    subscription.cancel()
  }

  @Test
  func `Of two subscribers that come after a call the last one closes the stream`() async throws {
    let store = self.client.store(for: self.server.chat(yielding: .final))
    let recorder = EventRecorder<QueryState<[Message], any Error>>()
    let fetch = Task { try await store.run(handler: recorder.handler) }
    try await recorder.firstState { $0.currentValue?.count == 2 }
    let (one, two) = (Subscriber(store), Subscriber(store))
    fetch.cancel()
    await #expect(throws: CancellationError.self) { try await fetch.value }
    one.leave()
    self.server.send("c")
    try await two.shows("a", "b", "c")
    #expect(self.server.opened == [nil] && self.server.openCount == 1)
    two.leave()
    var closings = self.server.closings.makeAsyncIterator()
    await expect(closings.next(), equals: 1)
    #expect(!store.isLoading)
  }

  @Test
  func `A subscriber that comes while the last caller's stream closes opens another one`() async throws {
    let store = self.client.store(for: self.server.chat(yielding: .final))
    let recorder = EventRecorder<QueryState<[Message], any Error>>()
    let fetch = Task { try await store.run(handler: recorder.handler) }
    try await recorder.firstState { $0.currentValue?.count == 2 }
    let subscriber = store.withExclusiveAccess { store in
      fetch.cancel()
      return Subscriber(store)
    }
    self.server.send("c")
    try await subscriber.shows("a", "b", "c")
    expect(self.server.opened, equals: [nil, 2])
    await #expect(throws: CancellationError.self) { try await fetch.value }
    subscriber.leave()
  }

  @Test
  func `A derived query that reads states shows each element`() async throws {
    let chat = self.server.chat()
    let derived = QueryOperation<Int, any Error>("count") { context in
      let state = context.states(of: chat)
      return state.currentValue?.count ?? 0
    }
    .derived()
    let subscriber = Subscriber(self.client.store(for: derived))
    try await subscriber.shows(2)
    self.server.send("c")
    try await subscriber.shows(3)
    subscriber.leave()
    var closings = self.server.closings.makeAsyncIterator()
    await expect(closings.next(), equals: 1)
  }

  @Test
  func `A derived query that commits yields`() async throws {
    let gate = Gate()
    let derived = QueryOperation<Int, any Error>("derived") { context, continuation in
      continuation.commit(1, as: .final)
      try await gate.wait()
      return 2
    }
    .derived()
    let store = self.client.store(for: derived)
    let fetch = Task { try await store.fetch() }
    try await gate.arrivals(count: 1)
    #expect(store.currentValue == 1 && store.valueStamp.kind == .partial)
    fetch.cancel()
    await #expect(throws: (any Error).self) { try await fetch.value }
    expect(store.currentValue, equals: nil)
  }

  // MARK: Storages

  /// Stores the first two messages, and shows a third one in another process.
  private func restart(_ query: some QueryRequest<[Message], any Error>) async throws {
    let storage = InMemoryStorage()
    let persisted = query.persisted(as: "chat", in: storage)
    let first = OperationClient.automatic()
    let earlier = first.store(for: persisted)
    let subscriber = Subscriber(earlier)
    try await subscriber.shows("a", "b")
    subscriber.leave()
    // The storage hears of a value after the subscribers.
    await earlier.settled()
    #expect(await first.persistence.flush())
    self.server.send("c")
    let store = OperationClient.automatic().store(for: persisted)
    _ = await store.restored()
    expect(store.texts, equals: ["a", "b"])
    #expect(store.isStale)
    let next = Subscriber(store)
    try await next.shows("a", "b", "c")
    next.leave()
  }

  @Test
  func `A stored value with final elements goes on after its last one`() async throws {
    try await self.restart(self.server.chat(yielding: .final))
    expect(self.server.opened, equals: [nil, 2])
  }

  @Test
  func `A stored value that is partial is shown, and the stream begins anew`() async throws {
    try await self.restart(self.server.chat())
    expect(self.server.opened, equals: [nil, nil])
  }

  // MARK: Default values

  @Test
  func `A default value is shown until the first element, and is no part of the value`() async throws {
    let query = self.server.chat().defaultValue([Message(id: 0, text: "…")])
    let store = self.client.store(for: query)
    expect(store.currentValue.map(\.text), equals: ["…"])
    let recorder = EventRecorder<DefaultOperationState<QueryState<[Message], any Error>>>()
    let subscription = store.subscribe(with: recorder.handler, isolation: nil)
    try await recorder.firstState { $0.currentValue.map(\.text) == ["a", "b"] }
    subscription.cancel()
    let next = store.subscribe(with: recorder.handler, isolation: nil)
    self.server.send("c")
    try await recorder.firstState { $0.currentValue.map(\.text) == ["a", "b", "c"] }
    expect(self.server.opened, equals: [nil, 2])
    next.cancel()
  }
}

/// A stream as a type.
private struct Chat: StreamRequest {
  let server: Server

  var path: OperationPath { ["chat"] }

  func elements(
    after resumption: StreamResumption<[Message], Int>,
    in context: OperationContext
  ) async throws -> AsyncThrowingStream<Message, any Error> {
    expect(resumption.value?.last?.id, equals: resumption.lastID)
    return try self.server.messages(after: resumption.lastID)
  }
}

/// A stream of numbers without identifiers.
private struct Numbers: StreamRequest, Hashable {
  var elementKind: CommittedValueKind { .final }

  func elements(
    after resumption: StreamResumption<Int, Never>,
    in context: OperationContext
  ) async throws -> AsyncStream<Int> {
    AsyncStream { $0.yield(1) }
  }
}

@Suite(.bounded, .warningsAreIssues)
struct StreamRequestTests {
  @Test
  func `A type names its elements and what they become by one function`() async throws {
    let server = Server("a")
    let client = OperationClient.automatic()
    let store = client.store(for: Chat(server: server))
    let one = Subscriber(store)
    try await one.shows("a")
    one.leave()
    server.send("b")
    let two = Subscriber(store)
    try await two.shows("a", "b")
    expect(server.opened, equals: [nil, 1])
    two.leave()
    let numbers = Subscriber(client.store(for: Numbers()))
    try await numbers.shows(1)
    expect(client.store(for: Numbers()).valueStamp.kind, equals: .final)
    numbers.leave()
  }

  @Test
  func `Nothing keeps a store of a stream alive`() async throws {
    let lifetimes = LifetimeTracker()
    do {
      let server = Server("a")
      let client = OperationClient.automatic()
      let token = lifetimes.token()
      let query = QueryOperation("chat", streaming: .append, id: \Message.id) { lastID, _ in
        token.touch()
        return try server.messages(after: lastID)
      }
      let subscriber = Subscriber(client.store(for: query))
      try await subscriber.shows("a")
      subscriber.leave()
      var closings = server.closings.makeAsyncIterator()
      await expect(closings.next(), equals: 1)
    }
    try await lifetimes.noneAlive()
  }
}
