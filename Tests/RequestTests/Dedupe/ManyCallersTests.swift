import OperationCore
import OperationDedupe
import OperationTesting
import TestFixtures
import Testing

/// Ten thousand callers on one run.
@Suite(.bounded, .warningsAreIssues)
struct ManyCallersTests {
  private let script = IntScript()

  @Test(arguments: Runner.allCases)
  func `One run returns its value and its yields to all callers`(_ kind: Runner) async throws {
    let fetch = kind(self.script.query().deduplicated())
    let callers = (0..<10_000).map { _ in Task.immediate { try await fetch(nil) } }
    let run = try await self.script.next()
    for number in 0..<10 { run.yield(number) }
    run.succeed(42)
    var sum = 0
    for caller in callers { sum += try await caller.finished() }
    expect(sum, equals: 420_000)
    expect(self.script.runCount, equals: 1)
  }

  @Test(arguments: Runner.allCases)
  func `Half of the callers leave at once, and the others get the value`(_ kind: Runner) async throws {
    let fetch = kind(self.script.query().deduplicated())
    let callers = (0..<10_000).map { _ in Task.immediate { try await fetch(nil) } }
    let run = try await self.script.next()
    for index in stride(from: 0, to: 10_000, by: 2) { callers[index].cancel() }
    var leavers = 0
    for index in stride(from: 0, to: 10_000, by: 2) {
      if case .failure(let error) = await callers[index].result, error is CancellationError { leavers += 1 }
    }
    expect(leavers, equals: 5_000)
    #expect(!run.isCancelled)
    run.succeed(1)
    var sum = 0
    for index in stride(from: 1, to: 10_000, by: 2) { sum += try await callers[index].value }
    expect(sum, equals: 5_000)
  }

  @Test(arguments: Runner.allCases)
  func `The run is cancelled when all callers have left, in any order`(_ kind: Runner) async throws {
    let fetch = kind(self.script.query().deduplicated())
    let callers = (0..<10_000).map { _ in Task.immediate { try await fetch(nil) } }
    let run = try await self.script.next()
    for index in 0..<10_000 { callers[(index * 7_919) % 10_000].cancel() }
    try await run.cancelled()
    for caller in callers { await #expect(throws: CancellationError.self) { try await caller.value } }
  }

  @Test(arguments: Runner.allCases)
  func `Callers on many threads share few runs`(_ kind: Runner) async throws {
    let script = IntScript(default: .value(1))
    let fetch = kind(script.query().deduplicated())
    let sum = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<1_000 { group.addTask { try await fetch(nil) } }
      return try await group.reduce(0, +)
    }
    expect(sum, equals: 1_000)
  }
}
