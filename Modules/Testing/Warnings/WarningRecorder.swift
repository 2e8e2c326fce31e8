public import OperationCore
public import Testing

/// Writes down the warnings of a piece of code.
///
/// ```swift
/// let recorder = WarningRecorder()
/// await recorder.recording { await somethingDoubtful() }
/// #expect(recorder.warnings.map(\.code) == [.yieldAfterReturn])
/// ```
public final class WarningRecorder: Sendable {
  private let room = WaitingRoom<[OperationWarning]>([])

  /// Creates a recorder.
  public init() {}

  /// The warnings that have been recorded, in order.
  public var warnings: [OperationWarning] { self.room.state }

  /// Writes down the warnings that it is given.
  public var reporter: OperationWarning.Reporter {
    { warning in self.room.change { $0.append(warning) } }
  }

  /// Runs `operation`, and records its warnings and those of the tasks it makes.
  ///
  /// Nobody else hears of them.
  public func recording<R, E: Error>(_ operation: () throws(E) -> R) throws(E) -> R {
    try OperationWarning.withReporter(self.reporter, operation: operation)
  }

  /// Runs `operation`, and records its warnings and those of the tasks it makes.
  ///
  /// Nobody else hears of them.
  nonisolated(nonsending)
    public func recording<R, E: Error>(
      _ operation: nonisolated(nonsending) () async throws(E) -> R
    ) async throws(E) -> R
  {
    try await OperationWarning.withReporter(self.reporter, operation: operation)
  }

  /// Waits until at least `count` warnings have been recorded, and returns all that have.
  ///
  /// - Parameters:
  ///   - count: How many.
  ///   - limit: How long to wait; nil for ``WaitLimit/current``.
  ///   - sourceLocation: Where an issue is reported.
  /// - Throws: ``WaitTimedOut``, which is an issue of the test as well, or `CancellationError`.
  @discardableResult
  public func warnings(
    count: Int,
    within limit: Duration? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> [OperationWarning] {
    try await recordingTimeOut(at: sourceLocation) {
      try await self.room.wait(.cancellable(limit ?? WaitLimit.current)) { warnings in
        "at least \(count) warnings; recorded so far: \(warnings)"
      } until: { warnings in
        warnings.count >= count ? warnings : nil
      }
    }
  }
}
