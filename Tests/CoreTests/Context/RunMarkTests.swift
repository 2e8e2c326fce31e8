import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Marks by which modifiers of one run do something once.
@Suite(.bounded, .warningsAreIssues)
struct RunMarkTests {
  private let mark = Mark()

  @Test
  func `A run is marked once, in the context and its copies`() {
    let before = OperationContext()
    var context = before
    #expect(!context.isRunMarked(self.mark))
    let isMarked = [context.markRun(self.mark), context.markRun(self.mark)]
    expect(isMarked, equals: [true, false])
    #expect(context.isRunMarked(self.mark))
    var copy = context
    let isCopyMarked = [copy.markRun(self.mark), copy.markRun(Mark())]
    expect(isCopyMarked, equals: [false, true])
    #expect(!before.isRunMarked(self.mark))
  }

  @Test
  func `Later attempts have the mark`() {
    var context = OperationContext()
    _ = context.markRun(self.mark)
    context.beginNextAttempt(after: Refused())
    expect(context.operationAttempt, equals: 2)
    #expect(context.isRunMarked(self.mark))
  }

  @Test
  func `Two modifiers with one mark act once for each run`() async throws {
    let count = Counter()
    let script = IntScript(default: .value(1))
    let query = script.query().modifier(Counting(mark: self.mark, count: count))
      .modifier(Counting(mark: self.mark, count: count))
    let store = IntStore.detached(query: query)
    for _ in 0..<3 { _ = try await store.fetch() }
    expect(count.value, equals: 3)
  }

  @Test
  func `The run of another operation has no mark`() async throws {
    let script = IntScript(default: .value(1))
    var context = OperationContext()
    _ = context.markRun(self.mark)
    let runner = OperationRunner(operation: script.operation(), initialContext: context)
    #expect(!runner.context.isRunMarked(self.mark))
    let store = IntStore.detached(query: script.query(), initialContext: context)
    #expect(!store.context.isRunMarked(self.mark))
  }

  @Test
  func `A mark is released with its contexts`() async throws {
    let lifetimes = LifetimeTracker()
    do {
      var context = OperationContext()
      _ = context.markRun(lifetimes.token())
      expect(lifetimes.aliveCount, equals: 1)
    }
    try await lifetimes.noneAlive()
  }
}

private final class Mark: Sendable {}

/// Counts the runs that it marks.
private struct Counting<Operation: OperationRequest>: OperationModifier {
  let mark: Mark
  let count: Counter

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    var context = context
    if context.markRun(self.mark) { self.count.increment() }
    return try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}
