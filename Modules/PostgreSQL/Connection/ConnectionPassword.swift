#if SwiftOperationPostgreSQL
  internal import OperationCore

  /// Gets the password for each new connection, such as a token that is valid for some minutes.
  struct ConnectionPassword: Sendable {
    let source: @Sendable () async throws -> String
    let deadlines: any DeadlineSource

    /// - Parameters:
    ///   - name: What messages call the database.
    ///   - limit: How long it may take.
    /// - Returns: The password.
    /// - Throws: A ``PostgreSQLError``, with the error of the source.
    nonisolated(nonsending) func current(
      for name: ConnectionName,
      within limit: Duration
    ) async throws(PostgreSQLError) -> String {
      let outcome = AwaitedOutcome<Result<String, PostgreSQLError>>()
      let task = Task.detached { [source] in
        do {
          outcome.decide(.success(try await source()))
        } catch {
          outcome.decide(.failure(Self.failure("threw \(ShownText.of(error))", name)))
        }
      }
      let timer = self.deadlines.schedule(after: limit) {
        outcome.decide(.failure(Self.failure("has not returned within \(limit)", name)))
      }
      defer {
        timer.cancel()
        task.cancel()
      }
      return try await outcome.value().get()
    }

    private static func failure(_ what: String, _ name: ConnectionName) -> PostgreSQLError {
      PostgreSQLError(
        code: .unavailable,
        message: "\(name) cannot be reached: the closure for its password \(what). It is called again by itself."
      )
    }
  }
#endif
