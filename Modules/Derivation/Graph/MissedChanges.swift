/// Whether a source has changed while a run was under way that may not have read that, so that a thread looks at its end.
///
/// A thread notes its change before it asks whether a run is under way. If there is none, it forgets its note and looks at
/// the sources itself. It must not forget a later note: a run may have begun since, and the thread of that note have left
/// the look to the end of the run.
struct MissedChanges: Sendable {
  /// The number of notes so far.
  private var count = 0
  /// The number of the last note; nil when it is forgotten or taken.
  private var last: Int?

  /// Notes a change. Returns the number of the note.
  mutating func note() -> Int {
    self.count += 1
    self.last = self.count
    return self.count
  }

  /// Forgets a note and earlier ones, unless a later one has come.
  mutating func forget(_ note: Int) {
    if self.last == note { self.last = nil }
  }

  /// Forgets all notes. Returns whether there were any.
  mutating func take() -> Bool {
    defer { self.last = nil }
    return self.last != nil
  }
}
