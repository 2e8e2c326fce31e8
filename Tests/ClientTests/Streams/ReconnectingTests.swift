import OperationBackoff
import OperationCore
import OperationRetry
import OperationStreams
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct ReconnectingTests {
  let client = OperationClient.automatic()
  let server = Server("a", "b")
  let clock = ManualClock()

  private func store(
    _ query: some QueryRequest<[Message], any Error>,
    limit: Int
  ) -> OperationStore<QueryState<[Message], any Error>> {
    self.client.store(for: query.retry(limit: limit).backoff(.exponential(.seconds(1))).manualTime(self.clock))
  }

  @Test
  func `A lost connection is opened again after its delay, and goes on after the last element`() async throws {
    let store = self.store(self.server.chat(), limit: 3)
    let subscriber = Subscriber(store)
    try await subscriber.shows("a", "b")
    self.server.end(throwing: ConnectionLost())
    try await self.clock.sleepers(count: 1, .delay)
    #expect(store.isLoading && store.error == nil)
    #expect(store.attempt?.lastFailure is ConnectionLost)
    self.server.send("c")
    self.clock.advance(by: .seconds(1))
    try await subscriber.shows("a", "b", "c")
    expect(self.server.opened, equals: [nil, 2])
    subscriber.leave()
  }

  @Test
  func `Attempts are counted anew after each element`() async throws {
    let store = self.store(self.server.chat(), limit: 2)
    let subscriber = Subscriber(store)
    try await subscriber.shows("a", "b")
    var texts = ["a", "b"]
    for number in 1...4 {
      self.server.refuse(1)
      self.server.end(throwing: ConnectionLost())
      try await self.clock.sleepers(count: 1, .delay)
      expect(self.clock.remainingTimes(.delay), equals: [.seconds(1)])
      expect(store.attempt?.index, equals: 1)
      self.clock.advance(by: .seconds(1))
      try await self.clock.sleepers(count: 1, .delay)
      expect(self.clock.remainingTimes(.delay), equals: [.seconds(2)])
      expect(store.attempt?.index, equals: 2)
      self.clock.advance(by: .seconds(2))
      self.server.send("\(number)")
      texts.append("\(number)")
      let expected = texts
      try await subscriber.recorder.firstState { $0.currentValue?.map(\.text) == expected }
    }
    self.server.refuse(2)
    self.server.end(throwing: ConnectionLost())
    for seconds in 1...2 {
      try await self.clock.sleepers(count: 1, .delay)
      self.clock.advance(by: .seconds(seconds))
    }
    try await subscriber.recorder.firstState { $0.error is ConnectionLost && !$0.isLoading }
    expect(self.server.opened.count, equals: 11)
    subscriber.leave()
  }

  @Test
  func `A stream without identifiers begins anew, and shows what it had until its first element`() async throws {
    let query = QueryOperation("list", streaming: .append) { [server] _ in try server.messages(after: nil) }
    let store = self.store(query, limit: 1)
    let subscriber = Subscriber(store)
    try await subscriber.shows("a", "b")
    self.server.end(throwing: ConnectionLost())
    try await self.clock.sleepers(count: 1, .delay)
    expect(store.texts, equals: ["a", "b"])
    self.server.send("c")
    self.clock.advance(by: .seconds(1))
    try await subscriber.shows("a", "b", "c")
    expect(self.server.opened, equals: [nil, nil])
    subscriber.leave()
  }

  @Test
  func `An end that is none is a lost connection`() async throws {
    let store = self.store(self.server.chat(reconnectsAtEnd: true), limit: 1)
    let subscriber = Subscriber(store)
    try await subscriber.shows("a", "b")
    self.server.end()
    try await self.clock.sleepers(count: 1, .delay)
    #expect(store.attempt?.lastFailure is StreamEnded)
    self.clock.advance(by: .seconds(1))
    self.server.send("c")
    try await subscriber.shows("a", "b", "c")
    expect(self.server.opened, equals: [nil, 2])
    subscriber.leave()
  }

  @Test
  func `The last subscriber ends the wait for the next attempt`() async throws {
    let store = self.store(self.server.chat(), limit: 3)
    let subscriber = Subscriber(store)
    try await subscriber.shows("a", "b")
    self.server.end(throwing: ConnectionLost())
    try await self.clock.sleepers(count: 1, .delay)
    subscriber.leave()
    try await self.clock.noSleepers(.delay)
    expect(store.texts, equals: ["a", "b"])
    let next = Subscriber(store)
    self.server.send("c")
    try await next.shows("a", "b", "c")
    expect(self.server.opened, equals: [nil, 2])
    next.leave()
  }

  @Test
  func `A sum goes on after the last element as well`() async throws {
    let query = QueryOperation("sum", streaming: .reduce(into: 0) { $0 += $1.id }, id: \Message.id) {
      [server] lastID, _ in
      try server.messages(after: lastID)
    }
    let store = self.client.store(for: query)
    let one = Subscriber(store)
    try await one.shows(3)
    one.leave()
    self.server.send("c")
    let two = Subscriber(store)
    try await two.shows(6)
    expect(self.server.opened, equals: [nil, 2])
    two.leave()
  }
}
