internal import Synchronization

/// Points in time that tell what is newer: what a run brings, or what somebody has written.
///
/// What a run brings is as old as the beginning of the run, so what others have written since stays.
struct Revision: Comparable, Hashable, Sendable {
  private static let last = Atomic<UInt64>(0)
  private let rawValue: UInt64

  /// The beginning of a run. Each has a point of its own.
  static func runBeginning() -> Revision {
    Revision(rawValue: self.last.wrappingAdd(2, ordering: .relaxed).newValue)
  }

  /// Now: later than all runs that have begun, earlier than all that will.
  static var now: Revision {
    Revision(rawValue: self.last.load(ordering: .relaxed) + 1)
  }

  static func < (lhs: Revision, rhs: Revision) -> Bool { lhs.rawValue < rhs.rawValue }
}
