package import OperationCore

/// An observer that records notices, in order.
package final class NoticeLog: OperationNoticeObserver {
  private let log = Log<OperationNotice>()

  package init() {}

  package var all: [OperationNotice] { self.log.all }
  package var names: [OperationNotice.Name] { self.log.all.map(\.name) }
  package var descriptions: [String] { self.log.all.map(\.description) }

  package func receive(_ notice: OperationNotice, in context: OperationContext) {
    self.log.append(notice)
  }
}
