internal import OperationFoundation
internal import Synchronization

/// How far the value of a store is restored and put. It has no types of users, so that the many accesses to it do not look
/// types up.
struct LevelProgress: Sendable {
  /// The store and its place, as ``StoreLevel/Kept``.
  typealias Kept = any AnyObject & Sendable

  enum Phase: Sendable {
    /// No store uses this object. Another one, which a run makes with its context, stays like that.
    case unused
    /// The level is asked for the value.
    case restoring(Restoring)
    /// The level has answered. The changes of the store are put.
    case keeping(Kept)
    /// The level has a value of a later version of the program, in whose place nothing is put.
    case keepingLater(Kept)
    /// The store was released, or its value has no place.
    case ended
  }

  /// What is there while the level is asked.
  struct Restoring: Sendable {
    enum Answer: Sendable {
      /// It is shown if it is newer than what the store has.
      case wanted
      /// It must not be shown, because the store was reset or the value removed meanwhile.
      case unwanted
      /// It has come, and is of a later version of the program.
      case later
    }

    let kept: Kept
    var answer = Answer.wanted
    /// Ends the wait of readers and automatic runs.
    var limit: OperationSubscription?
  }

  private(set) var phase = Phase.unused
  /// The update count of the value when the one of the level was removed. That value is not put again.
  var removedCount: Int?
  /// The version of the state that was put.
  var version: PutVersion?
  /// The value that was put; nil for none.
  var put: LevelValue?
  /// The ticket of the newest change.
  private var lastTicket: UInt64 = 0
  /// The ticket of the newest change that was noted.
  var notedTicket: UInt64 = 0
}

extension LevelProgress {
  var kept: Kept? {
    switch self.phase {
    case .restoring(let restoring): restoring.kept
    case .keeping(let kept), .keepingLater(let kept): kept
    case .unused, .ended: nil
    }
  }

  var isRestoring: Bool { if case .restoring = self.phase { true } else { false } }

  /// Whether the level is being asked for a value that may be shown.
  var wantsAnswer: Bool {
    if case .restoring(let restoring) = self.phase { restoring.answer == .wanted } else { false }
  }

  /// Whether values are put in a place now.
  ///
  /// Asked in one step with the put: a store that a client removes is detached first. What a thread has begun before would
  /// otherwise come back after the client has removed all values.
  func puts(at place: Kept) -> Bool {
    switch self.phase {
    case .restoring(let restoring): restoring.kept === place && restoring.answer != .later
    case .keeping(let kept): kept === place
    case .unused, .keepingLater, .ended: false
    }
  }

  /// Counts a change of the store.
  ///
  /// - Parameter isForced: Whether it is put even while the level is asked. Otherwise what the level has would be replaced
  ///   before it was looked up, and a cancelled run may take the new value back.
  /// - Returns: The store if the change is put, and the ticket of the change.
  mutating func takeTicket(isForced: Bool) -> (Kept?, UInt64) {
    self.lastTicket += 1
    let kept = self.kept.flatMap { self.puts(at: $0) && (isForced || !self.isRestoring) ? $0 : nil }
    return (kept, self.lastTicket)
  }
}

// MARK: - Transitions

extension LevelProgress {
  /// Uses the object for a store; false if another one does.
  mutating func claim() -> Bool {
    guard case .unused = self.phase else { return false }
    self.phase = .ended
    return true
  }

  mutating func beginRestoring(_ kept: Kept) {
    self.phase = .restoring(Restoring(kept: kept))
  }

  /// Keeps the deadline of the readers that wait for the level. Returns it if no reader waits any more.
  mutating func limitRestoring(by limit: OperationSubscription) -> OperationSubscription? {
    guard case .restoring(var restoring) = self.phase else { return limit }
    restoring.limit = limit
    self.phase = .restoring(restoring)
    return nil
  }

  /// Shows nothing that the level still answers. Returns the store if the level is being asked.
  @discardableResult
  mutating func refuseAnswer() -> Kept? {
    guard case .restoring(var restoring) = self.phase else { return nil }
    restoring.answer = .unwanted
    self.phase = .restoring(restoring)
    return restoring.kept
  }

  /// Puts nothing in the place of a value of a later version.
  mutating func keepLater() {
    switch self.phase {
    case .restoring(var restoring):
      restoring.answer = .later
      self.phase = .restoring(restoring)
    case .keeping(let kept): self.phase = .keepingLater(kept)
    case .unused, .keepingLater, .ended: break
    }
  }

  /// Puts changes again, since the level has no value any more.
  mutating func valueWasRemoved() {
    self.refuseAnswer()
    if case .keepingLater(let kept) = self.phase { self.phase = .keeping(kept) }
  }

  /// The level has answered, or is not waited for any more. Returns the deadline of those who wait.
  mutating func endRestoring() -> OperationSubscription? {
    guard case .restoring(let restoring) = self.phase else { return nil }
    self.phase = restoring.answer == .later ? .keepingLater(restoring.kept) : .keeping(restoring.kept)
    return restoring.limit
  }

  /// The store was released. Returns it, to be released after the lock.
  mutating func end() -> Kept? {
    defer { self.phase = .ended }
    return self.kept
  }

  /// Leaves the value of the level as it is while the store shows one that may not be put. An invalidation concerns the value
  /// of the level, too.
  mutating func keepValue(isInvalidated: Bool, _ place: LevelPlace, _ turn: LevelTurn) {
    guard isInvalidated, self.version?.isInvalidated == false, var value = self.put else { return }
    self.version?.isInvalidated = true
    value.isInvalidated = true
    value.turn = turn
    place.level.put(value, for: place.key, under: nil)
  }
}

/// Distinguishes the states that are put without comparing their values.
struct PutVersion: Equatable, Sendable {
  let valueUpdateCount: Int
  let valueLastUpdatedAt: Date?
  let errorUpdateCount: Int
  var isInvalidated: Bool
  let uncountedChanges: Int

  /// Makes the version of a state; nil if it has no value.
  init?(_ state: some OperationState, isInvalidated: Bool, uncountedChanges: Int) {
    guard state.valueUpdateCount > 0 else { return nil }
    self.valueUpdateCount = state.valueUpdateCount
    self.valueLastUpdatedAt = state.valueLastUpdatedAt
    self.errorUpdateCount = state.errorUpdateCount
    self.isInvalidated = isInvalidated
    self.uncountedChanges = uncountedChanges
  }
}

extension Mutex where Value == LevelProgress {
  /// Runs `body` under the lock, and after unlocking releases the values that it appends to its second parameter.
  borrowing func withReleasing<R>(_ body: (inout LevelProgress, inout ReleasedValues) -> R) -> R {
    var released = ReleasedValues()
    return self.withLockOnThread { body(&$0, &released) }
  }
}
