package import OperationCore

/// Gets the password for each new connection to a server, such as a token that is valid for some minutes.
package struct PasswordSource: Sendable {
  /// Why there is no password: `the closure for its password` and what it has done.
  package struct Failure: Error {
    package let reason: String
  }

  private let source: @Sendable () async throws -> String
  private let deadlines: any DeadlineSource

  /// - Parameters:
  ///   - source: Returns the password.
  ///   - deadlines: The source of time limits.
  package init(_ source: @escaping @Sendable () async throws -> String, deadlines: any DeadlineSource) {
    self.source = source
    self.deadlines = deadlines
  }

  /// - Parameter limit: How long it may take.
  /// - Returns: The password.
  /// - Throws: A ``Failure`` if the source throws, or takes longer.
  package nonisolated(nonsending) func password(within limit: Duration) async throws(Failure) -> String {
    let outcome = AwaitedOutcome<Result<String, Failure>>()
    let task = Task.detached { [source] in
      do {
        outcome.decide(.success(try await source()))
      } catch {
        outcome.decide(.failure(Failure(reason: "the closure for its password threw \(ShownText.of(error))")))
      }
    }
    let timer = self.deadlines.schedule(after: limit) {
      outcome.decide(.failure(Failure(reason: "the closure for its password has not returned within \(limit)")))
    }
    defer {
      timer.cancel()
      task.cancel()
    }
    return try await outcome.value().get()
  }
}
