public import Testing

/// Waits for `body`, up to a limit: a test that would hang fails instead.
///
/// `body` runs in its own task. When the limit is exceeded or the caller is cancelled, that task is cancelled and no
/// longer awaited.
///
/// - Parameters:
///   - what: A description for the message, after "Waited 60 seconds for".
///   - limit: The longest time to wait; nil for ``WaitLimit/current``.
///   - sourceLocation: Where an issue is reported.
///   - body: The code to wait for.
/// - Returns: The result of `body`.
/// - Throws: ``WaitTimedOut``, which is also an issue of the test; the error of `body`; or `CancellationError`.
public func withTimeLimit<R: Sendable>(
  _ what: String,
  _ limit: Duration? = nil,
  sourceLocation: SourceLocation = #_sourceLocation,
  _ body: @escaping @Sendable () async throws -> R
) async throws -> R {
  let result = try await recordingTimeOut(at: sourceLocation) {
    try await outcome(of: what, within: limit ?? WaitLimit.current, body)
  }
  return try result.get()
}

/// The result of `body`. Throws when the limit is exceeded, but records no issue.
package func outcome<R: Sendable>(
  of what: String,
  within limit: Duration,
  _ body: @escaping @Sendable () async throws -> R
) async throws -> Result<R, any Error> {
  let result = AwaitableState<Result<R, any Error>?>(nil)
  let task = Task.immediate {
    let outcome: Result<R, any Error>
    do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
    result.change { $0 = outcome }
  }
  do {
    return try await result.wait(.cancellable(limit), for: { _ in what }, until: { $0 })
  } catch {
    task.cancel()
    throw error
  }
}
