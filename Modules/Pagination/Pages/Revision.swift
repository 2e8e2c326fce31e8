internal import Synchronization

/// A point in the order of all writes and run starts. It decides which value of a page is newer.
///
/// The pages that a run loads get the revision of its start, so pages that others write during the run are newer.
@usableFromInline
struct Revision: Comparable, Hashable, Sendable {
  private static let last = Atomic<UInt64>(0)
  @usableFromInline let rawValue: UInt64

  private init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  /// Returns a new revision: later than all earlier ones, and equal to none.
  @usableFromInline
  static func now() -> Revision {
    Revision(rawValue: self.last.wrappingAdd(1, ordering: .relaxed).newValue)
  }

  @inlinable
  static func < (lhs: Revision, rhs: Revision) -> Bool { lhs.rawValue < rhs.rawValue }
}
