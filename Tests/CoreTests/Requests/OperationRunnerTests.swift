import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// `OperationRunner`: runs an operation whose state is not kept.
@Suite(.bounded, .warningsAreIssues)
struct OperationRunnerTests {
  private let script = IntScript()

  @Test
  func `It returns what the operation returns and throws what it throws`() async throws {
    let runner = OperationRunner(operation: self.script.operation())
    self.script.enqueue(.value(1), .error(Refused(code: 3)))
    try await expect(runner.run(), equals: 1)
    await #expect(throws: Refused(code: 3)) { try await runner.run() }
  }

  @Test
  func `The error has the type of the operation's`() async {
    let script = OperationScript<Int, Refused>(default: .error(Refused(code: 1)))
    let runner = OperationRunner(operation: script.operation())
    do throws(Refused) {
      try await runner.run()
    } catch {
      expect(error.code, equals: 1)
    }
  }

  @Test
  func `The operation sets up its context once, over the initial one`() async throws {
    var initial = OperationContext()
    initial[NumberKey.self] = 1
    let operation = self.script.operation().context { $0[NumberKey.self] += 10 }
    let runner = OperationRunner(operation: operation, initialContext: initial)
    self.script.enqueue(.value(1), .value(2))
    try await runner.run()
    try await runner.run()
    expect(self.script.setupCount, equals: 1)
    expect(runner.context[NumberKey.self], equals: 11)
  }

  @Test
  func `Entries of a call replace those of the runner for that run`() async throws {
    let runner = OperationRunner(operation: self.script.operation().context { $0[NumberKey.self] = 1 })
    var overlay = OperationContext()
    overlay[NumberKey.self] = 2
    let result = Task { [overlay] in try await runner.run(in: overlay) }
    let run = try await self.script.next()
    expect(run.context[NumberKey.self], equals: 2)
    #expect(run.context.operationRunningTaskIdentifier != nil)
    #expect(run.context.runningOperationStore == nil)
    run.succeed(1)
    _ = try await result.finished()
    expect(runner.context[NumberKey.self], equals: 1)
  }

  @Test
  func `A cancelled caller cancels the run`() async throws {
    let runner = OperationRunner(operation: self.script.operation())
    let result = Task { try await runner.run() }
    let run = try await self.script.next()
    result.cancel()
    try await run.cancelled()
    await #expect(throws: CancellationError.self) { try await result.finished() }
  }

  @Test
  func `Runs at once do not get in each other's way`() async throws {
    let runner = OperationRunner(operation: self.script.operation())
    let results = (0..<3).map { _ in Task { try await runner.run() } }
    var identifiers: Set<OperationTaskIdentifier?> = []
    for number in 0..<3 {
      let run = try await self.script.next()
      identifiers.insert(run.context.operationRunningTaskIdentifier)
      run.succeed(number)
    }
    expect(identifiers.count, equals: 3)
    var sum = 0
    for result in results { sum += try await result.finished() }
    expect(sum, equals: 3)
  }

  @Test @MainActor
  func `It runs on its caller's actor, or on the one that is named`() async throws {
    let runner = OperationRunner(operation: IsolationOperation())
    try await expect(runner.run(), equals: ObjectIdentifier(MainActor.shared))
    let other = Other()
    try await expect(runner.run(isolation: other), equals: ObjectIdentifier(other))
    try await expect(runner.run(isolation: nil), equals: nil)
    try await expect(other.run(runner), equals: ObjectIdentifier(other))
  }
}

/// Tells which actor it runs on.
private struct IsolationOperation: OperationRequest, Sendable {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<ObjectIdentifier?, any Error>
  ) async throws -> ObjectIdentifier? {
    isolation?.assertIsolated()
    return isolation.map { ObjectIdentifier($0) }
  }
}

private actor Other {
  func run(_ runner: OperationRunner<IsolationOperation>) async throws -> ObjectIdentifier? {
    try await runner.run()
  }
}
