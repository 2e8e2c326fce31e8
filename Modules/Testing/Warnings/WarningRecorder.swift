public import OperationCore
public import Testing

/// Records the warnings of a piece of code.
///
/// ```swift
/// let recorder = WarningRecorder()
/// await recorder.recording { await somethingDoubtful() }
/// #expect(recorder.warnings.map(\.code) == [.yieldAfterReturn])
/// ```
public final class WarningRecorder: Sendable {
  private let recorded = AwaitableState<[OperationWarning]>([])

  /// Creates a recorder.
  public init() {}

  /// The recorded warnings, in order.
  public var warnings: [OperationWarning] { self.recorded.current }

  /// A reporter that records warnings.
  public var reporter: OperationWarning.Reporter {
    { warning in self.recorded.change { $0.append(warning) } }
  }

  /// Runs `operation`, and records its warnings and the warnings of tasks that it creates.
  ///
  /// The warnings are not reported elsewhere.
  public func recording<R, E: Error>(_ operation: () throws(E) -> R) throws(E) -> R {
    try OperationWarning.withReporter(self.reporter, operation: operation)
  }

  /// Runs `operation`, and records its warnings and the warnings of tasks that it creates.
  ///
  /// The warnings are not reported elsewhere.
  nonisolated(nonsending)
    public func recording<R, E: Error>(
      _ operation: nonisolated(nonsending) () async throws(E) -> R
    ) async throws(E) -> R
  {
    try await OperationWarning.withReporter(self.reporter, operation: operation)
  }

  /// Waits until at least `count` warnings have been recorded.
  ///
  /// - Parameters:
  ///   - count: The number of warnings.
  ///   - limit: The longest time to wait; nil for ``WaitLimit/current``.
  ///   - sourceLocation: Where an issue is reported.
  /// - Returns: All recorded warnings.
  /// - Throws: ``WaitTimedOut``, which is also an issue of the test, or `CancellationError`.
  @discardableResult
  public func warnings(
    count: Int,
    within limit: Duration? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> [OperationWarning] {
    try await recordingTimeOut(at: sourceLocation) {
      try await self.recorded.wait(.cancellable(limit ?? WaitLimit.current)) { warnings in
        "at least \(count) warnings; recorded so far: \(warnings)"
      } until: { warnings in
        warnings.count >= count ? warnings : nil
      }
    }
  }
}
