internal import OperationCore
public import Testing

/// Gives each test its own current client, so that tests share no stores.
public struct FreshClient: TestTrait, SuiteTrait, TestScoping {
  /// Whether a trait of a suite also applies to its tests.
  public var isRecursive: Bool { true }

  /// Runs a test, or a case of it, with a new client.
  public func provideScope(
    for test: Test,
    testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await CurrentClient.$scope.withValue(ClientScope()) {
      try await function()
    }
  }
}

extension Trait where Self == FreshClient {
  /// Gives each test, and the tasks that it creates, a new `OperationClient.current`.
  ///
  /// The client is created at its first use, with the defaults for tests of the module `Operation`.
  public static var freshClient: Self { FreshClient() }
}
