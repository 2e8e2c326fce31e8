#if SwiftOperationLogging
  internal import Logging
  internal import OperationCore
  internal import Synchronization

  /// The data of one run for its log entry.
  final class RunEntry: OperationNoticeObserver {
    private let context: OperationContext
    private let start: Duration
    private let attempt: Atomic<Int>
    /// The time that the run was paused.
    private let waited = Mutex(Duration.zero)

    init(beginning context: OperationContext) {
      self.context = context
      self.start = context.operationDeadlines.elapsed
      self.attempt = Atomic(context.operationAttempt)
    }

    /// Stores the number of the next attempt.
    func note(_ next: OperationContext) {
      self.attempt.store(next.operationAttempt, ordering: .relaxed)
    }

    /// Adds the time of a pause that has ended.
    func receive(_ notice: OperationNotice, in context: OperationContext) {
      guard notice.name == .runResumed, case .duration(let duration)? = notice.attributes["pause.duration"] else {
        return
      }
      self.waited.withLock { $0 += duration }
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
      metadata.add(self.context.operationRunCause, logsValues: self.context.operationLogsValues)
      if let task = self.context.operationRunningTaskIdentifier {
        metadata["operation.task"] = "\(task)"
      }
      let waited = self.waited.withLock { $0 }
      if waited > .zero { metadata["operation.waited"] = "\(waited / .seconds(1))" }
      if let error {
        metadata["operation.error"] = .string(
          self.context.operationLogsValues ? ShownText.whole(error) : ShownText.typeName(of: error)
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
          .string(
            self.operationLogsValues
              ? ShownText.of(value: element.base, otherwise: element.description) : "\(type(of: element.base))"
          )
        }
      )
    }
  }
#endif
