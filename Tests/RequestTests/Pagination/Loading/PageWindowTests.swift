import OperationCore
import OperationPagination
import OperationTesting
import TestFixtures
import Testing

/// A list with a maximum that loads at both ends has no gaps, whatever the order in which its pages are loaded.
@Suite(.bounded, .warningsAreIssues)
struct PageWindowTests {
  @Test(arguments: [true, false])
  func `A page whose neighbour was dropped during its load is not added`(isNextFirst: Bool) async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request.maximumPages(2), initialValue: List(from: 2, "b", "c"))
    let next = start { try await store.fetchNextPage() }
    let previous = start { try await store.fetchPreviousPage() }
    let runs = (try await server.script.next(), try await server.script.next())
    if isNextFirst {
      runs.0.succeed("d")
      try await expect(next.value?.id, equals: 4)
      runs.1.succeed("a")
      try await expect(previous.value?.id, equals: 1)
      expect(store.text, equals: "3c 4d")
      expect(store.previousPageId, equals: 2)
    } else {
      runs.1.succeed("a")
      try await expect(previous.value?.id, equals: 1)
      runs.0.succeed("d")
      try await expect(next.value?.id, equals: 4)
      expect(store.text, equals: "1a 2b")
      expect(store.nextPageId, equals: 3)
    }
    expect(store.valueUpdateCount, equals: 1)
  }

  @Test
  func `A page is added when the change that dropped its neighbour is rolled back`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request.maximumPages(2), initialValue: List(from: 2, "b", "c"))
    let next = start { try await store.fetchNextPage() }
    let previous = start { try await store.fetchPreviousPage() }
    let runs = (try await server.script.next(), try await server.script.next())
    runs.1.yield("draft")
    expect(store.text, equals: "1draft 2b")
    previous.cancel()
    _ = await previous.result
    runs.0.succeed("d")
    _ = try await next.value
    expect(store.text, equals: "3c 4d")
  }

  @Test
  func `A loaded page that is not added clears the error`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request.maximumPages(1), initialValue: List("a"))
    let next = start { try await store.fetchNextPage() }
    let run = try await server.script.next()
    store.currentValue = List(from: 7, "z")
    store.setResult(to: .failure(Refused()))
    run.succeed("b")
    _ = try await next.value
    expect(store.text, equals: "7z")
    #expect(store.error == nil)
  }

  @Test(arguments: 0..<UInt64(ModelRuns.count(25, parts: 50)))
  func `The pages never have a gap`(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    var loads = RandomLoads(maximum: Int(seed % 5) + 1)
    for _ in 0..<80 { try await loads.step(using: &generator) }
    await loads.end()
  }
}

/// A store of a list with a maximum, and random loads that end in random order.
private struct RandomLoads {
  private struct Load {
    let request: PagingRequest
    let task: Task<Void, any Error>
    var run: ScriptedRun<String, any Error>
  }

  private let maximum: Int
  private let server = ListServer()
  private let store: ListStore
  private var loads: [Load] = []

  init(maximum: Int) {
    self.maximum = maximum
    self.store = ListStore.detached(query: self.server.request.maximumPages(maximum))
    self.server.bounds = -5...5
  }

  mutating func step(using generator: inout SeededGenerator) async throws {
    let index = self.loads.indices.randomElement(using: &generator)
    switch Int.random(in: 0..<20, using: &generator) {
    case 0..<5: try await self.load(.nextPage) { try await $0.fetchNextPage() }
    case 5..<10: try await self.load(.previousPage) { try await $0.fetchPreviousPage() }
    case 10: try await self.load(.allPages) { try await $0.refetchAllPages() }
    case 11: if let index { await self.finish(index) { load in load.run.fail(Refused()) } }
    case 12: if let index { await self.finish(index) { load in load.task.cancel() } }
    case 13: if let index { self.loads[index].run.yield("draft") }
    default: if let index { try await self.succeed(index) }
    }
    let ids = Array(self.store.currentValue.ids)
    expect(ids, equals: (ids.first.map { Array($0..<$0 + ids.count) } ?? []))
    #expect(ids.count <= self.maximum)
    if let first = ids.first, let last = ids.last {
      expect(self.store.previousPageId, equals: (first > -5 ? first - 1 : nil))
      expect(self.store.nextPageId, equals: (last < 5 ? last + 1 : nil))
    }
  }

  func end() async {
    for load in self.loads { load.task.cancel() }
    for load in self.loads { _ = await load.task.result }
  }

  /// Starts a load, unless it would wait for others.
  private mutating func load(
    _ requestKind: PagingRequest,
    _ call: @escaping @Sendable (ListStore) async throws -> Any?
  ) async throws {
    let isEmpty = self.store.currentValue.isEmpty
    if requestKind == .allPages, isEmpty { return }
    let request = isEmpty ? .initialPage : requestKind
    let others = self.loads.map(\.request)
    let isOpposite: (PagingRequest) -> Bool = {
      request == .nextPage && $0 == .previousPage || request == .previousPage && $0 == .nextPage
    }
    guard others.allSatisfy(isOpposite) else { return }
    if request == .nextPage, !self.store.hasNextPage { return }
    if request == .previousPage, !self.store.hasPreviousPage { return }
    let store = self.store
    let task = start { _ = try await call(store) }
    self.loads.append(Load(request: request, task: task, run: try await self.server.script.next()))
  }

  private mutating func succeed(_ index: Int) async throws {
    let load = self.loads[index]
    let count = self.store.currentValue.count
    let fetched = self.server.fetchedIds
    load.run.succeed("x")
    // A refetch continues with the next page until the last.
    if load.request == .allPages, let first = self.store.currentValue.first?.id, let last = fetched.last,
      last < first + count - 1
    {
      self.loads[index].run = try await self.server.script.next()
    } else {
      await self.finish(index) { _ in }
    }
  }

  private mutating func finish(_ index: Int, _ finish: (Load) -> Void) async {
    let load = self.loads.remove(at: index)
    finish(load)
    _ = await load.task.result
  }
}
