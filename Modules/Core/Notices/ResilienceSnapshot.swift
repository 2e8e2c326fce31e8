/// The state of a limit, a breaker, a budget or the like at one moment, for logs, status pages and gauges.
///
/// The types that decide about runs return one, such as `ConcurrencyLimit.snapshot()`. A type of your own conforms to be shown
/// beside them:
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
  /// The name of what the snapshot shows, without user data; the name of its type where it has none.
  var name: String { get }

  /// The numbers for metrics, by names such as `limit.active`; empty by default.
  ///
  /// The names are a small, fixed set for each type, because metrics keep a series for each of them.
  var gauges: [String: Double] { get }
}

extension OperationResilienceSnapshot {
  public var gauges: [String: Double] { [:] }
}
