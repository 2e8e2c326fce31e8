import OperationCore
import OperationDerivation
import OperationMutation
import OperationPagination
import OperationPersistence
import OperationTags
import OperationTesting
import Synchronization
import TestFixtures
import Testing

private typealias NumberState = QueryState<Int, any Error>
private typealias ListState = PaginatedState<Int, Int, any Error>

/// Random graphs of derived queries over persisted numbers and over lists of pages, under invalidations by tags, restarts
/// of stores, and optimistic calls that overlap, succeed and fail.
@Suite(.bounded, .warningsAreIssues)
struct CompositionModelTests {
  @Test(arguments: modelSeeds(5))
  func `What is derived from pages, restored values and optimistic updates is right`(_ seed: Int) async throws {
    let lifetimes = LifetimeTracker()
    do {
      var random = SeededGenerator(seed: UInt64(seed))
      let graph = Graph(suspends: seed.isMultiple(of: 2), lifetimes, using: &random)
      let model = Model(graph)
      for number in 0..<40 {
        let calls = graph.calls
        let step = await model.step(using: &random)
        await model.rest()
        let mistakes = await model.mistakes
        expect(mistakes, equals: [], "step \(number): \(step) in \(graph)")
        // One change of one source.
        guard !graph.suspends, case .set = step else { continue }
        let repeated = zip(calls, graph.calls).enumerated().filter { $1.1 > $1.0 + 1 }.map(\.offset)
        expect(repeated, equals: [], "step \(number): \(step) has called bodies twice in \(graph)")
      }
      await model.end()
      expect(model.leftovers, equals: [])
    }
    try await lifetimes.noneAlive()
  }
}

/// The numbers of a server, single ones and in lists of pages.
private final class Remote: Sendable {
  let numbers: Mutex<[Int]>
  let lists: Mutex<[[Int]]>

  init(numbers: Int, lists: Int) {
    self.numbers = Mutex((0..<numbers).map { $0 % 3 })
    self.lists = Mutex((0..<lists).map { list in (0..<4).map { ($0 + list) % 5 } })
  }
}

private struct List: PaginatedRequest {
  let number: Int
  let remote: Remote
  let initialPageId = 0

  var path: OperationPath { ["list", self.number] }

  func pageId(after page: Page<Int, Int>, using paging: Paging<Int, Int>, in context: OperationContext) -> Int? {
    page.id == 3 ? nil : page.id + 1
  }

  func fetchPage(
    isolation: isolated (any Actor)?,
    using paging: Paging<Int, Int>,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    self.remote.lists.withLock { $0[self.number][paging.pageId] }
  }
}

/// A change that the server makes, or refuses, when the gate opens.
private struct Change: Sendable {
  let number: Int
  let amount: Int
  let isRefused: Bool
  let gate = Gate()
}

private enum Step: Sendable {
  case set(Int, Int)
  case changeRemotely(Int)
  case nextPage(Int)
  case begin(Int)
  case end(isAll: Bool)
  case subscribe(Int)
  case leave
  case restart(Int)
  case flush
  case fetch(Int)
}

/// Derived queries over numbers and lists.
private final class Graph: Sendable, CustomStringConvertible {
  enum Input: Sendable {
    case number(Int)
    case list(Int)
    case query(Int)
  }

  let suspends: Bool
  let remote: Remote
  let inputs: [[Input]]
  let (numberCount, listCount): (Int, Int)
  private let tokens: [LifetimeTracker.Token]
  private let counters: [Counter]
  private let hop = Hop()

  init(suspends: Bool, _ lifetimes: LifetimeTracker, using random: inout SeededGenerator) {
    self.suspends = suspends
    let (numbers, lists) = (Int.random(in: 1...4, using: &random), Int.random(in: 1...3, using: &random))
    (self.numberCount, self.listCount) = (numbers, lists)
    self.remote = Remote(numbers: numbers, lists: lists)
    self.inputs = (0..<Int.random(in: 1...30, using: &random)).map { query in
      (0..<Int.random(in: 1...4, using: &random)).map { _ in
        switch Int.random(in: 0..<4, using: &random) {
        case 0: .number(Int.random(in: 0..<numbers, using: &random))
        case 1: .list(Int.random(in: 0..<lists, using: &random))
        default: query == 0 ? .number(0) : .query(Int.random(in: max(0, query - 8)..<query, using: &random))
        }
      }
    }
    self.tokens = self.inputs.map { _ in lifetimes.token() }
    self.counters = self.inputs.map { _ in Counter() }
  }

  var calls: [Int] { self.counters.map(\.value) }

  var description: String { "\(self.inputs)" }
}

private actor Hop {
  func make() {}
}

// MARK: - Operations

extension Graph {
  func number(_ number: Int) -> some QueryRequest<Int, any Error> {
    QueryOperation<Int, any Error>("number", number) { [remote] _ in remote.numbers.withLock { $0[number] } }
      .persisted(as: "number")
      .tagged(.entity("number", number))
      .staleWhenNoValue()
  }

  func list(_ number: Int) -> some PaginatedRequest<Int, Int, any Error> {
    List(number: number, remote: self.remote)
      .tagged { [.entity("digit", $0)] }
      .staleWhenNoValue()
  }

  func query(_ number: Int) -> AnyQuery {
    AnyQuery(
      QueryOperation<Int, any Error>("derived", number) { [self] context in
        self.tokens[number].touch()
        self.counters[number].increment()
        if self.suspends { await self.hop.make() }
        return try await self.sum(of: number) { input in
          switch input {
          case .number(let number): return try await context.value(of: self.number(number))
          case .query(let number): return try await context.value(of: self.query(number))
          case .list(let number):
            let list = self.list(number)
            let pages = try await context.value(of: list, initialState: PaginatedState(for: list))
            return Self.sum(of: pages)
          }
        }
      }
      .derived()
    )
  }

  func sum(of query: Int, _ read: (Input) async throws -> Int) async throws -> Int {
    var sum = 0
    for input in self.inputs[query] { sum += try await read(input) }
    return sum % 7
  }

  static func sum(of pages: Pages<Int, Int>) -> Int { pages.reduce(0) { $0 + $1.value } }

  /// Changes a number and the lists, optimistically all numbers and the pages that are loaded.
  var change: some MutationRequest<Change, Void, any Error> {
    MutationOperation<Change, Void, any Error>("change") { [remote] (change: Change, _: OperationContext) in
      try await change.gate.wait()
      if change.isRefused { throw Missing(name: "change") }
      remote.numbers.withLock { $0[change.number] = ($0[change.number] + change.amount) % 5 }
      remote.lists.withLock { lists in
        for list in lists.indices { lists[list][0] = (lists[list][0] + change.amount) % 5 }
      }
    }
    .optimistic(on: ["number"], of: NumberState.self) { value, change in
      value = value.map { ($0 + change.amount) % 5 }
    }
    .optimistic(on: ["list"], of: ListState.self) { pages, change in
      for page in pages { pages[id: page.id]?.value = (page.value + change.amount) % 5 }
    }
    .invalidates(tagged: { change, _ in
      [.entity("number", change.number)] + (0..<5).map { .entity("digit", $0) }
    })
  }
}

// MARK: - Steps

private final class Model: Sendable {
  private struct Content: Sendable {
    var subscriptions: [(number: Int, store: OperationStore<NumberState>, OperationSubscription)] = []
    var changes: [(Change, Task<Void, Never>)] = []
  }

  private let client = OperationClient.automatic()
  private let graph: Graph
  private let content = Mutex(Content())

  init(_ graph: Graph) {
    self.graph = graph
    self.client.defaultContext.operationStorage = InMemoryStorage()
  }

  func step(using random: inout SeededGenerator) async -> Step {
    let step = self.randomStep(using: &random)
    switch step {
    case .set(let number, let value): self.client.store(for: self.graph.number(number)).currentValue = value
    case .changeRemotely(let number):
      self.graph.remote.numbers.withLock { $0[number] = Int.random(in: 0..<5, using: &random) }
      self.client.invalidate(tagged: .entity("number", number))
      let digit = Int.random(in: 0..<5, using: &random)
      self.graph.remote.lists.withLock { $0[0][1] = digit }
      self.client.invalidate(tagged: (0..<5).map { .entity("digit", $0) })
    case .nextPage(let number): _ = try? await self.client.store(for: self.graph.list(number)).fetchNextPage()
    case .begin(let number):
      let amount = Int.random(in: 1..<4, using: &random)
      let change = Change(number: number, amount: amount, isRefused: Bool.random(using: &random))
      let store = self.client.store(for: self.graph.change)
      let call = Task.immediate { _ = try? await store.mutate(with: change) }
      self.content.withLock { $0.changes.append((change, call)) }
    case .end(let isAll): await self.endChanges(isAll: isAll, using: &random)
    case .subscribe(let number):
      let store = self.client.store(for: self.graph.query(number))
      let subscription = store.subscribe(with: QueryEventHandler(), isolation: nil)
      self.content.withLock { $0.subscriptions.append((number, store, subscription)) }
    case .leave:
      let left = self.content.withLock { $0.subscriptions.popLast() }
      left?.2.cancel()
    case .restart(let number): self.client.clearStore(with: ["number", number])
    case .flush: _ = await self.client.persistence.flush()
    case .fetch(let number): _ = try? await self.client.store(for: self.graph.query(number)).fetch()
    }
    return step
  }

  private func randomStep(using random: inout SeededGenerator) -> Step {
    let number = Int.random(in: 0..<self.graph.numberCount, using: &random)
    let query = Int.random(in: 0..<self.graph.inputs.count, using: &random)
    return switch Int.random(in: 0..<18, using: &random) {
    case 0..<4: .set(number, Int.random(in: 0..<5, using: &random))
    case 4..<6: .changeRemotely(number)
    case 6..<8: .nextPage(Int.random(in: 0..<self.graph.listCount, using: &random))
    case 8..<10: .begin(number)
    case 10..<12: .end(isAll: false)
    case 12..<15: .subscribe(query)
    case 15: Bool.random(using: &random) ? .leave : .flush
    case 16: .restart(number)
    default: .fetch(query)
    }
  }

  /// Lets calls end, of several one that a random number chooses.
  private func endChanges(isAll: Bool, using random: inout SeededGenerator) async {
    let chosen = Int.random(in: 0..<100, using: &random)
    let ended = self.content.withLock { content in
      if isAll {
        defer { content.changes = [] }
        return content.changes
      }
      return content.changes.isEmpty ? [] : [content.changes.remove(at: chosen % content.changes.count)]
    }
    for (change, call) in ended {
      change.gate.open()
      await call.value
    }
  }
}

// MARK: - Checks

extension Model {
  private static let paths: [OperationPath] = [["number"], ["list"], ["derived"]]

  /// Waits until nothing runs but calls that are held.
  func rest() async {
    repeat {
      for store in self.client.stores(of: NumberState.self) { await store.settled() }
      for store in self.client.stores(of: ListState.self) { await store.settled() }
      await self.client.settledDerivations()
    } while Self.paths.contains { self.client.isFetching(matching: $0) > 0 } || self.client.hasUnsettledDerivations
  }

  /// The subscribed stores that show something else than a recomputation from the sources.
  var mistakes: [String] {
    get async {
      var mistakes: [String] = []
      for (number, store, _) in self.content.withLock({ $0.subscriptions }) {
        guard let value = try? await self.recomputed(number) else {
          mistakes.append("a source of \(number) has no value")
          continue
        }
        if store.error != nil || store.currentValue != value {
          mistakes.append("\(number) shows \(String(describing: store.currentValue)) for \(value)")
        }
      }
      return mistakes
    }
  }

  private func recomputed(_ query: Int) async throws -> Int {
    try await self.graph.sum(of: query) { input in
      switch input {
      case .query(let number): return try await self.recomputed(number)
      case .list(let number): return Graph.sum(of: self.client.store(for: self.graph.list(number)).currentValue)
      case .number(let number):
        let value = self.client.store(for: self.graph.number(number)).currentValue
        guard let value else { throw Missing(name: "value") }
        return value
      }
    }
  }

  /// The stores that still have a subscriber.
  var leftovers: [String] {
    self.client.stores().filter { $0.subscriberCount > 0 }.map { "\($0.path)" }
  }

  func end() async {
    var random = SeededGenerator(seed: 0)
    await self.endChanges(isAll: true, using: &random)
    let subscriptions = self.content.withLock { content in
      defer { content.subscriptions = [] }
      return content.subscriptions
    }
    for (_, _, subscription) in subscriptions { subscription.cancel() }
    await self.rest()
  }
}
