public import Testing

/// Waits for `body`, but no longer than a limit: a test that would hang fails instead.
///
/// `body` runs in a task of its own, which is cancelled, and no longer awaited, when the limit or the cancellation of the
/// caller comes first.
///
/// - Parameters:
///   - what: What is waited for, for the message.
///   - limit: How long to wait; nil for ``WaitLimit/current``.
///   - sourceLocation: Where an issue is reported.
///   - body: What may take no longer.
/// - Throws: ``WaitTimedOut``, which is an issue of the test as well; what `body` throws; or `CancellationError`.
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

/// What comes of `body`, unless the limit comes first, which makes no issue.
func outcome<R: Sendable>(
  of what: String,
  within limit: Duration,
  _ body: @escaping @Sendable () async throws -> R
) async throws -> Result<R, any Error> {
  let room = WaitingRoom<Result<R, any Error>?>(nil)
  let task = Task.immediate {
    let outcome: Result<R, any Error>
    do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
    room.change { $0 = outcome }
  }
  do {
    return try await room.wait(.cancellable(limit), for: { _ in what }, until: { $0 })
  } catch {
    task.cancel()
    throw error
  }
}
