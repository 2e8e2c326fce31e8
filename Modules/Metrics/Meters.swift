#if SwiftOperationMetrics
  internal import CoreMetrics
  internal import OperationCore

  /// The metrics of all operations with the same name.
  final class Meters: Sendable {
    let runs: Counter
    let attempts: Counter
    let retries: Counter
    let failures: Counter
    let cancellations: Counter
    let joins: Counter
    let duration: CoreMetrics.Timer
    let stores: Meter
    let subscribers: Meter
    let notices: NoticeCount

    init(name: String, factory: any MetricsFactory, notices: NoticeMeters) {
      let dimensions = [("operation", name)]
      func counter(_ label: String) -> Counter { Counter(label: label, dimensions: dimensions, factory: factory) }
      self.runs = counter("operation.runs")
      self.attempts = counter("operation.attempts")
      self.retries = counter("operation.retries")
      self.failures = counter("operation.failures")
      self.cancellations = counter("operation.cancellations")
      self.joins = counter("operation.joins")
      self.duration = CoreMetrics.Timer(label: "operation.duration", dimensions: dimensions, factory: factory)
      self.stores = Meter(label: "operation.stores", dimensions: dimensions, factory: factory)
      self.subscribers = Meter(label: "operation.subscribers", dimensions: dimensions, factory: factory)
      self.notices = NoticeCount(operation: name, notices)
    }
  }

  extension Meters: StoreObserver {
    var observedEvents: StoreEvent.Kinds { [.runs, .subscribers] }

    func receive(_ event: StoreEvent, of store: StoreReference) {
      switch event.what {
      case .observed: self.stores.increment()
      case .unobserved: self.stores.decrement()
      case .subscriberCame: self.subscribers.increment()
      case .subscriberLeft: self.subscribers.decrement()
      case .runJoined: self.joins.increment()
      default: break
      }
    }
  }

  extension Meters {
    /// Counts the start of a run and of its first attempt.
    func runBegan() {
      self.runs.increment()
      self.attempts.increment()
    }

    /// Counts another attempt of a run.
    func retryBegan() {
      self.attempts.increment()
      self.retries.increment()
    }

    /// Records the end of a run.
    func runEnded(after duration: Duration, with error: (any Error)? = nil) {
      self.duration.recordNanoseconds(duration.nanoseconds)
      guard let error else { return }
      if error.endsCancelledRun { self.cancellations.increment() } else { self.failures.increment() }
    }
  }

  extension Duration {
    /// Whole nanoseconds; the maximum if there are too many.
    fileprivate var nanoseconds: Int64 {
      let (seconds, attoseconds) = self.components
      let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
      let (sum, sumOverflow) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
      return overflow || sumOverflow ? .max : sum
    }
  }
#endif
