import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Entries that stay with the operation whose setup has set them.
@Suite(.bounded, .warningsAreIssues)
struct SetupEntryTests {
  private let contexts = Log<OperationContext>()
  private let script = IntScript(default: .value(1))

  private var query: ModifiedOperation<IntQuery, Prepared<IntQuery>> {
    self.script.query().modifier(Prepared(contexts: self.contexts))
  }

  @Test
  func `The runs of the operation have the entry, whatever the context of a call is`() async throws {
    let store = IntStore.detached(query: self.query)
    var context = OperationContext()
    context[PreparationKey.self] = 9
    context[NumberKey.self] = 3
    _ = try await store.fetch()
    _ = try await store.fetch(using: context)
    expect(store.context[PreparationKey.self], equals: 1)
    expect(self.contexts.all.map { $0[PreparationKey.self] }, equals: [1, 1])
    expect(self.contexts.all.map { $0[NumberKey.self] }, equals: [0, 3])
  }

  @Test
  func `Another store or runner gets the context without the entry`() async throws {
    _ = try await IntStore.detached(query: self.query).fetch()
    var context = try #require(self.contexts.all.first)
    context[NumberKey.self] = 4
    let other = IntStore.detached(query: self.script.query(), initialContext: context)
    let runner = OperationRunner(operation: self.script.operation(), initialContext: context)
    let plain = OperationRunner(operation: self.script.query().modifier(Read(contexts: self.contexts)))
    _ = try await plain.run(in: context)
    for context in [other.context, runner.context, try #require(self.contexts.all.last)] {
      #expect(!context.isSet(PreparationKey.self))
      expect(context[NumberKey.self], equals: 4)
    }
    // A context is a value: the entry is there as before.
    expect(context[PreparationKey.self], equals: 1)
  }

  @Test
  func `An entry that was replaced or removed is dropped once`() {
    var context = OperationContext()
    context[PreparationKey.self] = 1
    context[PreparationKey.self] = 2
    context.unset(PreparationKey.self)
    context.unset(PreparationKey.self)
    #expect(!context.isSet(PreparationKey.self))
    context[OtherPreparationKey.self] = 3
    context[NumberKey.self] = 5
    context[PreparationKey.self] = 4
    let runner = OperationRunner(operation: self.script.operation(), initialContext: context)
    expect(runner.context.description, equals: "OperationContext(Number = 5)")
  }

  @Test
  func `An entry is set even to its default, until it is removed`() {
    var context = OperationContext()
    #expect(!context.isSet(NumberKey.self))
    context[NumberKey.self] = 0
    let copy = context
    #expect(context.isSet(NumberKey.self))
    context.unset(NumberKey.self)
    #expect(!context.isSet(NumberKey.self))
    #expect(copy.isSet(NumberKey.self))
  }
}

private enum PreparationKey: OperationContext.Key {
  static let defaultValue = 0
  static let belongsToSetup = true
}

private enum OtherPreparationKey: OperationContext.Key {
  static let defaultValue = 0
  static let belongsToSetup = true
}

/// Sets an entry in its setup, and keeps the contexts of its runs.
private struct Prepared<Operation: OperationRequest>: OperationModifier {
  let contexts: Log<OperationContext>

  func setup(context: inout OperationContext, using operation: Operation) {
    context[PreparationKey.self] = 1
    operation.setup(context: &context)
  }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    self.contexts.append(context)
    return try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}

/// Keeps the contexts of its runs.
private struct Read<Operation: OperationRequest>: OperationModifier {
  let contexts: Log<OperationContext>

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    self.contexts.append(context)
    return try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}
