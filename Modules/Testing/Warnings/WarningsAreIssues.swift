internal import OperationCore
public import Testing

/// Records each warning of a test, and of the tasks that it creates, as an issue of the test, but for hints.
public struct WarningsAreIssues: TestTrait, SuiteTrait, TestScoping {
  /// Whether a trait of a suite also applies to its tests.
  public var isRecursive: Bool { true }

  /// Runs a test and records its warnings as issues.
  public func provideScope(
    for test: Test,
    testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await OperationWarning.withReporter { warning in
      if warning.severity == .hint { return }
      Issue.record("\(warning)", sourceLocation: test.sourceLocation)
    } operation: {
      try await function()
    }
  }
}

extension Trait where Self == WarningsAreIssues {
  /// Records each warning of the library as an issue of the test that causes it, but for hints.
  ///
  /// Use `expectWarning` for expected warnings.
  public static var warningsAreIssues: Self { WarningsAreIssues() }
}
