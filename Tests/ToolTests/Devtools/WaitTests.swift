#if SwiftOperationDevtools
  import OperationCore
  import OperationPausing
  import OperationScheduling
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationDevtools

  /// The graphs of what waits for what, and the parts of events about waits and nodes of a fleet.
  @Suite(.bounded) struct WaitTests {
    private struct Secret: Hashable, Sendable, OperationSecret {
      let text: String
    }

    private let script = OperationScript<Int, any Error>()
    private let client = OperationClient()
    private let feed: LiveFeed

    init() {
      self.feed = LiveFeed(self.client, allowsActions: false, simulation: nil)
    }

    private func pause(of store: OperationStore<QueryState<Int, any Error>>) async throws {
      let isPaused = try await withTimeLimit("a paused run") {
        for await state in store.states where state.state.isPaused { return true }
        return false
      }
      #expect(isPaused)
    }

    private func graphs() async throws -> [Message.Graph] {
      let answer = await self.feed.answer(FeedRequest(method: "GET", path: "/api/waits", query: [:], body: ""))
      guard case .json(let text) = answer else { throw Refused() }
      let message = try Message(text)
      expect(message.type, equals: "waits")
      return message.graphs ?? []
    }

    @Test func `The page gets the runs of the client, and the operations of a scheduler that is shown`() async throws {
      let light = SwitchSpecification(false)
      let store = self.client.store(for: self.script.query(path: ["a", Secret(text: "hush")]).waits(until: light))
      let fetch = Task.immediate { try await store.fetch() }
      try await self.pause(of: store)
      let scheduler = OperationScheduler(maximumConcurrentOperations: 1, name: "uploads")
      self.feed.exhibits.add(scheduler)
      scheduler.suspend()
      let first = scheduler.schedule(named: "<b>First</b>") { _ in }
      let second = scheduler.schedule(Work<Int, any Error> { _, _ in 1 }, named: "Second") { $0.addDependency(first) }
      let graphs = try await self.graphs()
      expect(graphs.map(\.name), equals: ["The stores", "uploads"])
      expect(graphs.map(\.summary), equals: ["1 run", "2 operations, at most 1 at a time, suspended"])
      expect(graphs[0].nodes.map(\.path), equals: [["\"a\"", "‹Secret›"], nil])
      expect(graphs[0].nodes.map(\.kind), equals: ["operation", "resource"])
      expect(graphs[0].edges.map { [$0.from, $0.to] }, equals: [[1, 2]])
      expect(graphs[1].nodes.map(\.name), equals: ["<b>First</b>", "Second", "the resumption of uploads"])
      expect(graphs[1].nodes.map(\.state), equals: ["is suspended", "waits for dependencies", ""])
      expect(graphs[1].edges.map(\.reason), equals: ["", "dependency"])
      scheduler.resume()
      try await expect(withTimeLimit("the end") { try await second.value }, equals: 1)
      light.set(true)
      try await self.script.next().succeed(1)
      try await expect(withTimeLimit("the value") { try await fetch.value }, equals: 1)
      #expect(try await self.graphs().allSatisfy { $0.nodes.isEmpty })
    }

    @Test func `A recording has the graphs of its end`() async throws {
      let light = SwitchSpecification(false)
      let store = self.client.store(for: self.script.query(path: ["a"]).waits(until: light))
      let fetch = Task.immediate { try await store.fetch() }
      try await self.pause(of: store)
      let answer = await self.feed.answer(FeedRequest(method: "GET", path: "/api/recording", query: [:], body: ""))
      guard case .lines(let text) = answer else { throw Refused() }
      let messages = try text.split(separator: "\n").map { try Message($0) }
      let graphs = try #require(messages.first { $0.type == "waits" }?.graphs)
      expect(graphs.map(\.nodes.count), equals: [2])
      fetch.cancel()
      _ = await fetch.result
    }

    @Test func `An event of a wait has what is waited for, and one of a fleet's value has the node`() async throws {
      await self.feed.startReading()
      let connection = await self.feed.connect()
      _ = try await connection.messages()
      let query = QueryOperation<Int, any Error>("a") { context in
        let wait = context.beginWait(for: { "a permit of api" })
        context.endWait(wait)
        context.send(
          OperationNotice(
            OperationNotice.Name("fleet.value"),
            ofOperationNamed: "A",
            attributes: ["fleet.node": .string("node-b"), "fleet.source": .string("stored")]
          )
        )
        return 1
      }
      try await self.client.store(for: query).fetch()
      await self.feed.look()
      let events = try await connection.messages().flatMap { $0.events ?? [] }
      expect(events.first { $0.kind == "run.waits" }?.reason, equals: "a permit of api")
      expect(events.first { $0.kind == "run.waited" }?.reason, equals: "a permit of api")
      let told = try #require(events.first { $0.kind == "notice" })
      #expect(told.node == "node-b" && told.source == "stored")
    }
  }
#endif
