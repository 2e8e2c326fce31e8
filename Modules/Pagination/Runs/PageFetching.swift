internal import OperationCore
internal import Synchronization

/// Whether one page is still being fetched, so that it may be yielded.
final class PageFetching: Sendable {
  private let hasEnded = Atomic(false)

  var isUnderWay: Bool { !self.hasEnded.load(ordering: .acquiring) }

  func end() {
    self.hasEnded.store(true, ordering: .releasing)
  }

  func reportLateYield(of id: some Any) {
    OperationWarning(
      code: .yieldAfterReturn,
      message: """
        A paginated operation yielded a value of page \(id) after that page was fetched. The value was dropped. Yield before \
        returning: await the work that yields inside `fetchPage`.
        """
    ).report()
  }
}
