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
    let timeline = ClientTimeline()
    let scope = ClientScope { timeline.follow($0) }
    let noting = IssueHandlingTrait.compactMapIssues { issue in
      timeline.noteFailure()
      return issue
    }
    do {
      try await noting.provideScope(for: test, testCase: testCase) {
        try await CurrentClient.withScope(scope) { try await function() }
      }
    } catch {
      timeline.attach(to: test)
      throw error
    }
    if timeline.hasFailed { timeline.attach(to: test) }
  }
}

extension Trait where Self == FreshClient {
  /// Gives each test, and the tasks that it creates, a new `OperationClient.current`.
  ///
  /// The client is created at its first use, with the defaults for tests of the module `Operation`. A test that fails has an
  /// attachment `operations.txt`: what happened in the client's stores, event by event.
  public static var freshClient: Self { FreshClient() }
}
