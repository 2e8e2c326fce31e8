public import OperationCore

/// Decides when runs may begin: ``ConcurrencyLimit``, ``RateLimit``, ``AdaptiveLimit`` or your own.
///
/// `.limited(by:maximumWait:)` takes a permit before each run, and returns it afterwards.
public protocol OperationLimit: Sendable {
  /// The data that a limit keeps for a run that it has admitted.
  associatedtype Permit: Sendable

  /// Whether a permit is returned only when all work of its run has ended, also what a timeout inside has left behind.
  ///
  /// True by default: a body that ignores its cancellation uses what the limit protects until it ends. False for limits that
  /// count how many runs begin, or what became of them.
  static var countsWork: Bool { get }

  /// Takes a permit at once; nil if there is none or earlier runs wait for one.
  func takePermit(in context: OperationContext) -> Permit?

  /// Waits for a permit, after the runs that wait already.
  ///
  /// - Parameters:
  ///   - context: The context of the run.
  ///   - maximumWait: The longest time to wait; nil to wait for as long as it takes.
  /// - Returns: The permit, which ``returnPermit(_:after:in:)`` takes back.
  /// - Throws: ``OperationRejected``; `CancellationError` at once when the task is cancelled.
  nonisolated(nonsending) func waitForPermit(
    in context: OperationContext,
    maximumWait: OperationDuration?
  ) async throws -> Permit

  /// Returns a permit. It is called exactly once for each permit.
  ///
  /// - Parameters:
  ///   - permit: The permit.
  ///   - use: The outcome of the run.
  ///   - context: The context of the run.
  func returnPermit(_ permit: Permit, after use: OperationPermitUse, in context: OperationContext)
}

extension OperationLimit {
  public static var countsWork: Bool { true }
}

/// The outcome of a run that a limit has admitted.
@nonexhaustive(warn)
public enum OperationPermitUse: Sendable {
  /// The run has returned a value.
  case succeeded

  /// The run has thrown an error.
  case failed(any Error)

  /// The run was cancelled.
  case cancelled

  /// The run has not begun: it was cancelled before, or another limit or breaker inside of this one has rejected it.
  case unused
}
