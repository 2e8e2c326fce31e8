public import OperationCore

/// Says why a caller got the last value in place of the outcome of its run, and how old that value was.
public struct OperationServedStale: Hashable, Sendable {
  /// Why a caller got the last value.
  @nonexhaustive(warn)
  public enum Reason: Hashable, Sendable, CustomStringConvertible {
    /// The run took longer than the caller waits.
    case slowRun
    /// The run failed.
    case failure
    /// The server permits to use the value while a run refreshes it.
    case revalidation

    /// The reason in lowercase words.
    public var description: String {
      switch self {
      case .slowRun: "slow run"
      case .failure: "failure"
      case .revalidation: "revalidation"
      }
    }
  }

  /// Why the caller got the last value.
  public let reason: Reason

  /// The age of the value when the caller got it, its age on arrival included.
  public let age: Duration

  /// Creates a description.
  public init(reason: Reason, age: Duration) {
    self.reason = reason
    self.age = age
  }
}

extension OperationContext {
  /// What a caller got in place of the outcome of its run; nil if each gets the outcome.
  ///
  /// It is there in the context of the event that the handler of that caller receives, in the context of the run from
  /// then on, and in the context of the event with the run's outcome.
  public var servedStale: OperationServedStale? {
    self[ServedStaleKey.self] ?? self.entryOfOutcome(ServedStaleKey.self)
  }

  mutating func setServedStale(_ served: OperationServedStale) {
    self[ServedStaleKey.self] = served
  }

  /// Tells the run with this context, and the event of its outcome, of a caller that has left.
  func addServedStaleToOutcome(_ served: OperationServedStale) {
    self.addToOutcome(served, for: ServedStaleKey.self)
  }

  private enum ServedStaleKey: Key {
    static let defaultValue: OperationServedStale? = nil
  }
}

extension OperationNotice.Name {
  /// A caller got the last value in place of the outcome of its run.
  ///
  /// The attributes are `freshness.reason` and `freshness.age`.
  public static let servedStale = Self("freshness.stale")

  /// A read has started a run behind it. The attribute `freshness.age` is the age of the value.
  public static let refreshedEarly = Self("freshness.early")

  /// A caller got the failure of an earlier run. The attribute `freshness.age` is the time since the failure.
  public static let cachedFailure = Self("freshness.failure")
}
