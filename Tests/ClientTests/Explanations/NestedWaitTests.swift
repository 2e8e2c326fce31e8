import CoreFixtures
import OperationEvents
import OperationPausing
import OperationTesting
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

/// Runs that wait for the runs of other stores: their events, their explanations, and the graph of a client.
@Suite(.bounded, .warningsAreIssues)
struct NestedWaitTests {
  private let posts = PostFixture()

  /// A query that fetches the post in its body.
  private func feed(sharing isShared: Bool = false) -> some QueryRequest<Int, any Error> {
    let (client, post) = (self.posts.client, self.posts.query)
    let feed = QueryOperation<Int, any Error>("feed", operationName: "GetFeed") { _ in
      try await client.store(for: post).fetch() + 1
    }
    return feed.manualTime(self.posts.clock).context { context in
      if isShared { context.operationRunSharing = OperationRunSharing() }
    }
  }

  @Test(arguments: [false, true])
  func `A fetch in the body of another run is a wait of that run`(isShared: Bool) async throws {
    let store = self.posts.client.store(for: self.feed(sharing: isShared))
    let events = self.posts.client.events
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.posts.script.next()
    self.posts.clock.advance(by: .seconds(3))
    #expect(
      store.explanationText.contains(
        "A run is under way: started 3 s ago by a call; it has waited for 3 s for GetPost at [\"posts\", 1]."
      )
    )
    run.succeed(1)
    try await expect(fetch.finished(), equals: 2)
    try await expect(
      next(6, of: events),
      equals: [
        "run 1 began, started by a call", "store added", "run 1 waits for GetPost at [\"posts\", 1]",
        "run 2 began, started by a call in the task GetFeed: fetch", "run 2 succeeded after 3 s",
        "run 1 has waited for 3 s for GetPost at [\"posts\", 1]",
      ]
    )
    #expect(store.explain().runs.isEmpty)
  }

  @Test
  func `The first explanation names the run of another store, where that was joined or shared`() async throws {
    let store = self.posts.client.store(for: self.feed(sharing: true))
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.posts.script.next()
    // How long is unknown, unless another test of the process was looking when the wait began.
    expect(store.explain().runs.flatMap(\.waits).map(\.subject), equals: ["GetPost at [\"posts\", 1]"])
    #expect(store.explanationText.contains(" for GetPost at [\"posts\", 1]."))
    run.succeed(1)
    _ = try await fetch.finished()
  }

  @Test
  func `The graph of a client has its runs, what they wait for, and each wait once`() async throws {
    let light = DescribedSwitch(false)
    let paused = self.posts.client.store(
      for: GetPost(script: self.posts.script, path: ["paused"]).waits(until: light).manualTime(self.posts.clock)
    )
    let events = self.posts.client.events
    let stores = [self.posts.client.store(for: self.feed(sharing: true))]
    let waiting = Task.immediate { try await paused.fetch() }
    try await paused.reached { $0.isPaused }
    let fetch = Task.immediate { try await stores[0].fetch() }
    let run = try await self.posts.script.next()
    let graph = self.posts.client.waitGraph()
    expect(
      graph.description.split(separator: "\n").sorted(),
      equals: [
        "GetFeed at [\"feed\"] runs: waits for GetPost at [\"posts\", 1]",
        "GetPost at [\"paused\"] is paused: waits for the light is green", "GetPost at [\"posts\", 1] runs",
        "The stores: 3 runs",
      ]
    )
    #expect(graph.leftOut == 0 && graph.nodes.count == 4 && graph.edges.count == 2)
    let small = self.posts.client.waitGraph(limit: 2)
    #expect(small.nodes.count == 2 && small.leftOut == 1)
    run.succeed(1)
    _ = try await fetch.finished()
    light.set(true)
    try await self.posts.script.next().succeed(1)
    _ = try await waiting.finished()
    expect(self.posts.client.waitGraph().description, equals: "The stores: 0 runs")
    withExtendedLifetime(events) {}
  }

  @Test
  func `Work that a run has started and does not wait for is no wait of it`() async throws {
    let (client, post) = (self.posts.client, self.posts.query)
    let tasks = Box<Task<Int, any Error>?>(nil)
    let parent = QueryOperation<Int, any Error>("feed", operationName: "GetFeed") { _ in
      tasks.value = Task.immediate { try await client.store(for: post).fetch() }
      return 1
    }
    let store = client.store(for: parent.manualTime(self.posts.clock))
    let events = client.events
    try await store.fetch()
    try await self.posts.script.next().succeed(1)
    _ = try await tasks.value?.value
    let kinds = try await next(5, of: events)
    #expect(!kinds.joined().contains("waits for"))
  }

  @Test
  func `The task of a run has the name of its operation while somebody looks`() async throws {
    let names = Log<String?>()
    func query(_ path: String) -> QueryOperation<Int, any Error> {
      QueryOperation(path, operationName: "GetFeed") { _ in
        names.append(Task<Never, Never>.name)
        return 1
      }
    }
    let events = self.posts.client.events
    try await self.posts.client.store(for: query("feed")).fetch()
    try await self.posts.client.store(for: query("named").taskConfiguration { $0.name = "mine" }).fetch()
    // Without a reader here nothing is certain: other tests of the process may look at the same time.
    expect(names.all, equals: ["GetFeed: fetch", "mine"])
    withExtendedLifetime(events) {}
  }
}
