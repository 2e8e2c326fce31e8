import OperationCore
import OperationDerivation
import OperationStreams
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct SourceTests {
  let client = OperationClient.automatic()
  let cell = Cell("a", 1)

  @Test
  func `A read returns the value of a fresh source without a run`() async throws {
    self.client.store(for: self.cell.query).currentValue = 7
    let derived = Derived("d") { [cell] in try await $0.value(of: cell.query) + 1 }
    try await expect(self.client.store(for: derived.query).fetch(), equals: 8)
    expect(self.cell.runCount, equals: 0)
  }

  @Test
  func `A read runs a source without a value, in the store of the client`() async throws {
    let derived = Derived("d") { [cell] in try await $0.value(of: cell.query) + 1 }
    try await expect(self.client.store(for: derived.query).fetch(), equals: 2)
    expect(self.client.store(for: self.cell.query).currentValue, equals: 1)
    expect(self.cell.runCount, equals: 1)
  }

  @Test
  func `A read uses an initial value of a known age while that is fresh`() async throws {
    let clock = ManualClock()
    let query = self.cell.alwaysStale.stale(after: .seconds(60)).manualTime(clock)
    let source = self.client.store(for: query, initialValue: 7, updatedAt: clock.now())
    let derived = Derived("d") { try await $0.value(of: query) + 1 }
    let store = self.client.store(for: derived.query)
    try await expect(store.fetch(), equals: 8)
    expect(self.cell.runCount, equals: 0)
    clock.advance(by: .seconds(60))
    try await expect(store.fetch(), equals: 2)
    expect(source.currentValue, equals: 1)
  }

  @Test
  func `A store that is cleared while it is looked up becomes a source at its path`() async throws {
    let isCleared = Box(false)
    let watching = self.client.subscribe(matching: ["cell"]) { [unowned client = self.client] change in
      if !change.storesAdded.isEmpty, !isCleared.replace(with: true) { client.clearStore(with: ["cell", "a"]) }
    }
    defer { watching.cancel() }
    let derived = Derived("d") { [cell] in try await $0.value(of: cell.query) * 2 }
    let shown = Shown(self.client.store(for: derived.query))
    await self.client.settledDerivations()
    #expect(isCleared.value)
    self.client.store(for: self.cell.query).currentValue = 5
    await self.client.settledDerivations()
    expect(shown.all, equals: [2, 10])
  }

  @Test
  func `A read joins a run of the source that is under way`() async throws {
    let gate = Gate()
    self.cell.hold(at: gate)
    let source = self.client.store(for: self.cell.query)
    async let fetched = source.fetch()
    try await gate.arrivals(count: 1)
    let derived = Derived("d") { [cell] in try await $0.value(of: cell.query) + 1 }
    let store = self.client.store(for: derived.query)
    let shown = Shown(store)
    #expect(store.isLoading)
    gate.open()
    try await expect(fetched, equals: 1)
    await self.client.settledDerivations()
    expect(shown.all, equals: [2])
    expect(self.cell.runCount, equals: 1)
  }

  @Test
  func `A stale source is refreshed once for a fetch, however often it is read`() async throws {
    let one = Derived("1") { [cell] in try await $0.value(of: cell.alwaysStale) + 1 }
    let two = Derived("2") { [cell] in try await $0.value(of: cell.alwaysStale) + 2 }
    let sum = Derived("sum") { [cell] context in
      let first = try await context.value(of: cell.alwaysStale)
      return try await context.value(of: one.query) + context.value(of: two.query) + first
    }
    try await expect(self.client.store(for: sum.query).fetch(), equals: 6)
    expect(self.cell.runCount, equals: 1)
    expect([one, two, sum].map(\.calls.value), equals: [1, 1, 1])
  }

  @Test
  func `While a derived store has subscribers, its sources have one, and only then`() async throws {
    let derived = Derived("d") { [cell] in try await $0.value(of: cell.query) + 1 }
    let source = self.client.store(for: self.cell.query)
    let store = self.client.store(for: derived.query)
    try await store.fetch()
    expect(source.subscriberCount, equals: 0)
    let shown = Shown(store)
    expect(source.subscriberCount, equals: 1)
    let other = Shown(store)
    expect(source.subscriberCount, equals: 1)
    shown.end()
    expect(source.subscriberCount, equals: 1)
    other.end()
    expect(source.subscriberCount, equals: 0)
    expect(derived.calls.value, equals: 1)
  }

  @Test
  func `Sources that were read before the first subscriber came are followed`() async throws {
    let gate = Gate()
    let isHeld = Box(true)
    let derived = Derived("d") { [cell] context in
      let value = try await context.value(of: cell.query)
      if isHeld.value { try await gate.wait() }
      return value
    }
    let (store, source) = (self.client.store(for: derived.query), self.client.store(for: self.cell.query))
    let task = Task { try await store.fetch() }
    try await gate.arrivals(count: 1)
    let shown = Shown(store)
    isHeld.value = false
    gate.open()
    try await expect(task.value, equals: 1)
    await self.client.settledDerivations()
    expect(source.subscriberCount, equals: 1)
    source.currentValue = 9
    expect(shown.all, equals: [1, 9])
    shown.end()
    expect(source.subscriberCount, equals: 0)
  }

  @Test
  func `Sources that the last run has not read are let go`() async throws {
    let (flag, other) = (Cell("flag", 0), Cell("b", 5))
    let derived = Derived("d") { [cell] context in
      try await context.value(of: try await context.value(of: flag.query) == 0 ? cell.query : other.query)
    }
    let shown = Shown(self.client.store(for: derived.query))
    let (a, b) = (self.client.store(for: self.cell.query), self.client.store(for: other.query))
    expect([a.subscriberCount, b.subscriberCount], equals: [1, 0])
    self.client.store(for: flag.query).currentValue = 1
    expect([a.subscriberCount, b.subscriberCount], equals: [0, 1])
    expect(shown.all, equals: [1, 5])
    a.currentValue = 9
    expect(derived.calls.value, equals: 2)
    shown.end()
    expect([a.subscriberCount, b.subscriberCount], equals: [0, 0])
  }

  @Test
  func `The failure of a source is thrown as it is, and a later value replaces it`() async throws {
    self.cell.fail()
    let derived = Derived("d") { [cell] in try await $0.value(of: cell.query) + 1 }
    let store = self.client.store(for: derived.query)
    let shown = Shown(store)
    expect(store.error as? Missing, equals: Missing(name: "a"))
    self.client.store(for: self.cell.query).currentValue = 3
    #expect(store.error == nil)
    expect(shown.all, equals: [4])
    self.client.store(for: self.cell.query).setResult(to: .failure(Missing(name: "later")))
    expect(store.error as? Missing, equals: Missing(name: "later"))
    expect(store.currentValue, equals: 4)
    expect(self.cell.runCount, equals: 1)
  }

  @Test
  func `A failure that the body catches makes the source optional`() async throws {
    self.cell.fail()
    let derived = Derived("d") { [cell] in (try? await $0.value(of: cell.query)) ?? -1 }
    let shown = Shown(self.client.store(for: derived.query))
    self.client.store(for: self.cell.query).currentValue = 3
    expect(shown.all, equals: [-1, 3])
  }

  @Test
  func `Without a client a read is a plain run`() async throws {
    let derived = Derived("d") { [cell] in try await $0.value(of: cell.query) + 1 }
    try await expect(OperationRunner(operation: derived.query).run(), equals: 2)
    let store = OperationStore.detached(query: derived.query)
    try await expect(store.fetch(), equals: 2)
    expect(self.cell.runCount, equals: 2)
  }

  @Test
  func `A read outside of a derived query uses the store of the client`() async throws {
    let plain = QueryOperation<Int, any Error>("plain") { [cell] in try await $0.value(of: cell.query) + 1 }
    let store = self.client.store(for: plain)
    try await expect(store.fetch(), equals: 2)
    try await expect(store.fetch(), equals: 2)
    expect(self.cell.runCount, equals: 1)
    expect(self.client.store(for: self.cell.query).subscriberCount, equals: 0)
  }

  @Test
  func `An operation with a default value and one with an initial state are sources`() async throws {
    let derived = Derived("d") { [cell] context in
      let first = try await context.value(of: cell.query.defaultValue(-1))
      return try await context.value(of: Cell("b", 10).query, initialState: QueryState())! + first
    }
    let shown = Shown(self.client.store(for: derived.query))
    expect(shown.all, equals: [11])
    self.client.store(for: self.cell.query.defaultValue(-1)).currentValue = 5
    expect(shown.all, equals: [11, 15])
  }

  @Test
  func `A store that the client replaces is read again from the new one`() async throws {
    let derived = Derived("d") { [cell] in try await $0.value(of: cell.query) + 1 }
    let shown = Shown(self.client.store(for: derived.query))
    self.client.clearStores(matching: ["cell"])
    self.cell.set(20)
    expect(self.client.store(for: self.cell.query).subscriberCount, equals: 1)
    self.client.store(for: self.cell.query).currentValue = 30
    expect(shown.all.last, equals: 31)
  }

  @Test
  func `Kept sources have a subscriber even if a run does not read them`() async throws {
    let cells = [Cell("a", 1), Cell("b", 2), Cell("c", 3)]
    cells[0].fail()
    let query = QueryOperation<Int, any Error>("sum") { context in
      var sum = 0
      for cell in cells { sum += try await context.value(of: cell.query) }
      return sum
    }
    .derived(keeping: cells.map(\.query))
    let store = self.client.store(for: query)
    let shown = Shown(store)
    let sources = cells.map { self.client.store(for: $0.query) }
    expect(sources.map(\.subscriberCount), equals: [1, 1, 1])
    expect(store.error as? Missing, equals: Missing(name: "a"))
    sources[0].currentValue = 10
    expect(shown.all, equals: [15])
    shown.end()
    expect(sources.map(\.subscriberCount), equals: [0, 0, 0])
  }

  @Test
  func `Sources can be read in a task group`() async throws {
    let cells = (0..<50).map { Cell("\($0)", $0) }
    let derived = Derived("sum") { context in
      try await withThrowingTaskGroup(of: Int.self) { group in
        for cell in cells { group.addTask { try await context.value(of: cell.query) } }
        return try await group.reduce(0, +)
      }
    }
    let store = self.client.store(for: derived.query)
    let shown = Shown(store)
    await self.client.settledDerivations()
    expect(shown.all, equals: [1_225])
    self.client.store(for: cells[49].query).currentValue = 1_049
    await self.client.settledDerivations()
    expect(shown.all, equals: [1_225, 2_225])
    expect(derived.calls.value, equals: 2)
  }

  @Test
  func `States are sources whose runs show, and which run by themselves`() async throws {
    let gate = Gate()
    self.cell.hold(at: gate)
    let derived = Derived("d") { [cell] context in
      let state = context.states(of: cell.query)
      return state.isLoading ? -1 : state.currentValue ?? -2
    }
    let store = self.client.store(for: derived.query)
    let shown = Shown(store)
    try await gate.arrivals(count: 1)
    expect(shown.all, equals: [-1])
    gate.open()
    await self.client.store(for: self.cell.query).settled()
    await self.client.settledDerivations()
    expect(shown.all, equals: [-1, 1])
  }

  @Test
  func `Several states are read at once`() async throws {
    let other = Cell("b", 5)
    self.client.store(for: self.cell.query).currentValue = 2
    let derived = Derived("d") { [cell] context in
      let (a, b) = context.states(of: cell.query, other.query)
      return (a.currentValue ?? 0) + (b.currentValue ?? 100)
    }
    try await expect(self.client.store(for: derived.query).fetch(), equals: 102)
    expect(other.runCount, equals: 0)
  }

  // MARK: - Sources that end

  @Test
  func `A client that forgets its user derives the value from those of the next one`() async throws {
    let user = Box("Ann")
    let name = QueryOperation<String, any Error>("name") { _ in user.value }.stale(after: .seconds(60))
    let greeting = QueryOperation<String, any Error>("greeting") { context in
      "Hello, \(try await context.value(of: name))"
    }
    .derived()
    let store = self.client.store(for: greeting)
    let subscription = store.subscribe(with: OperationEventHandler())
    defer { subscription.cancel() }
    try await expect(store.fetch(), equals: "Hello, Ann")
    try await self.client.clearEverything { user.value = "Bob" }
    expect(store.currentValue, equals: nil)
    try await expect(self.client.store(for: greeting).fetch(), equals: "Hello, Bob")
    expect(self.client.store(for: name).currentValue, equals: "Bob")
    // The removed store is derived for its holder, and is no source of anything.
    try await expect(store.fetch(), equals: "Hello, Bob")
    expect(self.client.store(for: name).subscriberCount, equals: 0)
  }

  @Test
  func `A source that is released before its reader subscribes to it is read anew`() async throws {
    let (gate, rejects) = (Gate(), Box(false))
    let derived = Derived("d") { [cell] in try await $0.value(of: cell.query) }
    let store = self.client.store(for: derived.query.modifier(Lingering(gate: gate, rejects: rejects)))
    let run = Task { try await store.fetch() }
    try await gate.arrivals(count: 1)
    // The body has ended. The state does not show its value yet, and nothing keeps the store of the source.
    self.cell.set(2)
    self.client.clearStore(with: self.cell.query.path)
    let shown = Shown(store)
    gate.open()
    _ = try await run.value
    await self.client.settledDerivations()
    expect(shown.all.last, equals: 2)
    expect(derived.calls.value, equals: 2)
  }

  @Test
  func `A query that fails after its source was released runs only once`() async throws {
    let (gate, rejects) = (Gate(), Box(false))
    let derived = Derived("d") { [cell] in try await $0.value(of: cell.query) }
    let store = self.client.store(for: derived.query.modifier(Lingering(gate: gate, rejects: rejects)))
    let run = Task { try await store.fetch() }
    try await gate.arrivals(count: 1)
    self.client.clearStore(with: self.cell.query.path)
    rejects.value = true
    let shown = Shown(store)
    gate.open()
    _ = try await run.value
    await self.client.settledDerivations()
    #expect(store.error is Missing)
    expect(derived.calls.value, equals: 1)
    shown.end()
  }
}

/// Ends runs only when a gate is open, after their bodies have ended. If `rejects` is true, runs fail without their bodies.
private struct Lingering<Operation: QueryRequest>: OperationModifier where Operation.Failure == any Error {
  let gate: Gate
  let rejects: Box<Bool>

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, any Error>
  ) async throws -> Operation.Value {
    if self.rejects.value { throw Missing(name: "rejected") }
    let value = try await operation.run(isolation: isolation, in: context, with: continuation)
    try await self.gate.wait()
    return value
  }
}
