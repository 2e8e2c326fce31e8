#if SwiftOperationMetrics
  import MetricsTestKit
  import OperationBackoff
  import OperationCore
  import OperationMetrics
  import OperationTesting

  /// A backend in memory, and a manual clock for the operations.
  struct Bench: Sendable {
    let backend = TestMetrics()
    let clock = ManualClock()
    let script = OperationScript<Int, any Error>()
    let meters: OperationMeters

    init() {
      self.meters = OperationMeters(factory: self.backend)
    }

    var context: OperationContext {
      var context = OperationContext.withoutDelays
      context.operationDeadlines = self.clock
      return context
    }

    /// The total of a counter.
    func count(_ label: String, of name: String = "post") -> Int64 {
      self.backend.counterTotal(label: "operation.\(label)", dimensions: [("operation", name)])
    }

    /// The last value of a meter.
    func level(_ label: String, of name: String = "post") -> Double? {
      self.backend.meters(label: "operation.\(label)", dimensions: [("operation", name)]).last?.lastValue
    }

    /// The durations of the runs, in nanoseconds.
    func durations(of name: String = "post") -> [Int64] {
      self.backend.timers(label: "operation.duration").filter { $0.dimensions.first?.1 == name }.flatMap(\.values)
    }
  }
#endif
