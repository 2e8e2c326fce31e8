import OperationCore
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .issuesAreExpected) struct WarningTests {
  private static func warn(_ code: OperationWarning.Code) {
    OperationWarning(code: code, message: "Something is wrong.").report()
  }

  @Test(.warningsAreIssues) func `Warnings become issues`() async {
    let issues = await recordedIssues {
      Self.warn(.taskCycle)
      await Task { Self.warn(.pathInUse) }.value
    }
    expect(issues, equals: ["taskCycle: Something is wrong.", "pathInUse: Something is wrong."])
  }

  @Suite(.warningsAreIssues) struct InASuite {
    @Test func `The trait of a suite reaches its tests`() async {
      let issues = await recordedIssues { WarningTests.warn(.taskCycle) }
      expect(issues, equals: ["taskCycle: Something is wrong."])
    }
  }

  @Test(.warningsAreIssues) func `An expected warning is no issue`() async throws {
    let value = expectWarning(.taskCycle) {
      Self.warn(.taskCycle)
      Self.warn(.taskCycle)
      return 1
    }
    expect(value, equals: 1)
    try await expectWarning(.taskCycle) {
      try await withTimeLimit("a warning") { await Task { Self.warn(.taskCycle) }.value }
    }
    #expect(throws: CancellationError.self) {
      try expectWarning(.taskCycle) {
        Self.warn(.taskCycle)
        throw CancellationError()
      }
    }
  }

  @Test func `A missing warning is an issue`() async {
    var issues = await recordedIssues { expectWarning(.taskCycle) {} }
    expect(issues, equals: ["Expected a warning of the kind 'taskCycle'. There was none."])
    let recorder = WarningRecorder()
    issues = await recordedIssues {
      recorder.recording {
        expectWarning(.taskCycle) { Self.warn(.pathInUse) }
      }
    }
    expect(issues, equals: ["Expected a warning of the kind 'taskCycle'. There were others: [pathInUse]."])
    expect(recorder.warnings.map(\.code), equals: [.pathInUse])
  }

  @Test func `Warnings are recorded`() async throws {
    let recorder = WarningRecorder()
    recorder.recording { Self.warn(.pathInUse) }
    let task = recorder.recording { Task { Self.warn(.taskCycle) } }
    let warnings = try await recorder.warnings(count: 2)
    expect(warnings.map(\.code), equals: [.pathInUse, .taskCycle])
    await task.value
    let issues = await recordedIssues {
      await #expect(throws: WaitTimedOut.self) { try await recorder.warnings(count: 3, within: .zero) }
    }
    expect(issues.count, equals: 1)
    let message = "at least 3 warnings; recorded so far: [pathInUse: Something is wrong.,"
    expect(issues.first?.contains(message), equals: true)
  }

  @Test func `A late yield is reported`() async throws {
    let script = OperationScript<Int, any Error>()
    let store = OperationStore.detached(query: script.query())
    let fetch = Task { try await store.fetch() }
    let run = try await script.next()
    run.succeed(1)
    try await expect(fetch.value, equals: 1)
    expectWarning(.yieldAfterReturn) { run.yield(2) }
    expect(store.currentValue, equals: 1)
  }
}
