#if SwiftOperationLogging
  internal import Logging
  internal import OperationCore
  internal import Synchronization

  /// The data of one run for its log entry.
  final class RunEntry: Sendable {
    private let context: OperationContext
    private let start: Duration
    private let attempt: Atomic<Int>

    init(beginning context: OperationContext) {
      self.context = context
      self.start = context.operationDeadlines.elapsed
      self.attempt = Atomic(context.operationAttempt)
    }

    /// Stores the number of the next attempt.
    func note(_ next: OperationContext) {
      self.attempt.store(next.operationAttempt, ordering: .relaxed)
    }

    /// The metadata of the run, which ends now.
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
  }

  extension OperationContext {
    /// The elements of a path, or their types.
    func metadata(of path: OperationPath) -> Logger.MetadataValue {
      .array(
        path.map { element in
          .string(self.operationLogsValues ? element.description : "\(type(of: element.base))")
        }
      )
    }
  }
#endif
