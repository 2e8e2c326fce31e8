internal import OperationCore
public import Synchronization

/// Tracks whether the fetch of one page is under way: values are yielded only until it ends.
@usableFromInline
final class PageFetching: Sendable {
  @usableFromInline let hasEnded = Atomic(false)

  @inlinable
  init() {}

  @inlinable
  var isUnderWay: Bool { !self.hasEnded.load(ordering: .acquiring) }

  @inlinable
  func end() {
    self.hasEnded.store(true, ordering: .releasing)
  }

  @usableFromInline
  func reportLateYield(of id: some Any) {
    let event = "A paginated operation yielded a value of page \(ShownText.of(value: id)) after that page was fetched"
    OperationWarning.lateYield(event, dropping: "value", inside: "`fetchPage`").report()
  }
}
