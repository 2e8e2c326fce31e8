#if SwiftOperationDevtools
  import Foundation
  import OperationCore
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationDevtools

  @Suite(.bounded) struct LiveFeedTests {
    private struct Refused: Error {}

    private let script = OperationScript<Int, any Error>(default: .value(1))
    private let client = OperationClient()
    private let feed: LiveFeed

    init() {
      self.feed = LiveFeed(self.client, allowsActions: false, simulation: nil)
    }

    /// Reads events, but looks only when a test says so.
    private func connect() async throws -> (FeedConnection, [Message]) {
      await self.feed.startReading()
      let connection = await self.feed.connect()
      return (connection, try await connection.messages())
    }

    @Test func `A page begins with all stores, and with what happened before`() async throws {
      await self.feed.startReading()
      for number in 0..<3 { try await self.client.store(for: self.script.query(path: ["numbers", number])).fetch() }
      let (_, messages) = try await self.connect()
      expect(messages.first?.type, equals: "hello")
      expect(messages.first?.live, equals: true)
      expect(messages.last?.ready, equals: true)
      let rows = messages.flatMap { $0.stores ?? [] }
      expect(Set(rows.map(\.path)), equals: [["\"numbers\"", "0"], ["\"numbers\"", "1"], ["\"numbers\"", "2"]])
      #expect(rows.allSatisfy { $0.status == "success" && $0.values == 1 && $0.kind == "query" })
      let events = messages.flatMap { $0.events ?? [] }
      expect(events.filter { $0.kind == "run.ended" }.count, equals: 3)
      #expect(events.filter { $0.kind == "run.began" }.allSatisfy { $0.cause == "call" })
    }

    @Test func `A look tells what has changed, and nothing else`() async throws {
      let stores = (0..<10).map { self.client.store(for: self.script.query(path: ["numbers", $0])) }
      let (connection, _) = try await self.connect()
      try await stores[4].fetch()
      await self.feed.look()
      let update = try #require(try await connection.messages().first)
      expect(update.stores?.map(\.path), equals: [["\"numbers\"", "4"]])
      expect(update.events?.map(\.kind), equals: ["run.began", "run.ended"])
      #expect(update.removed == nil && update.extras == nil)
      // Nothing has happened since, so nothing is sent: the next message is about the next change.
      await self.feed.look()
      try await stores[5].fetch()
      await self.feed.look()
      try await expect(connection.messages().map { $0.stores?.map(\.path) }, equals: [[["\"numbers\"", "5"]]])
    }

    @Test func `A store that has gone is told once`() async throws {
      let store = self.client.store(for: self.script.query(path: ["numbers", 1]))
      let (connection, messages) = try await self.connect()
      let row = try #require(messages.flatMap { $0.stores ?? [] }.first)
      self.client.clearStores()
      await self.feed.look()
      let update = try #require(try await connection.messages().first)
      expect(update.removed, equals: [row.id])
      expect(update.events?.map(\.kind), equals: ["store.removed"])
      withExtendedLifetime(store) {}
    }

    @Test func `The states that a look reads are bounded, and all are read in the end`() async throws {
      let stores = (0..<1200).map { self.client.store(for: self.script.query(path: ["numbers", $0])) }
      let (connection, _) = try await self.connect()
      for store in stores { try await store.fetch() }
      var counts: [Int] = []
      var paths: Set<[String]> = []
      while paths.count < 1200 {
        await self.feed.look()
        let rows = try await connection.messages().flatMap { $0.stores ?? [] }
        try #require(!rows.isEmpty)
        counts.append(rows.count)
        paths.formUnion(rows.map(\.path))
      }
      expect(counts.count, equals: 3)
      #expect(counts.allSatisfy { $0 <= 550 })
    }

    @Test func `A page that does not read gets a new beginning, and holds no more than a bound`() async throws {
      let store = self.client.store(for: self.script.query(path: ["numbers"]))
      await self.feed.startReading()
      let connection = await self.feed.connect(limit: 30_000)
      _ = try await connection.messages()
      // Each look sends some 800 bytes, so the bound is reached once.
      for _ in 0..<45 {
        try await store.fetch()
        await self.feed.look()
      }
      let text = await connection.next() ?? ""
      #expect(text.utf8.count < 30_000)
      #expect(text.hasPrefix(#"data: {"type":"hello""#))
    }

    @Test func `Events that nobody could take are counted`() async throws {
      let store = self.client.store(for: self.script.query(path: ["numbers"]))
      let feed = LiveFeed(self.client, allowsActions: false, simulation: nil, bufferSize: 100)
      await feed.startReading()
      let connection = await feed.connect()
      _ = try await connection.messages()
      for _ in 0..<80 { try await store.fetch() }
      await feed.look()
      let update = try #require(try await connection.messages().first)
      expect(update.dropped, equals: 60)
      expect(update.events?.count, equals: 100)
    }

    @Test func `Errors are told as texts, and secret ones as their types`() async throws {
      struct Hidden: Error, OperationSecret, CustomStringConvertible {
        var description: String { "the password" }
      }
      self.script.enqueue(.error(Refused()))
      _ = try? await self.client.store(for: self.script.query(path: ["open"])).fetch()
      self.script.enqueue(.error(Hidden()))
      _ = try? await self.client.store(for: self.script.query(path: ["hidden", SecretNumber(number: 4711)])).fetch()
      let (_, messages) = try await self.connect()
      let rows = messages.flatMap { $0.stores ?? [] }
      expect(Set(rows.compactMap(\.error)), equals: ["Refused()", "Hidden"])
      #expect(rows.contains { $0.path == ["\"hidden\"", "‹SecretNumber›"] })
      let recording = await self.feed.answer(FeedRequest(method: "GET", path: "/api/recording", query: [:], body: ""))
      guard case .lines(let lines) = recording else { throw Refused() }
      #expect(!lines.contains("4711") && !lines.contains("password"))
    }

    @Test func `Limits are shown with their numbers`() async throws {
      struct Pool: OperationResilienceSnapshot {
        let name: String
        var gauges: [String: Double] { ["pool.free": 3, "pool.limit": .infinity] }
        var description: String { "\(self.name): 3 free" }
      }
      self.feed.exhibits.add { [Pool(name: "connections")] }
      let (_, messages) = try await self.connect()
      let limit = try #require(messages.last?.extras?.limits.first)
      #expect(limit.name == "connections" && limit.text == "connections: 3 free")
      #expect(limit.gauges["pool.free"] == .some(3) && limit.gauges["pool.limit"] == .some(nil))
    }

    @Test func `Nothing of a feed stays alive`() async throws {
      let lifetimes = LifetimeTracker()
      do {
        let client = OperationClient()
        client.attach(Holder(lifetimes.token()))
        let feed = LiveFeed(client, allowsActions: false, simulation: nil)
        let token = lifetimes.token()
        feed.exhibits.add {
          token.touch()
          return []
        }
        await feed.begin()
        let connection = await feed.connect()
        _ = try await connection.messages()
        await feed.end()
        await expect(connection.next(), equals: nil)
      }
      try await lifetimes.noneAlive()
    }

    @Test func `Nothing of a page that is not stopped stays alive`() async throws {
      let lifetimes = LifetimeTracker()
      do {
        let client = OperationClient()
        client.attach(Holder(lifetimes.token()))
        let devtools = Devtools(client)
        try await devtools.start()
      }
      try await lifetimes.noneAlive()
    }
  }

  private final class Holder: Sendable {
    private let token: LifetimeTracker.Token

    init(_ token: LifetimeTracker.Token) {
      self.token = token
    }
  }

  struct SecretNumber: Hashable, Sendable, OperationSecret {
    let number: Int
  }
#endif
