internal import OperationFoundation
internal import Synchronization

/// Where parts of a value come from, which says whether they are newer than what is known.
enum EntitySource: Sendable {
  /// A run that has begun with this number has returned them, at a date.
  case run(Int, Date)
  /// They were edited with this number, at a date.
  case edit(Int, Date)
  /// A run that has begun with this number has yielded them. They are shown unless newer ones are known, and teach nothing.
  case partial(Int)
  /// They were restored, handed over, or shown again after a rollback, in a value of this date. They are at least as recent
  /// as that. No run and no edit of this process has brought them, so among themselves each stays as it is.
  case shown(Date?)

  var number: Int? {
    switch self {
    case .run(let number, _), .edit(let number, _), .partial(let number): number
    case .shown: nil
    }
  }
}

/// Numbers the beginnings of runs, and the edits.
enum EntityClock {
  private static let last = Atomic<Int>(1)

  /// A number above all others.
  static func next() -> Int { Self.last.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue }

  /// The number of what is known from values of earlier runs alone, and is edited: below all runs.
  static let first = 1
}
