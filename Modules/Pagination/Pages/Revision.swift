internal import Synchronization

/// Points in time that tell what is newer: what a run brings, or what somebody has written.
///
/// What a run brings is as old as the beginning of the run, so what others have written since stays.
@usableFromInline
struct Revision: Comparable, Hashable, Sendable {
  private static let last = Atomic<UInt64>(0)
  @usableFromInline let rawValue: UInt64

  private init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  /// The beginning of a run. Each has a point of its own.
  @usableFromInline
  static func runBeginning() -> Revision {
    Revision(rawValue: self.last.wrappingAdd(2, ordering: .relaxed).newValue)
  }

  /// Now: later than all runs that have begun, earlier than all that will.
  @usableFromInline
  static var now: Revision {
    Revision(rawValue: self.last.load(ordering: .relaxed) + 1)
  }

  @inlinable
  static func < (lhs: Revision, rhs: Revision) -> Bool { lhs.rawValue < rhs.rawValue }
}
