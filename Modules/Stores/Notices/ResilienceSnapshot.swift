/// The state of a limit, a breaker, a budget or the like at one moment, for logs, status pages and gauges.
///
/// Types that decide about runs return a snapshot, such as `ConcurrencyLimit.snapshot()`. Conform a snapshot of your
/// own to show it beside them:
///
/// ```swift
/// struct PoolSnapshot: OperationResilienceSnapshot {
///   let name: String
///   let connections: Int
///
///   var gauges: [String: Double] { ["pool.connections": Double(self.connections)] }
///   var description: String { "\(self.name): \(self.connections) connections" }
/// }
/// ```
public protocol OperationResilienceSnapshot: Sendable, Encodable, CustomStringConvertible {
  /// The name of the limit, breaker or budget, without user data; the name of its type if it has none.
  var name: String { get }

  /// The numbers for metrics, by names such as `limit.active`; empty by default.
  ///
  /// The names are a small, fixed set for each type, because metrics keep a series for each of them.
  var gauges: [String: Double] { get }
}

extension OperationResilienceSnapshot {
  public var gauges: [String: Double] { [:] }
}
