import CoreMetrics
import InMemoryLogging
import InMemoryTracing
import Logging
import MetricsTestKit
import Tracing

/// The backends of the process, in memory.
struct Observed: Sendable {
  let metrics = TestMetrics()
  let tracer = InMemoryTracer()
  let log = InMemoryLogHandler()

  /// Installs them in the process. Call it once, before the first logger, metric or span.
  func bootstrap() {
    let log = self.log
    LoggingSystem.bootstrap { _ in log }
    MetricsSystem.bootstrap(self.metrics)
    InstrumentationSystem.bootstrap(self.tracer)
  }

  /// The number of notices of modifiers, by name.
  var notices: [String: Int] {
    self.metrics.counters(label: "operation.notices").reduce(into: [:]) { counts, counter in
      guard let name = counter.dimensions.first(where: { $0.0 == "notice" })?.1 else { return }
      counts[name, default: 0] += Int(counter.totalValue)
    }
  }

  /// The total of a counter, of all operations.
  func total(_ label: String) -> Int {
    Int(self.metrics.counterTotal(label: "operation.\(label)"))
  }

  /// How many runs are in the trace of a visitor's request.
  var runsInTraces: Int {
    let spans = self.tracer.finishedSpans
    let servers = Set(spans.filter { $0.kind == .server }.map(\.spanID))
    return spans.count { span in span.parentSpanID.map { servers.contains($0) } ?? false }
  }

  /// How many entries the log has for a notice.
  func entries(_ notice: String) -> Int {
    self.log.entries.count { $0.message.description == notice }
  }
}
