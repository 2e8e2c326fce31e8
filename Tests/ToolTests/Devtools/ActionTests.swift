#if SwiftOperationDevtools
  import Foundation
  import OperationCore
  import OperationEvents
  import OperationMemoryPressure
  import OperationMutation
  import OperationNetworkObserving
  import OperationRetry
  import OperationTesting
  import OperationTop
  import TestFixtures
  import Testing

  @testable import OperationDevtools

  /// The actions of a page, over real HTTP.
  @Suite(.bounded) struct ActionTests {
    private struct Post: Codable, Hashable, Sendable {
      var id: Int
      var title: String
    }

    private struct Password: Codable, Hashable, Sendable, OperationSecret {
      var text = "hunter2"
    }

    private let script = OperationScript<Post, any Error>(default: .value(Post(id: 1, title: "one")))
    private let client = OperationClient()

    /// Serves the client's page, and hands over the id of its only store.
    private func serve(
      simulation: Simulation? = nil,
      _ body: (Served, Int) async throws -> Void
    ) async throws {
      try await Served.with(Devtools(self.client, allowsActions: true, simulation: simulation)) { served in
        let row = try Message(try await served.get("/api/stores").body).stores?.first
        try await body(served, row?.id ?? 0)
      }
    }

    @Test func `Refetch runs the operation, and the cause says who asked`() async throws {
      let store = self.client.store(for: self.script.query(path: ["posts", 1]))
      self.script.enqueue(.suspend)
      try await self.serve { served, id in
        let answer = try await served.post(#"{"action":"refetch","store":\#(id)}"#)
        expect(answer.status, equals: 200)
        let run = try await self.script.next()
        #expect(store.isLoading)
        expect(store.explain().runs.first?.cause.kind, equals: .devtools)
        run.succeed(Post(id: 1, title: "two"))
        await store.settled()
        expect(store.currentValue?.title, equals: "two")
      }
    }

    @Test func `Invalidate makes the value stale and runs for subscribers`() async throws {
      let store = self.client.store(for: self.script.query(path: ["posts", 1]).stale(after: .seconds(60)))
      try await store.fetch()
      #expect(!store.isStale)
      try await self.serve { served, id in
        let status1 = try await served.post(#"{"action":"invalidate","store":\#(id)}"#).status
        expect(status1, equals: 200)
        #expect(store.isStale)
        #expect("\(store.staleness)".contains("by Devtools"))
      }
    }

    @Test func `A branch is invalidated as a whole`() async throws {
      let stores = (0..<3).map {
        self.client.store(for: self.script.query(path: ["posts", $0]).stale(after: .seconds(60)))
      }
      for store in stores { try await store.fetch() }
      try await self.serve { served, id in
        let status2 = try await served.post(#"{"action":"invalidate","store":\#(id),"depth":1}"#).status
        expect(status2, equals: 200)
        #expect(stores.allSatisfy { $0.isStale })
      }
    }

    @Test func `Cancel ends the runs, and reset brings the initial state back`() async throws {
      let store = self.client.store(for: self.script.query(path: ["posts", 1]))
      try await store.fetch()
      self.script.enqueue(.suspend)
      let fetch = Task { try await store.fetch() }
      _ = try await self.script.next()
      try await self.serve { served, id in
        let status3 = try await served.post(#"{"action":"cancel","store":\#(id)}"#).status
        expect(status3, equals: 200)
        await #expect(throws: CancellationError.self) { try await fetch.value }
        await store.settled()
        expect(store.currentValue?.title, equals: "one")
        let status4 = try await served.post(#"{"action":"reset","store":\#(id)}"#).status
        expect(status4, equals: 200)
        #expect(store.currentValue == nil && store.valueUpdateCount == 0)
      }
    }

    @Test func `A value is shown as JSON, and set from it`() async throws {
      struct Answer: Decodable {
        let editable: String?
      }
      let store = self.client.store(for: self.script.query(path: ["posts", 1]))
      try await store.fetch()
      try await self.serve { served, id in
        let answer = try JSONDecoder().decode(
          Answer.self,
          from: Data(try await served.get("/api/value?store=\(id)").body.utf8)
        )
        let text = try #require(answer.editable)
        try expect(JSONDecoder().decode(Post.self, from: Data(text.utf8)), equals: Post(id: 1, title: "one"))
        let set = try await served.post(#"{"action":"set","store":\#(id),"value":"{\"id\":7,\"title\":\"set\"}"}"#)
        expect(set.status, equals: 200)
        expect(store.currentValue, equals: Post(id: 7, title: "set"))
        let wrong = try await served.post(#"{"action":"set","store":\#(id),"value":"{\"id\":\"seven\"}"}"#)
        #expect(wrong.status == 400 && wrong.body.contains("Post"))
        expect(store.currentValue, equals: Post(id: 7, title: "set"))
        let status5 = try await served.post(#"{"action":"set","store":\#(id),"value":"null"}"#).status
        expect(status5, equals: 200)
        #expect(store.currentValue == .some(nil))
      }
    }

    @Test func `A value with a secret part is not told as JSON, and not set`() async throws {
      let script = OperationScript<[Password], any Error>(default: .value([Password()]))
      let store = self.client.store(for: script.query(path: ["passwords"]))
      try await store.fetch()
      try await self.serve { served, id in
        let answer = try await served.get("/api/value?store=\(id)")
        #expect(!answer.body.contains("hunter2") && !answer.body.contains("editable"))
        let status6 = try await served.post(#"{"action":"set","store":\#(id),"value":"[]"}"#).status
        expect(status6, equals: 400)
        expect(store.currentValue?.count, equals: 1)
      }
    }

    @Test func `An action for a store that has gone says so`() async throws {
      try await self.serve { served, _ in
        let answer = try await served.post(#"{"action":"refetch","store":99}"#)
        #expect(answer.status == 400 && answer.body.contains("no longer there"))
        #expect(try await served.post(#"{"action":"simulate","isOffline":true}"#).body.contains("no Simulation"))
      }
    }

    @Test func `Offline is simulated from the page`() async throws {
      let simulation = Simulation()
      let observer = simulation.networkObserver()
      expect(observer.currentStatus, equals: .connected)
      try await self.serve(simulation: simulation) { served, _ in
        let status7 = try await served.post(#"{"action":"simulate","isOffline":true,"latency":0.5,"failures":2}"#)
          .status
        expect(status7, equals: 200)
        #expect(simulation.settings.isOffline && simulation.settings.failures == 1)
        expect(simulation.settings.latency, equals: .milliseconds(500))
        expect(observer.currentStatus, equals: .disconnected)
        let told = try Message(try await served.get("/api/stores").body).extras?.simulation
        #expect(told?.offline == true && told?.latency == 0.5)
      }
    }

    @Test func `A store is made to fail, and its runs under way are cancelled`() async throws {
      let store = self.client.store(for: self.script.query(path: ["posts", 1]))
      try await store.fetch()
      try await self.serve { served, id in
        let done1 = try await served.post(#"{"action":"fail","store":\#(id)}"#)
        expect(done1.status, equals: 200)
        #expect(store.error is SimulatedFailure)
        expect(store.currentValue?.title, equals: "one")
        try await store.fetch()
        #expect(store.error == nil)
      }
    }

    @Test func `A store whose errors have a type of their own says that no other one can be set`() async throws {
      let script = OperationScript<Int, Refused>(default: .value(1))
      let store = self.client.store(for: script.query(path: ["numbers"]))
      try await self.serve { served, id in
        let answer = try await served.post(#"{"action":"fail","store":\#(id)}"#)
        #expect(answer.status == 400 && answer.body.contains("a type of their own"))
        expect(store.error, equals: nil)
      }
    }

    @Test func `A store is removed from its client`() async throws {
      let store = self.client.store(for: self.script.query(path: ["posts", 1]))
      try await self.serve { served, id in
        let done2 = try await served.post(#"{"action":"remove","store":\#(id)}"#)
        expect(done2.status, equals: 200)
        #expect(self.client.stores().isEmpty)
        #expect(store.explain().isRemoved)
      }
    }

    @Test func `A store keeps loading until the page lets it go on`() async throws {
      let simulation = Simulation()
      let creator = simulation.storeCreator(OperationClient.PlainStoreCreator())
      let client = OperationClient(storeCreator: creator)
      let store = client.store(for: self.script.query(path: ["posts", 1]))
      let devtools = Devtools(client, allowsActions: true, simulation: simulation)
      try await Served.with(devtools) { served in
        let id = try Message(try await served.get("/api/stores").body).stores?.first?.id ?? 0
        let paused = EventRecorder<QueryState<Post, any Error>>()
        let subscription = store.subscribe(with: paused.handler)
        let done3 = try await served.post(#"{"action":"hold","store":\#(id)}"#)
        expect(done3.status, equals: 200)
        try await paused.firstState { $0.isPaused }
        #expect(store.isLoading && self.script.runCount == 0)
        #expect(store.explain().description.contains("until the page of the devtools lets it go on"))
        expect(simulation.heldPaths, equals: [["posts", 1]])
        let done4 = try await served.post(#"{"action":"release","store":\#(id)}"#)
        expect(done4.status, equals: 200)
        try await paused.firstState { $0.currentValue != nil }
        #expect(store.currentValue?.title == "one" && simulation.heldPaths.isEmpty)
        subscription.cancel()
      }
    }
  }
#endif
