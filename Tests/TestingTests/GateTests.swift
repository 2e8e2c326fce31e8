import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .issuesAreExpected) struct GateTests {
  let gate = Gate()

  @Test func `A gate holds tasks until it opens`() async throws {
    let tasks = (0..<100).map { number in
      Task {
        try await gate.wait()
        return number
      }
    }
    try await gate.arrivals(count: 100)
    #expect(!gate.isOpen)
    gate.open()
    for (number, task) in tasks.enumerated() { try await expect(task.value, equals: number) }
    #expect(gate.isOpen)
    expect(gate.arrivalCount, equals: 100)
    try await gate.wait()
    expect(gate.arrivalCount, equals: 101)
  }

  @Test func `A cancelled task leaves at once`() async throws {
    let task = Task { try await gate.wait() }
    try await gate.arrivals(count: 1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    let cancelledBefore = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await gate.wait()
    }
    await #expect(throws: CancellationError.self) { try await cancelledBefore.value }
    expect(gate.arrivalCount, equals: 2)
  }

  @Test func `Cancellation can be ignored`() async throws {
    let task = Task {
      await gate.waitIgnoringCancellation()
      return Task.isCancelled
    }
    try await gate.arrivals(count: 1)
    task.cancel()
    gate.open()
    #expect(await task.value)
  }

  @Test func `A wait that times out has a message`() async throws {
    var issues = await recordedIssues {
      await #expect(throws: WaitTimedOut.self) { try await gate.wait(within: .zero) }
    }
    expect(issues, equals: ["Waited 0.0 seconds for a gate to be opened."])
    issues = await recordedIssues { await gate.waitIgnoringCancellation(within: .milliseconds(1)) }
    expect(issues, equals: ["Waited 0.001 seconds for a gate to be opened."])
    issues = await recordedIssues {
      await #expect(throws: WaitTimedOut.self) { try await gate.arrivals(count: 3, within: .zero) }
    }
    expect(issues, equals: ["Waited 0.0 seconds for at least 3 tasks to arrive at a gate; 2 have arrived."])
  }

  @Test func `A wait that times out throws`() async {
    let error = WaitTimedOut(what: "a gate to be opened", limit: .zero)
    let issues = await recordedIssues {
      await #expect(throws: error) { try await gate.wait(within: .zero) }
    }
    expect(issues, equals: [error.description])
  }
}
