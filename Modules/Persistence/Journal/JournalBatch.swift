internal import OperationCore

/// The changes of one batch.
struct JournalBatch: Sendable {
  /// The calls, with their storage keys and the numbers of their last changes.
  var calls: [(position: JournalState.Position, key: String, version: Int)] = []
  /// The keys of the calls that are not stored, because this process may not store what becomes of them.
  var skipped: Set<String> = []
  var contents: [Content] = []
  /// The removals among them that have failed before. They come last.
  var removals: [(key: String, removal: EntryRemoval)] = []
  /// Whether so many removals have failed that no call is stored before one of them is made.
  var isCrowded = false
  /// The tasks that wait for the removals.
  var waiters: [AwaitedOutcome<Void>] = []

  /// The content that is stored with a key.
  struct Content: Sendable {
    let key: String
    /// The content; nil to remove the key.
    let record: JournalRecord?
    /// Whether there is no entry yet.
    var isNew = false
    /// Whether only the numbers of attempts have changed, which are stored apart from the call.
    var isOfAttempts = false
    /// The version that the content was decided for; nil if it is not known.
    var seen: CallVersion?
    /// The version of a content that an earlier try may have written.
    var attempted: CallVersion?
    /// Which entries are removed also if they were changed meanwhile.
    var removal: EntryRemoval?
    /// What is stored in the same step: a call and its schedule must not differ.
    var step: ScheduleStep?
    /// The call that this call replaces. Its entry is removed in the same step.
    var replaced: (position: JournalState.Position, key: String, seen: CallVersion?)?

    /// Whether the content applies to an entry that was changed meanwhile.
    func appliesAnyhow(to entry: ReadEntry) -> Bool {
      guard entry.version != nil, entry.key == self.key, !self.isNew else { return false }
      if entry.version == self.attempted { return true }
      return self.removal?.includes(entry) ?? false
    }
  }

  /// What has become of a content.
  enum Result: Sendable {
    /// It is stored, with this version; nil if the entry was removed.
    case made(CallVersion?)
    /// The entry is not the one that the content was decided for. This one is there now.
    case refused(ReadEntry)
    /// It could not be written, or it is not known whether it was.
    case failed(any Error, attempted: CallVersion?)
  }
}

/// Which entries the removal of an ended call removes.
struct EntryRemoval: Sendable {
  /// The version that was read or written last; nil if it is not known.
  let seen: CallVersion?
  /// How many times its arguments were replaced; nil for any number. An entry with other arguments is another request,
  /// which has not ended.
  let revision: Int?

  func includes(_ entry: ReadEntry) -> Bool {
    guard let revision else { return true }
    return entry.record.map { ($0.revision ?? 0) == revision } ?? false
  }
}

/// What is stored with a key.
struct ReadEntry: Sendable {
  let key: String
  /// The version; nil if there is no entry.
  let version: CallVersion?
  /// The content, as it is once no process makes its call; nil if there is none, or if it cannot be read.
  let record: JournalRecord?

  /// - Parameters:
  ///   - entry: The entry of the call; nil if there is none.
  ///   - attempts: That of its attempts; nil if there is none.
  ///   - key: The key of the call.
  init(_ entry: StorageEntry?, _ attempts: StorageEntry?, at key: String) {
    self.key = key
    guard let entry else {
      self.version = nil
      self.record = nil
      return
    }
    let version = CallVersion(of: entry.value, at: entry.key, attempts: attempts)
    self.version = version
    self.record = try? ReadEntries.read(entry, version, attempts).get().afterProcess
  }
}

/// The error of a change that is not stored because another process has changed or removed the entry since this process
/// has read it.
///
/// When it is thrown, this process knows the present entry.
struct JournalEntryChanged: Error {}
