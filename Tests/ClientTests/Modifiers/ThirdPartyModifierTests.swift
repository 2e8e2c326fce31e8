import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Modifiers that a user writes with nothing but the core.
@Suite(.bounded, .warningsAreIssues)
struct ThirdPartyModifierTests {
  private let script = IntScript(default: .value(1))

  @Test
  func `A query with a modifier is a query`() async throws {
    let log = Log<String>()
    let query = self.script.query(path: ["q"]).modifier(Noted("a", log)).noted("b", log)
    expect(takesQuery(query), equals: ["q"])
    let client = OperationClient()
    let store: IntStore = client.store(for: query)
    try await expect(store.fetch(), equals: 1)
    let runner = OperationRunner(operation: query)
    try await expect(runner.run(), equals: 1)
    try await expect(query.fetch(isolation: nil, in: OperationContext(), with: .init { _, _ in }), equals: 1)
  }

  @Test
  func `The later modifier is the outer one`() async throws {
    let log = Log<String>()
    let query = self.script.query().noted("inner", log).noted("middle", log).noted("outer", log)
    let store = IntStore.detached(query: query)
    expect(log.all, equals: ["sets up outer", "sets up middle", "sets up inner"])
    try await store.fetch()
    expect(
      log.all.dropFirst(3),
      equals: [
        "outer begins", "middle begins", "inner begins", "inner ends", "middle ends", "outer ends",
      ]
    )
  }

  @Test
  func `A modifier between those of the core`() async throws {
    let log = Log<String>()
    let clock = ManualClock()
    let query = self.script.query()
      .stale(after: .seconds(10))
      .noted("mine", log)
      .manualTime(clock)
      .defaultValue(-1)
      .noted("above", log)
      .enableAutomaticRunning(onlyWhen: .always(true))
    let store = OperationStore.detached(operation: query)
    #expect(store.isAutomaticRunningEnabled)
    try await store.fetch()
    #expect(!store.isStale)
    expect(store.valueLastUpdatedAt, equals: clock.now())
    expect(
      log.all,
      equals: ["sets up above", "sets up mine", "above begins", "mine begins", "mine ends", "above ends"]
    )
  }

  @Test
  func `A modifier may change the value and the error of an operation`() async throws {
    let text = OperationRunner(operation: self.script.operation().modifier(Described()))
    let value: String = try await text.run()
    expect(value, equals: "1")
    self.script.enqueue(.error(Refused(code: 5)))
    await #expect(throws: DescribedError(text: "Refused(code: 5)")) { try await text.run() }
  }

  @Test
  func `A modifier may yield, and swallow what is yielded`() async throws {
    self.script.enqueue(.yield(.success(10), then: .value(20)))
    let store = IntStore.detached(query: self.script.query().modifier(Doubled()))
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    try await expect(store.fetch(), equals: 40)
    expect(recorder.values, equals: [0, 20, 40])
  }

  @Test
  func `A modifier may answer without the operation`() async throws {
    let store = IntStore.detached(query: self.script.query().modifier(Short()))
    try await expect(store.fetch(), equals: 99)
    expect(self.script.runCount, equals: 0)
  }

  @Test
  func `One value of a modified operation runs many times at once`() async throws {
    let log = Log<String>()
    let script = IntScript()
    let query = script.query().noted("a", log)
    let stores = (0..<5).map { _ in IntStore.detached(query: query) }
    let fetches = stores.map { store in Task.immediate { try await store.fetch() } }
    for number in 0..<5 { try await script.next().succeed(number) }
    var values: Set<Int> = []
    for fetch in fetches { values.insert(try await fetch.finished()) }
    expect(values, equals: Set(0..<5))
    expect(log.all.count { $0 == "a ends" }, equals: 5)
  }

  @Test
  func `Modified operations name the type inside`() {
    #expect(type(of: self.script.query().noted("a", Log<String>()).defaultValue(1)).unmodifiedType == IntQuery.self)
  }
}

private func takesQuery(_ query: some QueryRequest<Int, any Error>) -> OperationPath { query.path }

/// Notes when it sets up, begins and ends.
private struct Noted<Operation: OperationRequest>: OperationModifier {
  let name: String
  let log: Log<String>

  init(_ name: String, _ log: Log<String>) {
    self.name = name
    self.log = log
  }

  func setup(context: inout OperationContext, using operation: Operation) {
    self.log.append("sets up \(self.name)")
    operation.setup(context: &context)
  }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    self.log.append("\(self.name) begins")
    defer { self.log.append("\(self.name) ends") }
    return try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}

extension OperationRequest {
  fileprivate func noted(_ name: String, _ log: Log<String>) -> ModifiedOperation<Self, Noted<Self>> {
    self.modifier(Noted(name, log))
  }
}

private struct DescribedError: Error, Equatable {
  let text: String
}

/// Makes text of values and errors.
private struct Described<Operation: OperationRequest>: OperationModifier {
  typealias Value = String
  typealias Failure = DescribedError

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<String, DescribedError>
  ) async throws(DescribedError) -> String {
    do throws(Operation.Failure) {
      return "\(try await operation.run(isolation: isolation, in: context, with: .init { _, _ in }))"
    } catch {
      throw DescribedError(text: "\(error)")
    }
  }
}

private struct Doubled<Operation: OperationRequest>: OperationModifier where Operation.Value == Int {
  typealias Value = Int

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Int, Operation.Failure>
  ) async throws(Operation.Failure) -> Int {
    continuation.yield(0)
    let doubling = OperationContinuation<Int, Operation.Failure> { result, context in
      continuation.yield(with: result.map { 2 * $0 }, using: context)
    }
    return try await 2 * operation.run(isolation: isolation, in: context, with: doubling)
  }
}

private struct Short<Operation: OperationRequest>: OperationModifier where Operation.Value == Int {
  typealias Value = Int

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Int, Operation.Failure>
  ) async throws(Operation.Failure) -> Int {
    99
  }
}
