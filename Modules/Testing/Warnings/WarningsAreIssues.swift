internal import OperationCore
public import Testing

/// Makes each ``/OperationCore/OperationWarning`` of a test, and of the tasks that it makes, an issue of the test.
public struct WarningsAreIssues: TestTrait, SuiteTrait, TestScoping {
  /// Whether the trait of a suite is handed on to the tests in it.
  public var isRecursive: Bool { true }

  /// Runs a test with its warnings made issues.
  public func provideScope(
    for test: Test,
    testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await OperationWarning.withReporter { warning in
      Issue.record("\(warning)", sourceLocation: test.sourceLocation)
    } operation: {
      try await function()
    }
  }
}

extension Trait where Self == WarningsAreIssues {
  /// Makes each warning of the library an issue of the test that causes it.
  ///
  /// A warning that is expected goes into `expectWarning`.
  public static var warningsAreIssues: Self { WarningsAreIssues() }
}
