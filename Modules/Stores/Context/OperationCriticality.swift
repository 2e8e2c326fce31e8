/// How much a run matters when there is not enough capacity for all of them.
///
/// ```swift
/// context.operationCriticality = .sheddable
/// ```
///
/// If there is no capacity for all waiting runs, a limit first admits runs that matter more. If its queue is full, it
/// rejects runs that matter less. The level is no priority of a task: it decides which run is served, and not how fast.
///
/// The levels come from *Site Reliability Engineering*, chapter 21, "Handling Overload".
public enum OperationCriticality: UInt8, Sendable, Hashable, Comparable, CaseIterable, Codable {
  /// Partial or whole unavailability is expected, such as for a prefetch.
  case sheddable = 0

  /// Partial unavailability is expected, such as for a batch job that tries again later.
  case sheddablePlus = 1

  /// A user sees that the run has failed; the default.
  case critical = 2

  /// A user is hindered when the run fails, such as at a sign-in.
  case criticalPlus = 3

  public static func < (lhs: OperationCriticality, rhs: OperationCriticality) -> Bool {
    lhs.rawValue < rhs.rawValue
  }
}

extension OperationCriticality: CustomStringConvertible {
  /// The level as the book writes it: `SHEDDABLE`, `SHEDDABLE_PLUS`, `CRITICAL` or `CRITICAL_PLUS`.
  public var description: String {
    switch self {
    case .sheddable: "SHEDDABLE"
    case .sheddablePlus: "SHEDDABLE_PLUS"
    case .critical: "CRITICAL"
    case .criticalPlus: "CRITICAL_PLUS"
    }
  }
}

extension OperationContext {
  /// How much the run matters when there is not enough capacity for all; ``OperationCriticality/critical`` by default.
  public var operationCriticality: OperationCriticality {
    get { self[CriticalityKey.self] }
    set { self[CriticalityKey.self] = newValue }
  }

  private enum CriticalityKey: Key {
    static let defaultValue = OperationCriticality.critical
  }
}

extension OperationRequest {
  /// Sets how much the runs of the operation matter when there is not enough capacity for all.
  ///
  /// If the operation itself sets the entry, the operation's level applies, as for other entries of the context.
  ///
  /// - Parameter criticality: The level.
  /// - Returns: The operation with the level in its context.
  public func criticality(_ criticality: OperationCriticality) -> ContextModifiedOperation<Self> {
    self.context { $0.operationCriticality = criticality }.written(".criticality(\(criticality))")
  }
}
