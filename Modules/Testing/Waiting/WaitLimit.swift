public import Testing

/// How long the waits of this module wait where they name no limit of their own.
public enum WaitLimit {
  @TaskLocal private static var taskLimit: Duration?

  /// The limit in the current task: a minute unless ``Testing/Trait/waitLimit(_:)`` says otherwise.
  public static var current: Duration { self.taskLimit ?? .seconds(60) }

  /// Runs `operation`, and the tasks it makes, with another limit.
  nonisolated(nonsending)
    public static func withValue<R>(
      _ limit: Duration,
      operation: nonisolated(nonsending) () async throws -> R
    ) async rethrows -> R
  {
    try await self.$taskLimit.withValue(limit, operation: operation)
  }
}

/// Gives the waits of a test another limit.
public struct WaitLimitTrait: TestTrait, SuiteTrait, TestScoping {
  fileprivate let limit: Duration

  /// Whether the trait of a suite is handed on to the tests in it.
  public var isRecursive: Bool { true }

  /// Runs a test with the limit.
  public func provideScope(
    for test: Test,
    testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await WaitLimit.withValue(self.limit) { try await function() }
  }
}

extension Trait where Self == WaitLimitTrait {
  /// Gives the waits of the tests `limit` instead of a minute.
  public static func waitLimit(_ limit: Duration) -> Self { WaitLimitTrait(limit: limit) }
}
