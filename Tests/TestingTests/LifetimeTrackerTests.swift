import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .issuesAreExpected) struct LifetimeTrackerTests {
  let lifetimes = LifetimeTracker()

  @Test func `A tracker counts live objects`() async throws {
    expect(lifetimes.aliveCount, equals: 0)
    var first: LifetimeTracker.Token? = lifetimes.token()
    let gate = Gate()
    let task = Task { [token = lifetimes.token()] in
      try await gate.wait()
      token.touch()
    }
    expect(lifetimes.aliveCount, equals: 2)
    first?.touch()
    first = nil
    expect(lifetimes.aliveCount, equals: 1)
    gate.open()
    try await task.value
    try await lifetimes.noneAlive()
  }

  @Test func `A wait that times out has a message`() async throws {
    let token = lifetimes.token()
    let issues = await recordedIssues {
      await #expect(throws: WaitTimedOut.self) { try await lifetimes.noneAlive(within: .zero) }
    }
    expect(issues, equals: ["Waited 0.0 seconds for all counted objects to be released; 1 are alive."])
    token.touch()
  }
}
