#if SwiftOperationMetrics
  public import CoreMetrics
  internal import Synchronization

  /// What is measured of operations, by their names, in a metrics backend.
  ///
  /// All operations of one name share their metrics, which are made when the first of them is set up.
  public final class OperationMeters: Sendable {
    /// The meters in the metrics system of the process, which is asked when a name comes up for the first time.
    public static let shared = OperationMeters { MetricsSystem.factory }

    private let factory: @Sendable () -> any MetricsFactory
    private let meters = Mutex<[String: Meters]>([:])

    private init(_ factory: @escaping @Sendable () -> any MetricsFactory) {
      self.factory = factory
    }

    /// Creates meters in a backend of your own.
    ///
    /// Keep them: two of these in one backend make each metric twice.
    public convenience init(factory: any MetricsFactory) {
      self.init { factory }
    }

    /// The meters of the operations of a name.
    func meters(of name: String) -> Meters {
      if let known = self.meters.withLock({ $0[name] }) { return known }
      // The backend is foreign code. Who comes second drops what it has made, which the backend knows by its label.
      let made = Meters(name: name, factory: self.factory())
      return self.meters.withLock { meters in
        if let known = meters[name] { return known }
        meters[name] = made
        return made
      }
    }
  }
#endif
