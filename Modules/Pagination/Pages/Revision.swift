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

  /// Now: later than all runs that have begun and all that was written, earlier than what comes. No other point is equal.
  @usableFromInline
  static func now() -> Revision {
    Revision(rawValue: self.last.wrappingAdd(1, ordering: .relaxed).newValue)
  }

  @inlinable
  static func < (lhs: Revision, rhs: Revision) -> Bool { lhs.rawValue < rhs.rawValue }
}
