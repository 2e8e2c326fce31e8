import OperationCore
import OperationFallback
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct FallbackCancellationTests {
  @Test func `A cancelled run does not fall back`() async throws {
    let script = IntScript()
    let operation = script.operation().fallback(7)
    let task = Task.immediate { try await OperationRunner(operation: operation).run(isolation: nil) }
    _ = try await script.next()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func `A cancelled run whose operation throws another error does not fall back either`() async throws {
    let script = IntScript(endsOnCancellation: false)
    let operation = script.operation().fallback(7)
    let task = Task.immediate { try await OperationRunner(operation: operation).run(isolation: nil) }
    let run = try await script.next()
    task.cancel()
    run.fail(Refused(code: 4))
    await #expect(throws: Refused(code: 4)) { try await task.value }
  }

  @Test func `A cancellation that the operation throws itself does not fall back`() async {
    let script = IntScript(default: .error(CancellationError()))
    let operation = script.operation().fallback(7)
    await #expect(throws: CancellationError.self) { try await OperationRunner(operation: operation).run() }
  }

  @Test func `A cancellation reaches the operation that is fallen back to`() async throws {
    let script = IntScript(default: .error(Refused()))
    let other = IntScript()
    let operation = script.operation().fallback(to: other.operation())
    let task = Task.immediate { try await OperationRunner(operation: operation).run(isolation: nil) }
    let run = try await other.next()
    task.cancel()
    try await run.cancelled()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await other.noActiveRuns()
  }
}
