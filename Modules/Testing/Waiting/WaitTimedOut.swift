internal import Testing

/// A wait of a test has taken longer than its limit.
public struct WaitTimedOut: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was waited for, and what there was instead.
  public let what: String

  /// How long it was waited for.
  public let limit: Duration

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - what: What was waited for, and what there was instead.
  ///   - limit: How long it was waited for.
  public init(what: String, limit: Duration) {
    self.what = what
    self.limit = limit
  }

  /// The message of a failed test.
  public var description: String { "Waited \(self.limit) for \(self.what)." }

  /// Makes the error an issue of the test that is running.
  func record(at sourceLocation: SourceLocation) {
    Issue.record("\(self.description)", sourceLocation: sourceLocation)
  }
}

/// Makes a time limit that is exceeded an issue at the line that waits, and throws it on.
func recordingTimeOut<R>(
  at sourceLocation: SourceLocation,
  _ body: () async throws -> R
) async throws -> R {
  do {
    return try await body()
  } catch let error as WaitTimedOut {
    error.record(at: sourceLocation)
    throw error
  }
}
