internal import OperationCore
internal import OperationMutation

/// The calls of a journal, in order.
///
/// Calls are ordered by their positions: calls of earlier starts of the program have negative positions, and calls of this
/// start have positive ones. The calls of a scope are made one at a time, in this order. All decisions are made here;
/// the resulting ``actions`` are performed after unlocking.
struct JournalState: Sendable {
  typealias Position = Int64
  typealias Continuation = UnsafeContinuation<JournalTurn, Never>

  struct Item: Sendable {
    /// The identifier of the entry.
    var id: String
    /// The key in the storage; empty until the call has a number.
    var storageKey: String
    /// The version of its entry that this process has read or written last; nil if it has no entry yet.
    var seen: CallVersion?
    /// The version of a content that may have been written all the same when writing it has failed.
    var attempted: CallVersion?
    /// The stored form; nil if it cannot be read.
    @SharedByCopies var record: JournalRecord?
    /// The position of its optimistic updates among the updates of other calls; nil if it has none.
    var layerPlace: StateLayerPlace?
    /// The updates that are shown between its runs; nil until the first run.
    var updates: KeptUpdates?
    var activity = Activity.none
    var phase = JournalPhase.accepted
    /// Its outcome, for the callers of the calls that it has replaced.
    var result = JournalResult()
    /// The optimistic updates of its last run; nil if it has none.
    var callUpdates: CallUpdates?
    /// The call that is about to replace it. Until then it does not begin, and nothing is written for it.
    var replacement: Position?
    /// The tasks that wait until it is known whether it is replaced or removed.
    var decisionWaiters: [AwaitedOutcome<Void>] = []
    var expiry = JournalPhase.Expiry.ahead
    var hold = JournalPhase.Hold.none
    /// Since when it is known that no process has registered its name, by the deadlines.
    var unregisteredSince: Duration?
    /// Since when it has failed in ways that pass, if its record does not say when it was accepted.
    var failingSince: Double?
    /// The decision about the conflict of its last run; nil without a conflict.
    var decision: ConflictDecision?
    var origin = JournalPhase.Origin.thisProcess
    /// The resumption that makes it again; 0 for none.
    var resumption = 0
    var replay = JournalPhase.Replay.none
    /// How many times in a row it has failed since the program was started.
    var failuresInARow = 0
    /// When it is made again, by the deadlines.
    var retryTime: Duration?
    /// When it expires, by the deadlines.
    var expiryTime: Duration?
    var bodies = JournalPhase.Bodies.none
    var lastFailure: String?
    var changes = EntryChanges()
    /// The tasks that wait for the end of its replay.
    var replayWaiters: [AwaitedOutcome<Void>] = []

    var isStored: Bool { self.phase.isStored }
    var isGone: Bool { self.phase.isGone }
    var isHeld: Bool { self.hold.isHeld }
    /// Whether another process, which lives, makes it.
    var isElsewhere: Bool { self.origin.isElsewhere }
    var isUnnumbered: Bool { self.storageKey.isEmpty }
    var scope: String? { self.record?.scope }
    /// Whether later calls of its scope come behind it. While a decision about it is being stored, the queue of its scope may differ.
    var isInScope: Bool {
      guard let record, record.scope != nil, self.origin.countsInScope else { return false }
      return !record.isDeadLetter || record.isHolding
    }
    /// Whether the queue of its scope has it. Entering and leaving the queue keep this.
    var isInQueue = false
    var isDue: Bool { self.resumption != 0 }
    /// The lease that it needs.
    var leaseKey: JournalLeaseKey { JournalLeaseKey(ofScope: self.scope, owner: self.record?.owner) }

    /// Whether its entry shows the same as before a change.
    func looksLike(_ earlier: Self) -> Bool {
      guard self.isStored || earlier.isStored else { return true }
      return self.isStored == earlier.isStored && self.id == earlier.id
        && self.activity.isRunning == earlier.activity.isRunning && self.isElsewhere == earlier.isElsewhere
        && self.lastFailure == earlier.lastFailure && self._record == earlier._record
    }

    /// Whether it was accepted and is to be made.
    var isPending: Bool { self.isStored && self.record.map { !$0.isDeadLetter } ?? false }
  }

  enum Loading: Sendable {
    case unloaded, loading, loaded
  }

  var items: [Position: Item] = [:]
  /// The calls of each scope.
  var scopes: [String: ScopeQueue] = [:]
  var positions: [String: Position] = [:]
  var lastPosition: Position = 0
  /// A call of this start has the number that is the sum of its position and of this one.
  var numberBase: UInt64 = 0
  var loading = Loading.unloaded
  var loadWaiters: [AwaitedOutcome<Void>] = []
  /// The entries that observers see.
  var shown = JournalEntries()
  /// The calls that the stores of mutations show.
  var view = StoreView()
  /// The number of calls that were accepted and are to be made.
  private(set) var pendingCount = 0
  /// The number of pending calls that observers have received last; nil if they have received none.
  var reportedCount: Int?
  var isReporting = false

  // Writing.
  var queue: [Position] = []
  var isWriting = false
  var failedRemovals = FailedRemovals()
  /// Whether the present batch tries some of them again.
  var areRemovalsUnderWay = false
  /// Whether the last batch has made all removals that it had, so that the storage works again and the others follow at once.
  var goesOnRemoving = false
  var removalWaiters: [AwaitedOutcome<Void>] = []

  // Sending.
  var leases = JournalLeases()
  /// The storage keys of the calls that were removed since the present read of the entries began; nil if there is none.
  var removedWhileReading: Set<String>?
  /// The tasks that wait for the end of that read.
  var readingWaiters: [AwaitedOutcome<Void>] = []
  /// The number of changes of other processes when the entries were read last; nil if it is not known.
  var knownForeignChanges: Int64?
  /// How many calls other processes make, by the names of their journals.
  private var elsewhereCounts: [String: Int] = [:]
  /// The name of this journal in the entries of a storage with leases; nil for other storages.
  var owner: String?
  /// The number of calls that this process has accepted.
  private(set) var ownCount = 0
  private var lastEarlierPosition: Position = -(1 << 40)
  /// Callers without a scope that wait for the lease.
  var waitingWithoutScope: Set<Position> = []
  /// The calls without a scope that are to be made again, the last call first.
  var dueWithoutScope: [Position] = []
  var replaysWithoutScope = 0
  let maximumReplays: Int
  var lastResumption = 0
  /// The number of calls that each resumption has not made yet.
  var dueCounts: [Int: Int] = [:]
  var resumptionWaiters: [(resumption: Int, signal: AwaitedOutcome<Void>)] = []
  /// The number of scopes with a call that is made again now.
  private(set) var replaysInScopes = 0
  let maximumScopes: Int
  var waitingScopes = WaitingScopes()

  /// Whether no stored call without a caller begins any more.
  var isStopped = false
  /// The calls that can be replaced, by their scopes; calls without a scope by their names.
  var replaceable: [String: ReplaceableCalls] = [:]

  var schedules = ScheduleTable()

  // Resuming by itself.
  /// The registered names.
  var names: Set<String> = []
  /// Whether calls whose names are not registered are tried, so that they are reported.
  var makesUnregistered = false
  var rises = JournalRises()
  var alarms = ChunkedMap<JournalAlarm, Void>()
  var timer = SubscriptionSlot()
  /// Whether expiring calls have alarms.
  var watchesExpiry = false
  /// The time of the timer; nil if none is set.
  var timerTime: Duration?
  var actions = JournalActions()

  init(maximumReplays: Int, maximumScopes: Int) {
    self.maximumReplays = maximumReplays
    self.maximumScopes = maximumScopes
  }
}

// MARK: - Adding and removing

extension JournalState {
  /// Adds a call of this start at the end of its scope. Returns nil if another call has its key.
  mutating func add(
    _ record: JournalRecord,
    layersAt layerPlace: StateLayerPlace?,
    updates: KeptUpdates?,
    callUpdates: CallUpdates?,
    canEndWithoutBody: Bool
  ) -> Position? {
    guard self.positions[record.id] == nil else { return nil }
    self.lastPosition += 1
    self.insert(
      Item(
        id: record.id,
        storageKey: "",
        record: record,
        layerPlace: layerPlace,
        updates: updates,
        activity: .claimed(Run(isReplay: false, canEndWithoutBody: canEndWithoutBody)),
        phase: .reserved(),
        callUpdates: callUpdates
      ),
      at: self.lastPosition
    )
    // Otherwise the call is linked after the entries were read.
    if self.loading == .loaded { self.link(self.lastPosition) }
    return self.lastPosition
  }

  /// Inserts a call of an earlier start, before the calls of this one.
  ///
  /// - Parameters:
  ///   - record: The stored entry; nil if it cannot be read.
  ///   - storageKey: The key of the entry in the storage.
  ///   - version: The version of the entry.
  ///   - position: The position, which is negative and in the order of the calls.
  ///   - origin: Where the call comes from, and which process makes it.
  mutating func restore(
    _ record: JournalRecord?,
    from storageKey: String,
    _ version: CallVersion,
    at position: Position,
    _ origin: JournalPhase.Origin
  ) {
    // If two stored entries have one key, the second is identified by its storage key. A new call with such a key waits
    // for the end of the read, and is refused then.
    let id = record?.id ?? storageKey
    let isTaken = self.positions[id].map { self.items[$0]?.isStored == true } ?? false
    var item = Item(
      id: isTaken ? storageKey : id,
      storageKey: storageKey,
      seen: version,
      record: record,
      layerPlace: .earlierProcess(position)
    )
    item.origin = origin
    item.hold = record?.isHolding == true ? .held : .none
    self.insert(item, at: position)
    if record?.expiresAt != nil { self.actions.expiring.append(position) }
  }

  /// Makes room for calls that are about to be inserted.
  mutating func reserveCapacity(_ count: Int) {
    self.items.reserveCapacity(self.items.count + count)
    self.positions.reserveCapacity(self.positions.count + count)
  }

  private mutating func insert(_ item: Item, at position: Position) {
    self.items[position] = item
    item.result.settle(at: position)
    self.positions[item.id] = position
    if item.isPending { self.pendingCount += 1 }
    self.count(item, 1)
    if !item.activity.isNone { self.ask(for: item.leaseKey) }
    if item.isInScope, let scope = item.scope { self.enter(scope, position) }
    if item.isStored { self.show(position) }
  }

  /// Removes a call, and passes its turn on.
  mutating func remove(_ position: Position) {
    self.endDue(position)
    guard let item = self.items[position] else { return }
    if case .waiting(let continuation, _) = item.activity { self.actions.turns.append((continuation, .removed)) }
    let isFreeReplay = item.activity.isReplay && item.scope == nil
    self.removeLinks(of: position)
    self.leave(position)
    self.setRetry(of: position, at: nil)
    self.setExpiry(of: position, at: nil)
    self.items[position] = nil
    self.waitingWithoutScope.remove(position)
    if item.isPending { self.pendingCount -= 1 }
    self.count(item, -1)
    self.actions.mayRelease = true
    if self.positions[item.id] == position { self.positions[item.id] = nil }
    if !item.isUnnumbered { self.removedWhileReading?.insert(item.storageKey) }
    if item.isStored { self.show(position, replacing: item.record) }
    if case .ended(let ending?) = item.phase { self.view.end(item, at: position, ending) }
    if let name = item.record?.schedule { self.actions.schedules.append(name) }
    self.actions.released.append(item)
    self.actions.writes += item.changes.all
    if isFreeReplay { self.endReplayWithoutScope() }
    self.advance(item.scope)
  }

  /// Edits a call and updates everything that depends on it. Returns nil if there is no such call.
  @discardableResult
  mutating func edit<R>(_ position: Position, _ change: (inout Item) -> R) -> R? {
    guard let before = self.items[position] else { return nil }
    var item = before
    self.count(before, -1)
    let result = change(&item)
    if before.activity.isRunning, !item.activity.isRunning { self.actions.mayRelease = true }
    self.count(item, 1)
    if item.isPending != before.isPending { self.pendingCount += item.isPending ? 1 : -1 }
    if item.isInQueue, let scope = item.scope {
      let isInLine = item.activity.isCallerInLine
      if isInLine != before.activity.isCallerInLine { self.scopes[scope]?.callerCount += isInLine ? 1 : -1 }
      if item.isUnnumbered != before.isUnnumbered { self.scopes[scope]?.setUnnumbered(item.isUnnumbered, position) }
    }
    self.items[position] = item
    if !item.looksLike(before) { self.show(position) }
    if before.activity.isReplay, before.scope == nil, !item.activity.isReplay { self.endReplayWithoutScope() }
    return result
  }

  private mutating func show(_ position: Position, replacing record: JournalRecord? = nil) {
    let call = self.items[position].flatMap { $0.isStored ? ShownCall($0) : nil }
    if self.shown.set(call, at: position) { self.actions.isChanged = true }
    self.view.set(call, replacing: record, at: position)
  }

  private mutating func count(_ item: Item, _ change: Int) {
    if item.activity.isReplay, item.scope != nil { self.replaysInScopes += change }
    if let owner = self.owner, item.record?.owner == owner {
      self.ownCount += change
      if self.ownCount == 0 { self.actions.idleLeaseKeys.append(.journal(owner)) }
    }
    if item.isElsewhere, let owner = item.record?.owner {
      let count = (self.elsewhereCounts[owner] ?? 0) + change
      self.elsewhereCounts[owner] = count == 0 ? nil : count
    }
    guard self.leases.held != nil else { return }
    if item.isDue, item.isElsewhere { self.leases.dueElsewhere += change }
    guard !item.activity.isNone || item.isDue && !item.isElsewhere else { return }
    let leaseKey = item.leaseKey
    if self.leases.count(leaseKey, change) == 0 { self.actions.idleLeaseKeys.append(leaseKey) }
  }

  /// The journals of other processes that make calls, if nothing was changed elsewhere since the entries were read; otherwise nil.
  func otherOwners(asOf changes: Int64?) -> Set<String>? {
    changes != nil && changes == self.knownForeignChanges ? Set(self.elsewhereCounts.keys) : nil
  }

  /// Decides that no resumption makes a call.
  mutating func endResumption(of position: Position) {
    guard let item = self.items[position] else { return }
    self.count(item, -1)
    self.items[position]?.resumption = 0
    if let item = self.items[position] { self.count(item, 1) }
  }

  /// A position behind the calls of other processes, and before this one's.
  mutating func nextEarlierPosition() -> Position {
    self.lastEarlierPosition += 1
    return self.lastEarlierPosition
  }

  func isRunning(_ position: Position) -> Bool { self.items[position]?.activity.isRunning ?? false }
}
