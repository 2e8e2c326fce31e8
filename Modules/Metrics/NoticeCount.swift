#if SwiftOperationMetrics
  internal import OperationCore

  /// Counts the notices of the runs of all operations with the same name in the metrics.
  final class NoticeCount: OperationNoticeObserver {
    /// The name in the metrics; nil for the name in the notice.
    private let operation: String?
    private let meters: NoticeMeters

    init(operation: String?, _ meters: NoticeMeters) {
      self.operation = operation
      self.meters = meters
    }

    func receive(_ notice: OperationNotice, in context: OperationContext) {
      if let level = notice.level {
        self.meters.show(level, of: notice.name)
      } else {
        self.meters.count(notice.name, of: self.operation ?? notice.operationName ?? NoticeMeters.noOperation)
      }
    }

    /// Whether both count in the same metrics. A notice must be counted by only one of them.
    func isAlternative(to other: any OperationNoticeObserver) -> Bool {
      (other as? NoticeCount)?.meters === self.meters
    }
  }

  extension OperationContext {
    /// Counts notices with `count`, in place of an outer count for the same metrics.
    mutating func countNotices(by count: NoticeCount) {
      self.observeNotices(with: count) { count.isAlternative(to: $0) }
    }
  }
#endif
