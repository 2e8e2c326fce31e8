import OperationCore
import OperationDedupe
import OperationTesting
import TestFixtures
import Testing

/// The predicate that decides which runs are the same.
@Suite(.bounded, .warningsAreIssues)
struct PredicateTests {
  private let script = IntScript()

  @Test(arguments: Runner.allCases)
  func `Only calls for which the predicate returns true share a run`(_ kind: Runner) async throws {
    let fetch = kind(self.script.query().deduplicated { $0[NumberKey.self] == $1[NumberKey.self] })
    var callers: [Task<Int, any Error>] = []
    for number in [1, 2, 1, 2, 3, 1] {
      callers.append(Task.immediate { try await fetch(OperationContext(number: number)) })
    }
    try await self.script.runs(count: 3)
    for _ in 0..<3 {
      let run = try await self.script.next()
      run.succeed(10 * run.context[NumberKey.self])
    }
    var values: [Int] = []
    for caller in callers { values.append(try await caller.finished()) }
    expect(values, equals: [10, 20, 10, 20, 30, 10])
    expect(self.script.runCount, equals: 3)
  }

  @Test(arguments: Runner.allCases)
  func `A predicate that always returns false shares nothing`(_ kind: Runner) async throws {
    let fetch = kind(self.script.query().deduplicated { _, _ in false })
    let callers = (0..<3).map { _ in Task.immediate { try await fetch(nil) } }
    for number in 0..<3 { try await self.script.next().succeed(number) }
    var values: Set<Int> = []
    for caller in callers { values.insert(try await caller.finished()) }
    expect(values, equals: [0, 1, 2])
  }

  @Test(arguments: Runner.allCases)
  func `The predicate receives the context of the call and that of the run`(_ kind: Runner) async throws {
    let comparisons = Log<String>()
    let fetch = kind(
      self.script.query().deduplicated { new, other in
        comparisons.append("\(new[NumberKey.self]) joins \(other[NumberKey.self])")
        return true
      }
    )
    let first = Task.immediate { try await fetch(OperationContext(number: 1)) }
    let run = try await self.script.next()
    let second = Task.immediate { try await fetch(OperationContext(number: 2)) }
    run.succeed(1)
    _ = try await (first.finished(), second.finished())
    expect(Set(comparisons.all), equals: ["2 joins 1"])
  }

  @Test
  func `A call whose run comes too late, because another began during the comparison, leaves nothing behind`()
    async throws
  {
    let duringComparison = Box<(@Sendable () -> Void)?>(nil)
    let third = Box<Task<Int, any Error>?>(nil)
    let runner = OperationRunner(
      operation: self.script.query().deduplicated { new, _ in
        if new[NumberKey.self] == 2 { duringComparison.replace(with: nil)?() }
        return false
      }
    )
    let first = Task.immediate { try await runner.run() }
    let run = try await self.script.next()
    self.script.enqueue(.value(3), .value(2))
    duringComparison.value = {
      third.value = Task.immediate { try await runner.run(in: OperationContext(number: 3)) }
      expect(self.script.runCount, equals: 2)
    }
    let released = Gate()
    let second = { () -> Task<Int, any Error> in
      var context = OperationContext(number: 2)
      context[CallbackKey.self] = ReleaseCallback { released.open() }
      return Task.immediate { [context] in try await runner.run(in: context) }
    }()
    try await expect(second.finished(), equals: 2)
    try await expect(third.value?.finished(), equals: 3)
    run.succeed(1)
    try await expect(first.finished(), equals: 1)
    try await released.wait()
  }

  @Test(arguments: Runner.allCases)
  func `Without a predicate contexts make no difference`(_ kind: Runner) async throws {
    let fetch = kind(self.script.query().deduplicated())
    let first = Task.immediate { try await fetch(OperationContext(number: 1)) }
    let run = try await self.script.next()
    let second = Task.immediate { try await fetch(OperationContext(number: 2)) }
    run.succeed(1)
    _ = try await (first.finished(), second.finished())
    expect(self.script.runCount, equals: 1)
  }

  @Test(arguments: Runner.allCases)
  func `Only calls that the operation considers the same share a run`(_ kind: Runner) async throws {
    let fetch = kind(ChoosyQuery(script: self.script).deduplicated())
    let callers = [1, 2, 1].map { number in
      Task.immediate { try await fetch(OperationContext(number: number)) }
    }
    try await self.script.runs(count: 2)
    for _ in 0..<2 {
      let run = try await self.script.next()
      run.succeed(run.context[NumberKey.self])
    }
    var values: [Int] = []
    for caller in callers { values.append(try await caller.finished()) }
    expect(values, equals: [1, 2, 1])
    expect(self.script.runCount, equals: 2)
  }
}

/// A query whose work depends on a number in its context.
private struct ChoosyQuery: QueryRequest {
  let script: IntScript

  var path: OperationPath { ["choosy"] }

  func isSameRun(in context: OperationContext, as other: OperationContext) -> Bool {
    context[NumberKey.self] == other[NumberKey.self]
  }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    try await self.script.run(in: context, with: continuation)
  }
}

private enum CallbackKey: OperationContext.Key {
  static var defaultValue: ReleaseCallback? { nil }
}
