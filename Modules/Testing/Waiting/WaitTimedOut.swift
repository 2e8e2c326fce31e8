public import OperationFoundation
internal import Testing

/// The error of a wait that has exceeded its limit.
public struct WaitTimedOut: Error, Hashable, Sendable, CustomStringConvertible {
  /// The expected event, and the state instead of it.
  public let what: String

  /// The limit that was exceeded.
  public let limit: Duration

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - what: The expected event, and the state instead of it.
  ///   - limit: The limit that was exceeded.
  public init(what: String, limit: Duration) {
    self.what = what
    self.limit = limit
  }

  /// The message of a failed test.
  public var description: String { "Waited \(self.limit) for \(self.what)." }

  /// Records the error as an issue of the running test.
  func record(at sourceLocation: SourceLocation) {
    Issue.record("\(self.description)", sourceLocation: sourceLocation)
  }
}

/// Records an exceeded time limit as an issue at the waiting line, and rethrows it.
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

extension WaitTimedOut: LocalizedError {
  public var errorDescription: String? { self.description }
}
