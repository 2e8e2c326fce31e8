import OperationCore
import OperationPagination
import OperationTesting
import TestFixtures
import Testing

/// Random sequences of loads, edits, failures, cancellations and refetches against the model.
@Suite(.bounded, .warningsAreIssues)
struct ListModelTests {
  @Test(arguments: 0..<60)
  func `A store does what the model does`(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let steps = (0..<120).map { _ in Step.random(using: &generator) }
    try await ListComparison(steps: steps).perform()
  }

  /// To reduce a failure, write its steps here and remove those that make no difference.
  @Test
  func `A store does what the model does, step by step`() async throws {
    let steps: [Step] = [.load(.next), .edit(0), .succeed(0), .load(.next), .load(.previous), .cancel(0), .succeed(0)]
    try await ListComparison(steps: steps).perform()
  }
}

/// One step of a sequence. A number selects one of the present calls or pages.
enum Step: Hashable {
  case load(ListModel.Request)
  case succeed(Int)
  case fail(Int)
  case cancel(Int)
  case yield(Int)
  case edit(Int)
  case remove(Int)
  case append(Int)
  case prepend(Int)
  case clear
  case bounds(Int)

  static func random(using generator: inout SeededGenerator) -> Step {
    let number = Int.random(in: 0..<1_000, using: &generator)
    switch Int.random(in: 0..<40, using: &generator) {
    case 0..<8: return .load(.next)
    case 8..<12: return .load(.previous)
    case 12..<15: return .load(.all)
    case 15..<17: return .load(.run)
    case 17..<27: return .succeed(number)
    case 27: return .fail(number)
    case 28..<30: return .cancel(number)
    case 30..<32: return .yield(number)
    case 32..<34: return .edit(number)
    case 34: return .remove(number)
    case 35..<37: return .append(number)
    case 37: return .prepend(number)
    case 38: return number < 300 ? .clear : .edit(number)
    default: return .bounds(number)
    }
  }
}

/// A store and the model, which receive the same steps.
struct ListComparison {
  let steps: [Step]

  func perform() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request)
    var actors = Actors(server: server, store: store)
    for (index, step) in self.steps.enumerated() {
      try await actors.take(step)
      guard actors.agree() else {
        Issue.record("\(actors.difference) after \(self.steps[...index].map { ".\($0)" }.joined(separator: ", "))")
        break
      }
    }
    for task in actors.tasks.values { task.cancel() }
    for task in actors.tasks.values { _ = await task.result }
  }

  private struct Actors {
    let server: ListServer
    let store: ListStore
    var model = ListModel()
    var tasks: [Int: Task<Void, any Error>] = [:]
    var runs: [Int: ScriptedRun<String, any Error>] = [:]
    private var lastNumber = 0

    init(server: ListServer, store: ListStore) {
      self.server = server
      self.store = store
      server.bounds = self.model.bounds
    }

    /// The active call that a number selects.
    private func call(_ number: Int) -> Int? {
      let numbers = self.runs.keys.sorted()
      return numbers.isEmpty ? nil : numbers[number % numbers.count]
    }

    mutating func take(_ step: Step) async throws {
      // Changes after a yield are replayed when the run is cancelled. Other tests cover that.
      if let yielding = self.model.calls.first(where: { $0.value.hasYielded })?.key {
        return try await self.takeDuringYield(step, yielding)
      }
      switch step {
      case .load(let requestKind): try await self.load(requestKind)
      case .succeed(let number): if let call = self.call(number) { try await self.succeed(call) }
      case .fail(let number): if let call = self.call(number) { await self.fail(call) }
      case .cancel(let number): if let call = self.call(number) { await self.cancel(call) }
      case .yield(let number): if let call = self.call(number) { self.yield(call) }
      default: self.edit(step)
      }
    }

    private mutating func takeDuringYield(_ step: Step, _ call: Int) async throws {
      switch step {
      case .succeed: try await self.succeed(call)
      case .fail: await self.fail(call)
      case .cancel: await self.cancel(call)
      case .yield: self.yield(call)
      default: break
      }
    }

    private mutating func load(_ requestKind: ListModel.Request) async throws {
      guard self.model.beginsAtOnce(self.model.request(for: requestKind)) else { return }
      self.lastNumber += 1
      let store = self.store
      let task = start {
        switch requestKind {
        case .next: _ = try await store.fetchNextPage()
        case .previous: _ = try await store.fetchPreviousPage()
        case .all: _ = try await store.refetchAllPages()
        case .run: _ = try await store.run()
        }
      }
      if self.model.begin(self.lastNumber, requestKind) {
        self.tasks[self.lastNumber] = task
        self.runs[self.lastNumber] = try await self.server.script.next()
      } else {
        try await task.value
      }
    }

    private mutating func succeed(_ call: Int) async throws {
      let value = "v\(self.model.tick())"
      self.runs[call]?.succeed(value)
      if self.model.succeed(call, with: value) {
        try await self.end(call)?.value
      } else {
        self.runs[call] = try await self.server.script.next()
      }
    }

    private mutating func fail(_ call: Int) async {
      self.runs[call]?.fail(Refused())
      self.model.fail(call)
      _ = await self.end(call)?.result
    }

    private mutating func cancel(_ call: Int) async {
      self.model.cancel(call)
      let task = self.end(call)
      task?.cancel()
      _ = await task?.result
    }

    private mutating func yield(_ call: Int) {
      let value = "d\(self.model.tick())"
      self.runs[call]?.yield(value)
      self.model.yield(call, value)
    }

    private mutating func end(_ call: Int) -> Task<Void, any Error>? {
      self.runs[call] = nil
      return self.tasks.removeValue(forKey: call)
    }

    private mutating func edit(_ step: Step) {
      let value = "e\(self.model.tick())"
      let ids = self.model.entries.map(\.id)
      switch step {
      case .edit(let number):
        guard !ids.isEmpty else { return }
        let id = ids[number % ids.count]
        self.store.currentValue[id: id]?.value = value
        self.model.edit { entries, time in
          for index in entries.indices where entries[index].id == id {
            entries[index] = .init(id: id, value: value, time: time)
          }
        }
      case .remove(let number):
        guard !ids.isEmpty else { return }
        let id = ids[number % ids.count]
        self.store.currentValue.remove(id: id)
        self.model.edit { entries, _ in entries.removeAll { $0.id == id } }
      case .append(let number), .prepend(let number):
        let id = number % 12 - 5
        guard !ids.contains(id) else { return }
        let atEnd = step == .append(number)
        let page = Page(id: id, value: value)
        if atEnd { self.store.currentValue.append(page) } else { self.store.currentValue.prepend(page) }
        self.model.edit { entries, time in
          entries.insert(.init(id: id, value: value, time: time), at: atEnd ? entries.count : 0)
        }
      case .clear:
        self.store.currentValue = []
        self.model.edit { entries, _ in entries = [] }
      case .bounds(let number):
        self.model.bounds = -(number % 5)...(number / 5 % 9)
        self.server.bounds = self.model.bounds
      default:
        break
      }
    }

    // MARK: Comparing

    func agree() -> Bool { self.shown == self.expected }

    var difference: String { "The store shows \(self.shown), the model \(self.expected)" }

    private var shown: String {
      let state = self.store.state
      return Self.text(
        state.currentValue.text,
        state.nextPageId,
        state.previousPageId,
        [state.isLoadingInitialPage, state.isLoadingNextPage, state.isLoadingPreviousPage, state.isLoadingAllPages],
        [state.valueUpdateCount, state.errorUpdateCount],
        state.error != nil
      )
    }

    private var expected: String {
      let model = self.model
      return Self.text(
        model.entries.map { "\($0.id)\($0.value)" }.joined(separator: " "),
        model.nextId,
        model.previousId,
        [.initialPage, .nextPage, .previousPage, .allPages].map { model.isLoading($0) },
        [model.pages.updates, model.pages.errors],
        model.pages.hasError
      )
    }

    private static func text(
      _ pages: String,
      _ next: Int?,
      _ previous: Int?,
      _ loading: [Bool],
      _ counts: [Int],
      _ hasError: Bool
    ) -> String {
      let ids = [next, previous].map { $0.map(String.init) ?? "-" }.joined(separator: "/")
      let flags = loading.map { $0 ? "1" : "0" }.joined()
      return "[\(pages)] \(ids) loading \(flags) counts \(counts)\(hasError ? " error" : "")"
    }
  }
}
