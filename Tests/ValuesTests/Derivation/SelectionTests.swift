import OperationCore
import OperationDerivation
import OperationMutation
import OperationPagination
import OperationTesting
import TestFixtures
import Testing

private struct Person: Sendable, Equatable {
  var name = "Blob"
  var points = 0
}

@Suite(.bounded, .warningsAreIssues)
struct SelectionTests {
  let client = OperationClient.automatic()
  private let person = QueryOperation<Person, any Error>("person") { _ in Person() }.staleWhenNoValue()
  let calls = Counter()

  private var source: OperationStore<QueryState<Person, any Error>> { self.client.store(for: self.person) }

  /// A derived query, which counts the calls of its body.
  private func derived<Value: Sendable & Equatable>(
    _ body: @escaping @Sendable (OperationContext) async throws -> Value
  ) -> some QueryRequest<Value, any Error> {
    QueryOperation<Value, any Error>("derived") { context in
      self.calls.increment()
      return try await body(context)
    }
    .derived()
  }

  @Test
  func `A derived query runs again only if the selected part has changed`() async throws {
    let query = self.derived { [person] in try await $0.value(of: person, select: \.name) + "!" }
    let shown = Shown(self.client.store(for: query))
    await self.client.settledDerivations()
    self.source.currentValue = Person(name: "Blob", points: 1)
    self.source.currentValue = Person(name: "Blob", points: 2)
    await self.client.settledDerivations()
    expect(self.calls.value, equals: 1)
    #expect(!self.client.store(for: query).isStale)
    self.source.currentValue = Person(name: "Blob Jr", points: 2)
    await self.client.settledDerivations()
    expect(self.calls.value, equals: 2)
    expect(shown.all, equals: ["Blob!", "Blob Jr!"])
  }

  @Test
  func `Without subscribers, an equal part leaves the value fresh, and another one makes it stale`() async throws {
    let query = self.derived { [person] in try await $0.value(of: person) { $0.points / 10 } }
    let store = self.client.store(for: query)
    try await store.fetch()
    self.source.currentValue = Person(points: 9)
    #expect(!store.isStale)
    try await expect(self.client.ensureValue(for: query), equals: 0)
    expect(self.calls.value, equals: 1)
    self.source.currentValue = Person(points: 10)
    #expect(store.isStale)
    try await expect(self.client.ensureValue(for: query), equals: 1)
    expect(self.calls.value, equals: 2)
  }

  @Test
  func `Each of several selections counts, and a reading of the whole value counts most`() async throws {
    let readsAll = Box(false)
    let query = self.derived { [person] context in
      let points = try await context.value(of: person, select: \.points)
      let name = try await context.value(of: person, select: \.name)
      if readsAll.value { _ = try await context.value(of: person) }
      return "\(name): \(points / 10)"
    }
    let shown = Shown(self.client.store(for: query))
    await self.client.settledDerivations()
    self.source.currentValue = Person(points: 1)
    await self.client.settledDerivations()
    expect(self.calls.value, equals: 2)
    self.source.currentValue = Person(name: "Other", points: 1)
    await self.client.settledDerivations()
    expect(self.calls.value, equals: 3)
    expect(shown.all, equals: ["Blob: 0", "Other: 0"])
    readsAll.value = true
    self.source.currentValue = Person(name: "Blob", points: 1)
    self.source.currentValue = Person(name: "Blob", points: 1)
    await self.client.settledDerivations()
    expect(self.calls.value, equals: 4)
  }

  @Test
  func `A whole value that was read before a part is compared as a whole`() async throws {
    let query = self.derived { [person] context in
      _ = try await context.value(of: person)
      return try await context.value(of: person, select: \.name)
    }
    let shown = Shown(self.client.store(for: query))
    await self.client.settledDerivations()
    self.source.currentValue = Person(points: 1)
    await self.client.settledDerivations()
    expect(self.calls.value, equals: 2)
    expect(shown.all, equals: ["Blob"])
  }

  @Test
  func `An optimistic update of another part makes the derived value unconfirmed, and runs nothing`() async throws {
    let query = self.derived { [person] in try await $0.value(of: person, select: \.name) }
    let store = self.client.store(for: query)
    let shown = Shown(store)
    let gate = Gate()
    let mutation = MutationOperation<Int, Void, any Error>("score") { _, _ in try await gate.wait() }
      .optimistic(on: ["person"], of: QueryState<Person, any Error>.self) { person, points in person?.points = points }
    let call = Task { try await self.client.store(for: mutation).mutate(with: 5) }
    try await gate.arrivals(count: 1)
    expect(self.source.currentValue?.points, equals: 5)
    #expect(store.valueStamp.isUnconfirmed)
    gate.open()
    try await call.value
    await self.client.settledDerivations()
    #expect(!store.valueStamp.isUnconfirmed)
    expect(self.calls.value, equals: 1)
    shown.end()
  }

  @Test
  func `An invalidation of the source is one for a part of it as well`() async throws {
    let query = self.derived { [person] in try await $0.value(of: person, select: \.name) }
    let store = self.client.store(for: query)
    try await store.fetch()
    self.client.invalidate(matching: ["person"])
    #expect(store.isStale)
    try await expect(self.client.ensureValue(for: query), equals: "Blob")
    #expect(!store.isStale)
  }

  @Test
  func `Parts of default values, of pages and of values without a client are selected, too`() async throws {
    let counted = QueryOperation<Int, any Error>("count") { _ in 7 }.staleWhenNoValue().defaultValue(1)
    let pages = PaginatedOperation<Int, [Int], any Error>("pages", initialPageId: 0, pageIdAfter: { _ in nil }) {
      paging,
      _,
      _ in
      [paging.pageId]
    }
    .staleWhen { state, _ in state.valueUpdateCount == 0 }
    let query = self.derived { context in
      let isOdd = try await context.value(of: counted) { $0 % 2 == 1 }
      let count = try await context.value(of: pages) { $0.count }
      return "\(isOdd) \(count)"
    }
    let store = self.client.store(for: query)
    let shown = Shown(store)
    await self.client.settledDerivations()
    self.client.store(for: counted).currentValue = 9
    await self.client.settledDerivations()
    expect(self.calls.value, equals: 1)
    expect(shown.all, equals: ["true 1"])
    try await expect(OperationRunner(operation: query).run(), equals: "true 1")
  }
}
