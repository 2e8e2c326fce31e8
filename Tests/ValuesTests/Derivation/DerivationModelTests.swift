import OperationCore
import OperationDedupe
import OperationDerivation
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Random graphs of derived queries under random changes: after rest each subscribed value equals a recomputation, no body
/// runs more often than changes reach it, and nothing is left when all have gone.
@Suite(.bounded, .warningsAreIssues)
struct DerivationModelTests {
  @Test(arguments: modelSeeds(5))
  func `Changes one after the other, in bodies that do not suspend`(_ seed: Int) async throws {
    try await self.check(seed, suspends: false)
  }

  @Test(arguments: modelSeeds(5))
  func `Changes one after the other, in bodies that suspend`(_ seed: Int) async throws {
    try await self.check(seed, suspends: true)
  }

  @Test(arguments: modelSeeds(4))
  func `Changes from several threads at once`(_ seed: Int) async throws {
    let lifetimes = LifetimeTracker()
    do {
      var random = SeededGenerator(seed: UInt64(seed))
      let graph = Graph(suspends: seed.isMultiple(of: 2), lifetimes, using: &random)
      let model = Model(graph)
      for _ in 0..<4 {
        let generators = (0..<3).map { _ in SeededGenerator(seed: random.next()) }
        await withTaskGroup(of: Void.self) { group in
          for generator in generators {
            group.addTask {
              var random = generator
              for _ in 0..<8 { await model.step(using: &random) }
            }
          }
        }
        await model.rest()
        let mistakes = await model.mistakes
        expect(mistakes, equals: [], "\(graph)")
      }
      await model.end()
      expect(model.leftovers, equals: [])
    }
    try await lifetimes.noneAlive()
  }

  private func check(_ seed: Int, suspends: Bool) async throws {
    let lifetimes = LifetimeTracker()
    do {
      var random = SeededGenerator(seed: UInt64(seed))
      let graph = Graph(suspends: suspends, lifetimes, using: &random)
      let model = Model(graph)
      for number in 0..<40 {
        let (calls, hasFailedCell) = (graph.calls, model.hasFailedCell)
        let step = await model.step(using: &random)
        if !suspends, step.isChange { expect(model.client.isFetching(), equals: 0, "step \(number): \(step)") }
        await model.rest()
        let mistakes = await model.mistakes
        expect(mistakes, equals: [], "step \(number): \(step) in \(graph)")
        // A call that asks for a value refreshes failed sources, which is a second change. And of two threads that run a
        // query because its source has changed, one may do so when the run of the other has just ended.
        if suspends || !step.isChange && hasFailedCell { continue }
        let repeated = zip(calls, graph.calls).enumerated().filter { $1.1 > $1.0 + 1 }.map(\.offset)
        expect(repeated, equals: [], "step \(number): \(step) has called bodies twice in \(graph)")
      }
      await model.end()
      expect(model.leftovers, equals: [])
    }
    try await lifetimes.noneAlive()
  }
}

/// An executor hop, so that the body that makes it suspends.
private actor Hop {
  func make() {}
}

/// A graph of derived queries over cells. Small numbers, so that values are often equal.
private final class Graph: Sendable, CustomStringConvertible {
  enum Input: Sendable, CustomStringConvertible {
    case cell(Int)
    case query(Int)

    var description: String {
      switch self {
      case .cell(let number): "cell \(number)"
      case .query(let number): "\(number)"
      }
    }
  }

  struct Node: Sendable {
    var inputs: [Input]
    /// Whether a failure of an input counts as a number.
    var catches: Bool
    /// Whether the first input decides which of the others is read.
    var chooses: Bool
    let token: LifetimeTracker.Token
  }

  let cells: [Cell]
  let nodes: [Node]
  private let suspends: Bool
  private let hop = Hop()
  private let counters: [Counter]

  init(suspends: Bool, _ lifetimes: LifetimeTracker, using random: inout SeededGenerator) {
    self.suspends = suspends
    let cells = (0..<Int.random(in: 1...6, using: &random)).map { Cell("\($0)", $0 % 3) }
    self.cells = cells
    var nodes: [Node] = []
    for number in 0..<Int.random(in: 1...50, using: &random) {
      let inputs = (0..<Int.random(in: 1...4, using: &random)).map { _ -> Input in
        if number > 0, Int.random(in: 0..<3, using: &random) > 0 {
          return .query(Int.random(in: max(0, number - 8)..<number, using: &random))
        }
        return .cell(Int.random(in: 0..<cells.count, using: &random))
      }
      let catches = Int.random(in: 0..<4, using: &random) == 0
      nodes.append(
        Node(inputs: inputs, catches: catches, chooses: Bool.random(using: &random), token: lifetimes.token())
      )
    }
    self.nodes = nodes
    self.counters = nodes.map { _ in Counter() }
  }

  var calls: [Int] { self.counters.map(\.value) }

  func query(_ number: Int) -> AnyQuery {
    let node = self.nodes[number]
    let query = QueryOperation<Int, any Error>("derived", number) { context in
      node.token.touch()
      self.counters[number].increment()
      if self.suspends { await self.hop.make() }
      return try await Self.result(of: node) { input in
        switch input {
        case .cell(let cell): try await context.value(of: self.cells[cell].query)
        case .query(let other): try await context.value(of: self.query(other))
        }
      }
    }
    return AnyQuery(query.derived())
  }

  /// What the body of a node makes of its inputs.
  static func result(of node: Node, _ read: (Input) async throws -> Int) async throws -> Int {
    func number(_ input: Input) async throws -> Int {
      do { return try await read(input) } catch {
        if node.catches, !(error is CancellationError) { return 3 }
        throw error
      }
    }
    if node.chooses, node.inputs.count > 1 {
      let first = try await number(node.inputs[0])
      return try await (first + number(node.inputs[1 + first % (node.inputs.count - 1)])) % 5
    }
    var sum = 0
    for input in node.inputs { sum += try await number(input) }
    return sum % 5
  }

  var description: String {
    let nodes = self.nodes.enumerated().map { number, node in
      "\(number): \(node.inputs)\(node.catches ? " catches" : "")\(node.chooses ? " chooses" : "")"
    }
    return "\(self.cells.count) cells, \(nodes.joined(separator: "; "))"
  }
}

private enum Step: Sendable {
  case set(Int, Int)
  case fail(Int)
  case reset(Int)
  case invalidate(Int?)
  case refetch(Int)
  case subscribe(Int)
  case leave
  case layer(Int, Int)
  case removeLayer
  case cancelledFetch(Int)
  case fetch(Int)
  case clear(Int)

  /// Whether the step only changes what one source shows.
  var isChange: Bool {
    switch self {
    case .set, .fail, .layer, .removeLayer: true
    default: false
    }
  }
}

private final class Model: Sendable {
  private struct Content: Sendable {
    var subscriptions: [(number: Int, store: OperationStore<QueryState<Int, any Error>>, OperationSubscription)] = []
    var layers: [(OpaqueOperationStore, StateLayerIdentifier)] = []
  }

  let client = OperationClient.automatic()
  private let graph: Graph
  private let content = Mutex(Content())

  init(_ graph: Graph) {
    self.graph = graph
    for cell in graph.cells { self.source(cell).currentValue = 0 }
  }

  private func source(_ cell: Cell) -> OperationStore<QueryState<Int, any Error>> { self.client.store(for: cell.query) }

  var hasFailedCell: Bool { self.graph.cells.contains { self.source($0).error != nil } }

  @discardableResult
  func step(using random: inout SeededGenerator) async -> Step {
    let step = self.randomStep(using: &random)
    switch step {
    case .set(let cell, let number):
      self.graph.cells[cell].set(number)
      self.source(self.graph.cells[cell]).currentValue = number
    case .fail(let cell): self.source(self.graph.cells[cell]).setResult(to: .failure(Missing(name: "set")))
    case .reset(let cell): self.source(self.graph.cells[cell]).resetState()
    case .clear(let cell): self.client.clearStore(with: self.graph.cells[cell].query.path)
    case .invalidate(let cell):
      self.client.invalidate(matching: cell.map { self.graph.cells[$0].query.path } ?? ["cell"])
    case .refetch(let cell):
      self.graph.cells[cell].set(Int.random(in: 0..<4, using: &random))
      _ = try? await self.source(self.graph.cells[cell]).fetch()
    case .subscribe(let number):
      let store = self.client.store(for: self.graph.query(number))
      let subscription = store.subscribe(with: QueryEventHandler(), isolation: nil)
      self.content.withLock { $0.subscriptions.append((number, store, subscription)) }
    case .leave:
      let index = Int.random(in: 0..<1_000, using: &random)
      let left = self.content.withLock { content in
        content.subscriptions.isEmpty ? nil : content.subscriptions.remove(at: index % content.subscriptions.count)
      }
      left?.2.cancel()
    case .layer(let cell, let number):
      let store = OpaqueOperationStore(erasing: self.source(self.graph.cells[cell]))
      let id = StateLayerIdentifier()
      _ = store.addLayer(id, over: QueryState<Int, any Error>.self) { value in value = value.map { ($0 + number) % 5 } }
      self.content.withLock { $0.layers.append((store, id)) }
    case .removeLayer:
      let (layer, isKept) = (self.content.withLock { $0.layers.popLast() }, Bool.random(using: &random))
      if let (store, id) = layer { isKept ? store.commitLayer(id) : store.removeLayer(id) }
    case .fetch(let number): _ = try? await self.client.store(for: self.graph.query(number)).fetch()
    case .cancelledFetch(let number):
      let store = self.client.store(for: self.graph.query(number))
      let task = Task { try await store.fetch() }
      task.cancel()
      _ = await task.result
    }
    return step
  }

  private func randomStep(using random: inout SeededGenerator) -> Step {
    let cell = Int.random(in: 0..<self.graph.cells.count, using: &random)
    let number = Int.random(in: 0..<self.graph.nodes.count, using: &random)
    return switch Int.random(in: 0..<24, using: &random) {
    case 0..<7: .set(cell, Int.random(in: 0..<4, using: &random))
    case 7..<9: .fail(cell)
    case 9: .reset(cell)
    case 10: .clear(cell)
    case 11..<13: .invalidate(Bool.random(using: &random) ? cell : nil)
    case 13..<15: .refetch(cell)
    case 15..<18: .subscribe(number)
    case 18: .leave
    case 19..<21: .layer(cell, Int.random(in: 1..<4, using: &random))
    case 21: .removeLayer
    case 22: .cancelledFetch(number)
    default: .fetch(number)
    }
  }

  /// Waits until nothing runs.
  func rest() async {
    repeat {
      for store in self.client.stores(of: QueryState<Int, any Error>.self) { await store.settled() }
      await self.client.settledDerivations()
    } while self.client.isFetching() > 0 || self.client.hasUnsettledDerivations
  }

  /// The subscribed stores that show something else than a recomputation from the cells.
  var mistakes: [String] {
    get async {
      var mistakes: [String] = []
      for (number, store, _) in self.content.withLock({ $0.subscriptions }) {
        let expected = await self.recomputed(number)
        switch expected {
        case .success(let value):
          if store.error != nil || store.currentValue != value {
            mistakes.append("\(number) shows \(String(describing: store.state)) for \(value)")
          }
        case .failure: if store.error == nil { mistakes.append("\(number) has no error, but \(store.state)") }
        }
      }
      return mistakes.isEmpty ? [] : mistakes + self.graph.cells.map(self.description(of:))
    }
  }

  /// What a cell shows, for a report of mistakes.
  private func description(of cell: Cell) -> String {
    let store = self.source(cell)
    let count = "\(store.valueUpdateCount) values, \(store.subscriberCount) subscribers, \(cell.runCount) runs"
    return "cell \(cell.name): \(store.state), \(count)"
  }

  private func recomputed(_ number: Int) async -> Result<Int, any Error> {
    do {
      return .success(
        try await Graph.result(of: self.graph.nodes[number]) { input in
          switch input {
          case .query(let other): return try await self.recomputed(other).get()
          case .cell(let cell):
            let state = self.source(self.graph.cells[cell]).state
            if let error = state.error { throw error }
            guard let value = state.currentValue else { throw Missing(name: "value") }
            return value
          }
        }
      )
    } catch { return .failure(error) }
  }

  func end() async {
    let content = self.content.withLock { content in
      defer { content = Content() }
      return content
    }
    for (_, _, subscription) in content.subscriptions { subscription.cancel() }
    await self.rest()
  }

  /// The stores that still have a subscriber.
  var leftovers: [String] {
    self.client.stores().filter { $0.subscriberCount > 0 }.map { "\($0.path)" }
  }
}
