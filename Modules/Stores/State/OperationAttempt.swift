public import OperationFoundation

/// The current attempt of a run, as the state of its store shows it.
///
/// A modifier that tries again, such as a retry, reports it: see ``OperationContext/attemptFailed(with:nextAfter:)``.
public struct OperationAttempt: Sendable {
  /// The number of the attempt within its run: 1 for the first.
  public var index: Int

  /// The error of the last attempt that failed in this run; nil if none failed.
  ///
  /// While the run waits for the next attempt, it is the error of this attempt. Otherwise it is the error of an earlier
  /// one.
  public var lastFailure: (any Error)?

  /// When the next attempt begins; nil while this attempt runs, or if that date is unknown.
  public var nextBegins: Date?

  /// Creates an attempt.
  ///
  /// - Parameters:
  ///   - index: The number of the attempt, from 1.
  ///   - lastFailure: The error of the last attempt that failed.
  ///   - nextBegins: When the next attempt begins.
  public init(index: Int = 1, lastFailure: (any Error)? = nil, nextBegins: Date? = nil) {
    self.index = index
    self.lastFailure = lastFailure
    self.nextBegins = nextBegins
  }
}

extension OperationAttempt: CustomStringConvertible {
  /// The number, the last failure and the date of the next attempt: `attempt 2 after Timeout(), next at …`.
  public var description: String {
    let failure = self.lastFailure.map { " after \(ShownText.whole($0))" } ?? ""
    let next = self.nextBegins.map { ", next at \($0)" } ?? ""
    return "attempt \(self.index)\(failure)\(next)"
  }
}

extension OperationTask {
  /// The current attempt of the run; nil when nothing in the run tries again.
  ///
  /// A store updates it in the tasks of its state, through ``OperationState/updateFetchTask(_:)``. Other copies of the
  /// task keep their attempt.
  public var attempt: OperationAttempt? { self.context.run.shownAttempt }

  /// Whether the run is paused: it has begun, and waits until a specification holds.
  ///
  /// Like ``attempt``, it is updated in the tasks of the store's state only.
  public var isPaused: Bool { self.context.run.attempts?.pause != nil }
}

extension OperationContext.RunEntries {
  /// The attempt of the run as the state shows it.
  var shownAttempt: OperationAttempt? {
    if let attempt = self.attempts?.reported { return attempt }
    return self.makesAttempts ? OperationAttempt(index: self.attempts?.number ?? 1) : nil
  }
}

extension Array {
  /// The attempt of the last task that has one.
  package func newestAttempt<Value, Failure>() -> OperationAttempt?
  where Element == OperationTask<Value, Failure> {
    for task in self.reversed() {
      if let attempt = task.attempt { return attempt }
    }
    return nil
  }
}
