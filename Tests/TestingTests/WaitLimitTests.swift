import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .issuesAreExpected) struct WaitLimitTests {
  @Test func `The limit is five minutes without a trait`() async {
    // A detached task has none of the traits of this test.
    await expect(Task.detached { WaitLimit.current }.value, equals: .seconds(300))
  }

  @Test(.waitLimit(.zero)) func `The limit comes from a trait`() async throws {
    expect(WaitLimit.current, equals: .zero)
    let issues = await recordedIssues {
      await #expect(throws: WaitTimedOut.self) { try await Gate().wait() }
    }
    expect(issues, equals: ["Waited 0.0 seconds for a gate to be opened."])
    await WaitLimit.withValue(.seconds(1)) {
      expect(WaitLimit.current, equals: .seconds(1))
      await expect(Task { WaitLimit.current }.value, equals: .seconds(1))
    }
  }

  @Test func `A check waits for ten seconds without a trait`() async {
    @Sendable func limit(within limit: Duration? = nil) -> Duration {
      RuleReport("modifier", rule: "value", within: limit, at: #_sourceLocation).limit
    }
    await expect(Task.detached { limit() }.value, equals: .seconds(10))
    await expect(Task.detached { limit(within: .seconds(2)) }.value, equals: .seconds(2))
    await WaitLimit.withValue(.seconds(1)) { expect(limit(), equals: .seconds(1)) }
  }

  @Suite(.waitLimit(.seconds(3))) struct InASuite {
    @Test func `The limit of a suite reaches its tests`() {
      expect(WaitLimit.current, equals: .seconds(3))
    }

    @Test(.waitLimit(.seconds(2))) func `The limit of a test replaces that of its suite`() {
      expect(WaitLimit.current, equals: .seconds(2))
    }
  }

  @Test func `A time limit ends a task that hangs`() async throws {
    let (gate, isCancelled) = (Gate(), Gate())
    let issues = await recordedIssues {
      await #expect(throws: WaitTimedOut.self) {
        try await withTimeLimit("something that hangs", .milliseconds(1)) {
          await withTaskCancellationHandler {
            await gate.waitIgnoringCancellation()
          } onCancel: {
            isCancelled.open()
          }
        }
      }
    }
    expect(issues, equals: ["Waited 0.001 seconds for something that hangs."])
    try await isCancelled.wait()
    gate.open()
  }

  @Test func `A time limit passes on the value or the error`() async throws {
    try await expect(withTimeLimit("a value") { 1 }, equals: 1)
    await #expect(throws: CancellationError.self) {
      try await withTimeLimit("an error") { throw CancellationError() }
    }
  }

  @Test func `A cancelled caller does not wait for the limit`() async throws {
    let gate = Gate()
    let task = Task {
      try await withTimeLimit("something that hangs") { try await gate.wait() }
    }
    try await gate.arrivals(count: 1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }
}
