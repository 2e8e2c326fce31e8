public import Testing

/// The default time limit for the waits of this module.
public enum WaitLimit {
  @TaskLocal private static var taskLimit: Duration?

  /// The limit that is set in the current task; nil if none is.
  static var explicit: Duration? { self.taskLimit }

  /// The limit in the current task: five minutes unless ``Testing/Trait/waitLimit(_:)`` is set.
  public static var current: Duration { self.taskLimit ?? .seconds(300) }

  /// Runs `operation`, and the tasks that it creates, with another limit.
  nonisolated(nonsending)
    public static func withValue<R>(
      _ limit: Duration,
      operation: nonisolated(nonsending) () async throws -> R
    ) async rethrows -> R
  {
    try await self.$taskLimit.withValue(limit, operation: operation)
  }
}

/// Sets the time limit for the waits of a test.
public struct WaitLimitTrait: TestTrait, SuiteTrait, TestScoping {
  fileprivate let limit: Duration

  /// Whether a trait of a suite also applies to its tests.
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
  /// Sets the limit for the waits of the tests, instead of five minutes.
  public static func waitLimit(_ limit: Duration) -> Self { WaitLimitTrait(limit: limit) }
}
