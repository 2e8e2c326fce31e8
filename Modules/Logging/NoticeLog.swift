#if SwiftOperationLogging
  internal import Logging
  internal import OperationCore

  /// Logs the notices of runs to the loggers of their contexts.
  final class NoticeLog: OperationNoticeObserver {
    private let level: @Sendable (OperationNotice) -> Logger.Level?

    init(level: @escaping @Sendable (OperationNotice) -> Logger.Level?) {
      self.level = level
    }

    func receive(_ notice: OperationNotice, in context: OperationContext) {
      // Of several logs, such as a client's and an operation's, the innermost one logs the notice.
      let innermost = context.operationNoticeObservers.last { $0 is NoticeLog }
      guard innermost === self, notice.level == nil, let level = self.level(notice) else { return }
      let logger = context.operationLogger
      guard logger.logLevel <= level else { return }
      logger.log(level: level, "\(notice.name)", metadata: Self.metadata(of: notice, in: context))
    }

    private static func metadata(of notice: OperationNotice, in context: OperationContext) -> Logger.Metadata {
      var metadata = notice.attributes.mapValues { Logger.MetadataValue.string($0.logText) }
      metadata["operation.notice"] = .string(notice.name.description)
      metadata["operation.name"] = notice.operationName.map { .string($0) }
      metadata["operation.path"] = notice.path.map { context.metadata(of: $0) }
      metadata.add(context.operationRunCause, logsValues: context.operationLogsValues)
      if let task = context.operationRunningTaskIdentifier {
        metadata["operation.task"] = "\(task)"
        metadata["operation.attempt"] = "\(context.operationAttempt)"
      }
      return metadata
    }
  }

  extension OperationNotice.Value {
    /// The value as text; durations in seconds.
    fileprivate var logText: String {
      if case .duration(let duration) = self { "\(duration / .seconds(1))" } else { self.description }
    }
  }
#endif
