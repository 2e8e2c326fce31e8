/// The changes of an entry, and which of them are stored.
struct EntryChanges: Sendable {
  /// The number of changes so far.
  private(set) var count = 0
  /// The number of the last change that concerns more than the attempts.
  private var lastOfEntry = 0
  /// The number of the last change that has replaced the arguments.
  private var lastOfRevision = 0
  /// The number of the last change that is stored, with the whole entry.
  private var storedOfEntry = 0
  private var writing = Writing.ended

  /// How far the writes of the changes are.
  private enum Writing: Sendable {
    /// All changes are stored, or have failed.
    case ended
    /// The next batch has the entry as it is then. Some of the writes may be in the present batch.
    case queued([JournalWrite])
    /// The present batch has the changes.
    case underWay([JournalWrite])

    var writes: [JournalWrite] {
      switch self {
      case .ended: []
      case .queued(let writes), .underWay(let writes): writes
      }
    }
  }

  /// The writes that have not ended.
  var all: [JournalWrite] { self.writing.writes }

  var areStored: Bool { if case .ended = self.writing { true } else { false } }
  var areQueued: Bool { if case .queued = self.writing { true } else { false } }

  /// Whether nothing but the attempts has changed since the whole entry was stored.
  var areOfAttempts: Bool { self.lastOfEntry <= self.storedOfEntry }

  /// Whether the arguments are stored that have replaced others.
  var isRevisionStored: Bool { self.lastOfRevision <= self.storedOfEntry }

  /// Adds a change.
  ///
  /// - Parameter isOfAttempts: Whether nothing but the attempts has changed.
  /// - Returns: The write, and whether the entry has to be put into the queue for it.
  mutating func add(isOfAttempts: Bool) -> (write: JournalWrite, isQueuedAnew: Bool) {
    let write = JournalWrite(version: self.count + 1)
    self.count = write.version
    if !isOfAttempts { self.lastOfEntry = write.version }
    let isQueuedAnew = !self.areQueued
    var writes = self.take()
    writes.append(write)
    self.writing = .queued(writes)
    return (write, isQueuedAnew)
  }

  /// The next batch takes the changes from the queue. Returns whether there are any.
  mutating func begin() -> Bool {
    let writes = self.take()
    if !writes.isEmpty { self.writing = .underWay(writes) }
    return !writes.isEmpty
  }

  /// Ends all writes, because another process has changed the entry. An entry in the queue stays there.
  ///
  /// - Returns: The writes, whose changes were decided for the earlier entry.
  mutating func refuse() -> [JournalWrite] {
    let isQueued = self.areQueued
    let writes = self.take()
    if isQueued { self.writing = .queued([]) }
    return writes
  }

  /// Ends the writes of a batch.
  ///
  /// - Parameter number: The number of the last change in the batch.
  /// - Returns: The writes that have ended.
  mutating func end(upTo number: Int) -> [JournalWrite] {
    let isQueued = self.areQueued
    let writes = self.take()
    let rest = writes.filter { $0.version > number }
    if isQueued {
      self.writing = .queued(rest)
    } else if !rest.isEmpty {
      self.writing = .underWay(rest)
    }
    return writes.filter { $0.version <= number }
  }

  /// Notes that the arguments were replaced, so that the next write stores the whole entry.
  mutating func noteRevision() {
    self.lastOfEntry = self.count + 1
    self.lastOfRevision = self.lastOfEntry
  }

  /// Records that the whole entry is stored, with the changes up to a number.
  mutating func noteStored(_ number: Int) { self.storedOfEntry = number }

  /// Records that another process has stored the whole entry.
  mutating func noteOther() { self.storedOfEntry = self.count }

  private mutating func take() -> [JournalWrite] {
    defer { self.writing = .ended }
    return self.writing.writes
  }
}
