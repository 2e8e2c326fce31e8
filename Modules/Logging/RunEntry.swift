#if SwiftOperationLogging
  internal import Logging
  internal import OperationCore
  internal import Synchronization

  /// What is known of one run for its entry in the log.
  final class RunEntry: Sendable {
    private let context: OperationContext
    private let start: Duration
    private let attempt: Atomic<Int>

    init(beginning context: OperationContext) {
      self.context = context
      self.start = context.operationDeadlines.elapsed
      self.attempt = Atomic(context.operationAttempt)
    }

    /// Notes the next attempt of the run.
    func note(_ next: OperationContext) {
      self.attempt.store(next.operationAttempt, ordering: .relaxed)
    }

    /// The run, as it has ended now.
    func metadata(error: (any Error)?) -> Logger.Metadata {
      let duration = self.context.operationDeadlines.elapsed - self.start
      var metadata: Logger.Metadata = [
        "operation.attempt": "\(self.attempt.load(ordering: .relaxed))",
        "operation.duration": "\(duration / .seconds(1))",
        "operation.outcome": .string(
          error.map { $0.endsCancelledRun ? "cancellation" : "failure" } ?? "success"
        ),
      ]
      if let task = self.context.operationRunningTaskIdentifier {
        metadata["operation.task"] = "\(task)"
      }
      if let error {
        metadata["operation.error"] = .string(
          self.context.operationLogsValues ? "\(error)" : String(reflecting: type(of: error))
        )
      }
      return metadata
    }

    /// A path, element by element.
    func metadata(of path: OperationPath) -> Logger.MetadataValue {
      .array(
        path.map { element in
          .string(self.context.operationLogsValues ? element.description : "\(type(of: element.base))")
        }
      )
    }
  }
#endif
