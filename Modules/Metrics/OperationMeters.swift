#if SwiftOperationMetrics
  public import CoreMetrics
  internal import Synchronization

  /// The metrics of operations in a metrics backend, grouped by the names of the operations.
  ///
  /// Operations with the same name share their metrics, which are created when the first of them is set up.
  public final class OperationMeters: Sendable {
    /// The meters of the process's metrics system, which is first used when a metric is created.
    public static let shared = OperationMeters { MetricsSystem.factory }

    private let factory: @Sendable () -> any MetricsFactory
    private let meters = Mutex<[String: Meters]>([:])
    private let notices: NoticeMeters
    private let names = OperationNames()
    /// The meters of limits, breakers, budgets and the like.
    let gauges: ResilienceGauges

    /// Counts the notices outside of measured runs.
    let unmeasuredNotices: NoticeCount

    private init(_ factory: @escaping @Sendable () -> any MetricsFactory) {
      self.factory = factory
      self.notices = NoticeMeters(factory, self.names)
      self.gauges = ResilienceGauges(factory)
      self.unmeasuredNotices = NoticeCount(operation: nil, self.notices)
    }

    /// Creates meters in a backend of your own.
    ///
    /// Keep and share them: a second instance for the same backend creates each metric again.
    public convenience init(factory: any MetricsFactory) {
      self.init { factory }
    }

    /// The metrics of the operations with a name.
    func meters(of operationName: String) -> Meters {
      if let known = self.meters.withLock({ $0[operationName] }) { return known }
      let name = self.names.name(operationName)
      if name != operationName, let known = self.meters.withLock({ $0[name] }) { return known }
      // The backend is user code, so no lock is held. If two callers create the metrics at once, the second one's are
      // discarded.
      let made = Meters(name: name, factory: self.factory(), notices: self.notices)
      return self.meters.withLock { meters in
        if let known = meters[name] { return known }
        meters[name] = made
        return made
      }
    }
  }
#endif
