import OperationTesting
import Testing

@Suite struct WaitLimitTests {
  @Test func isAMinuteUnlessATraitSaysOtherwise() {
    #expect(WaitLimit.current == .seconds(60))
  }

  @Test(.waitLimit(.zero)) func comesFromATrait() async throws {
    #expect(WaitLimit.current == .zero)
    await withKnownIssue { try await Gate().wait() }
    await WaitLimit.withValue(.seconds(1)) {
      #expect(WaitLimit.current == .seconds(1))
      #expect(await Task { WaitLimit.current }.value == .seconds(1))
    }
  }

  @Suite(.waitLimit(.seconds(3))) struct InASuite {
    @Test func reachesTheTests() {
      #expect(WaitLimit.current == .seconds(3))
    }

    @Test(.waitLimit(.seconds(2))) func givesWayToTheirOwn() {
      #expect(WaitLimit.current == .seconds(2))
    }
  }

  @Test func aTimeLimitEndsATaskThatHangs() async throws {
    let (gate, isCancelled) = (Gate(), Gate())
    try await withKnownIssue {
      try await withTimeLimit("something that hangs", .milliseconds(1)) {
        await withTaskCancellationHandler {
          await gate.waitIgnoringCancellation()
        } onCancel: {
          isCancelled.open()
        }
      }
    } matching: { issue in
      "\(issue)".contains("Waited 0.001 seconds for something that hangs.")
    }
    try await isCancelled.wait()
    gate.open()
  }

  @Test func aTimeLimitHandsOnWhatComes() async throws {
    #expect(try await withTimeLimit("a value") { 1 } == 1)
    await #expect(throws: CancellationError.self) {
      try await withTimeLimit("an error") { throw CancellationError() }
    }
  }

  @Test func aCancelledCallerDoesNotWaitForTheLimit() async throws {
    let gate = Gate()
    let task = Task {
      try await withTimeLimit("something that hangs") { try await gate.wait() }
    }
    try await gate.arrivals(count: 1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }
}
