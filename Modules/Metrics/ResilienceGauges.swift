#if SwiftOperationMetrics
  internal import CoreMetrics
  public import OperationCore
  internal import Synchronization

  extension OperationMeters {
    /// Shows the numbers of limits, breakers, budgets and the like at this moment.
    ///
    /// Each number of ``/OperationCore/OperationResilienceSnapshot/gauges`` is a meter `operation.<number>` with the
    /// dimension `name`, the name of what the snapshot shows. Two objects with the same name share the meters, which show
    /// the later one. At most 100 names have meters of their own; further ones are shown as `other`.
    ///
    /// - Parameter snapshots: The snapshots.
    public func show(_ snapshots: [any OperationResilienceSnapshot]) {
      for snapshot in snapshots { self.gauges.show(snapshot) }
    }

    /// Shows the numbers of limits, breakers, budgets and the like now and then. Returns when the task is cancelled.
    ///
    /// ```swift
    /// await OperationMeters.shared.show(every: .seconds(10)) { [limit.snapshot(), breaker.snapshot()] }
    /// ```
    ///
    /// The runs that they decide about pay nothing for it. Their changes are notices, which are counted in any case.
    ///
    /// - Parameters:
    ///   - interval: The time between two readings. Less than a millisecond is reported and counts as ten seconds.
    ///   - context: The context whose deadlines give the time.
    ///   - snapshots: Returns the snapshots, called in the task.
    public nonisolated(nonsending) func show(
      every interval: OperationDuration = .seconds(10),
      in context: OperationContext = OperationContext(),
      _ snapshots: @Sendable () -> [any OperationResilienceSnapshot]
    ) async {
      var interval = interval
      if interval < .milliseconds(1) {
        OperationWarning(
          code: .invalidArgument,
          message: "Numbers cannot be shown every \(interval). Ten seconds are used; pass a millisecond or more."
        ).report()
        interval = .seconds(10)
      }
      while !Task.isCancelled {
        self.show(snapshots())
        // Nothing but a cancellation ends the sleep early.
        try? await context.operationDeadlines.sleep(for: interval.clampedForClock)
      }
    }
  }

  /// The meters of snapshots, by number and name. They are created with the first snapshot of a name.
  final class ResilienceGauges: Sendable {
    /// The name for snapshots above the maximum number of names.
    static let otherName = "other"
    /// The maximum number of names, because a backend keeps a series for each.
    static let maximumNames = 100

    /// By name, then by number.
    private let meters = Mutex<[String: [String: Meter]]>([:])
    private let factory: @Sendable () -> any MetricsFactory

    init(_ factory: @escaping @Sendable () -> any MetricsFactory) {
      self.factory = factory
    }

    func show(_ snapshot: any OperationResilienceSnapshot) {
      let name = snapshot.name
      for (gauge, value) in snapshot.gauges { self.meter(gauge, of: name).set(value) }
    }

    private func meter(_ gauge: String, of name: String) -> Meter {
      let (known, name) = self.meters.withLock { meters in
        let name = meters.count < Self.maximumNames || meters[name] != nil ? name : Self.otherName
        return (meters[name]?[gauge], name)
      }
      if let known { return known }
      // The backend is user code, so no lock is held. If two callers create a meter at once, the second one is discarded.
      let made = Meter(label: "operation.\(gauge)", dimensions: [("name", name)], factory: self.factory())
      return self.meters.withLock { meters in
        if let known = meters[name]?[gauge] { return known }
        meters[name, default: [:]][gauge] = made
        return made
      }
    }
  }
#endif
