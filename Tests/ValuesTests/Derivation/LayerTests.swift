import OperationCore
import OperationDerivation
import OperationMutation
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct LayerTests {
  let client = OperationClient.automatic()
  let cell = Cell("a", 1)

  private var source: OperationStore<QueryState<Int, any Error>> { self.client.store(for: self.cell.query) }

  private func mutation(
    _ body: @escaping @Sendable () async throws -> Void
  ) -> some MutationRequest<Int, Void, any Error> {
    MutationOperation<Int, Void, any Error>("change") { _, _ in try await body() }
      .optimistic(on: ["cell"], of: QueryState<Int, any Error>.self) { value, number in value = number }
  }

  @Test
  func `What is made of a value that must stay in its store stays in its own`() async throws {
    let isPrivate = Box(true)
    let source = QueryOperation<Int, any Error>("source") { context in
      context.outcomeStamp.staysInStore = isPrivate.value
      return isPrivate.value ? 1 : 2
    }
    .staleWhenNoValue().context { $0.addEntriesToOutcomes() }
    let derived = Derived("d") { try await $0.value(of: source) }
    let store = self.client.store(for: derived.query)
    try await store.fetch()
    #expect(store.valueStamp.staysInStore && !store.valueStamp.mayLeaveStore)
    isPrivate.value = false
    try await self.client.store(for: source).fetch()
    try await store.fetch()
    #expect(store.currentValue == 2 && store.valueStamp.mayLeaveStore)
  }

  @Test
  func `An optimistic update of a source shows through, and goes again when the mutation fails`() async throws {
    let one = Derived("1") { [cell] in try await $0.value(of: cell.query) * 10 }
    let two = Derived("2") { [cell] context in
      try await context.value(of: one.query) + context.value(of: cell.query)
    }
    let shown = Shown(self.client.store(for: two.query))
    let gate = Gate()
    let mutation = self.client.store(
      for: self.mutation {
        try await gate.wait()
        throw Missing(name: "mutation")
      }
    )
    let call = Task { try await mutation.mutate(with: 5) }
    try await gate.arrivals(count: 1)
    expect(shown.all, equals: [11, 55])
    #expect(self.client.store(for: two.query).valueStamp.isUnconfirmed)
    gate.open()
    await #expect(throws: Missing.self) { try await call.value }
    await self.client.settledDerivations()
    expect(self.client.store(for: two.query).valueStamp, equals: ValueStamp(.final))
    expect(shown.all, equals: [11, 55, 11])
    expect([one, two].map(\.calls.value), equals: [3, 3])
  }

  @Test
  func `An optimistic update that succeeds stays, and an equal committed value runs nothing`() async throws {
    let derived = Derived("d") { [cell] in try await $0.value(of: cell.query) * 10 }
    let shown = Shown(self.client.store(for: derived.query))
    try await self.client.store(for: self.mutation {}).mutate(with: 5)
    await self.client.settledDerivations()
    expect(shown.all, equals: [10, 50])
    expect(derived.calls.value, equals: 2)
    expect(self.client.store(for: derived.query).valueStamp, equals: ValueStamp(.final))
  }

  @Test
  func `An optimistic update of the derived store itself is laid over its value`() async throws {
    let derived = Derived("d") { [cell] in try await $0.value(of: cell.query) * 10 }
    let store = self.client.store(for: derived.query)
    let shown = Shown(store)
    let id = StateLayerIdentifier()
    let layerable = OpaqueOperationStore(erasing: store)
    _ = layerable.addLayer(id, over: QueryState<Int, any Error>.self) { value in value = value.map { $0 + 1 } }
    expect(shown.all, equals: [10, 11])
    self.source.currentValue = 2
    expect(shown.all, equals: [10, 11, 21])
    layerable.removeLayer(id)
    expect(shown.all, equals: [10, 11, 21, 20])
    expect(derived.calls.value, equals: 2)
  }

  @Test
  func `A query waits for the result of a source that yields, also for readers of the yielded value`() async throws {
    let gate = Gate()
    let source = QueryOperation<Int, any Error>("yielding") { _, continuation in
      continuation.yield(7)
      try await gate.wait()
      return 8
    }
    .staleWhenNoValue()
    let store = self.client.store(for: source)
    store.currentValue = 1
    let derived = Derived("d") { try await $0.value(of: source) * 10 }
    let shown = Shown(self.client.store(for: derived.query))
    let task = Task { try await store.fetch() }
    try await gate.arrivals(count: 1)
    expect(store.currentValue, equals: 7)
    expect(shown.all, equals: [10])
    gate.open()
    try await expect(task.value, equals: 8)
    await self.client.settledDerivations()
    expect(shown.all, equals: [10, 80])
    expect(self.client.store(for: derived.query).valueStamp, equals: ValueStamp(.final))
  }

  @Test
  func `A reset of a source and the same number of values are a change`() async throws {
    struct Opaque: Sendable { var number: Int }
    let query = QueryOperation<Opaque, any Error>("opaque") { _ in Opaque(number: 1) }.staleWhenNoValue()
    let derived = Derived("d") { try await $0.value(of: query).number }
    let store = self.client.store(for: query)
    store.currentValue = Opaque(number: 5)
    try await expect(self.client.ensureValue(for: derived.query), equals: 5)
    store.resetState()
    store.currentValue = Opaque(number: 6)
    try await expect(self.client.ensureValue(for: derived.query), equals: 6)
  }
}
