import OperationCore
import OperationDerivation
import OperationTesting
import TestFixtures
import Testing

/// Sources that fail without a call of their body.
@Suite(.bounded, .warningsAreIssues)
struct RejectionTests {
  let client = OperationClient.automatic()
  let cell = Cell("a", 1)

  /// A derived query with a modifier around it that lets no run through while a test says so.
  private func lower(_ rejects: Box<Bool>, _ calls: Counter) -> some QueryRequest<Int, any Error> {
    QueryOperation<Int, any Error>("lower") { [cell] context in
      calls.increment()
      return try await context.value(of: cell.query)
    }
    .derived()
    .modifier(Rejection(rejects: rejects))
  }

  @Test(arguments: [false, true])
  func `A source that a modifier rejects runs once, and has failed`(_ hasValue: Bool) async throws {
    let (rejects, lowerCalls) = (Box(!hasValue), Counter())
    let lower = self.lower(rejects, lowerCalls)
    let upper = Derived("upper") { try await $0.value(of: lower) + 10 }
    let top = Derived("top") { ((try? await $0.value(of: upper.query)) ?? -1) + 100 }
    if hasValue {
      try await expect(self.client.store(for: top.query).fetch(), equals: 111)
      rejects.value = true
      self.client.store(for: self.cell.query).currentValue = 2
    }
    let before = [upper, top].map(\.calls.value)
    try await expect(self.client.store(for: top.query).fetch(), equals: 99)
    expect([upper, top].map(\.calls.value), equals: before.map { $0 + 1 })
    #expect(self.client.store(for: upper.query).error is Refused)
    let stores = [self.client.store(for: top.query), self.client.store(for: upper.query)]
    expect(stores.map(\.isStale), equals: [true, true])
    rejects.value = false
    try await expect(self.client.ensureValue(for: top.query), equals: (hasValue ? 112 : 111))
    expect(stores.map(\.isStale), equals: [false, false])
  }

  @Test
  func `With subscribers a rejected source runs again when its own source changes`() async throws {
    let (rejects, lowerCalls) = (Box(false), Counter())
    let lower = self.lower(rejects, lowerCalls)
    let upper = Derived("upper") { (try? await $0.value(of: lower)) ?? -1 }
    let shown = Shown(self.client.store(for: upper.query))
    let source = self.client.store(for: self.cell.query)
    rejects.value = true
    source.currentValue = 2
    source.currentValue = 3
    expect(shown.all, equals: [1, -1])
    rejects.value = false
    source.currentValue = 4
    expect(shown.all, equals: [1, -1, 4])
    expect(lowerCalls.value, equals: 2)
  }
}

/// Throws in place of a run.
private struct Rejection<Operation: QueryRequest>: OperationModifier where Operation.Failure == any Error {
  let rejects: Box<Bool>

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, any Error>
  ) async throws -> Operation.Value {
    if self.rejects.value { throw Refused() }
    return try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}
