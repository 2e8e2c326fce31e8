internal import OperationCore

/// The calls of a journal, in order.
///
/// Calls are ordered by their places: calls of earlier starts of the program have negative places, and calls of this
/// start have positive ones. The calls of a scope are made one at a time, in this order.
struct JournalState: Sendable {
  typealias Place = Int64
  typealias Continuation = UnsafeContinuation<JournalTurn, Never>

  enum Activity: Sendable {
    /// No caller and no replay makes the call.
    case none
    /// A caller or a replay is about to make it, or makes it.
    case claimed(isReplay: Bool)
    /// It waits for its turn.
    case waiting(Continuation, isReplay: Bool)
    /// It has its turn.
    case running
  }

  struct Item: Sendable {
    /// The key in the storage; empty until the number of the call is known.
    var storageKey: String
    /// Nil if it cannot be read.
    var record: JournalRecord?
    /// Where its optimistic updates are among those of other calls; nil if it has none.
    var layerPlace: StateLayerPlace?
    var activity = Activity.none
    /// Whether it is in the storage, and so accepted.
    var isStored = true
    /// Whether it has failed and is made again only after `resume()`.
    var isHeld = false
    /// How the wait for the turn ends when it begins; nil if nothing has ended it before.
    var endedEarly: JournalTurn?
    var lastFailure: String?

    var lane: String? { self.record?.scope }
    var isInLane: Bool { self.record.map { !$0.isSetAside && $0.scope != nil } ?? false }
    /// Whether it was accepted and is to be made.
    var isPending: Bool { self.isStored && self.record.map { !$0.isSetAside } ?? false }
  }

  enum Loading: Sendable {
    case unloaded
    case loading
    case loaded
  }

  var items: [Place: Item] = [:]
  /// The places of the calls of each scope, in order.
  var lanes: [String: [Place]] = [:]
  var places: [String: Place] = [:]
  var lastPlace: Place = 0
  /// Added to a place to get the number of a call of this start.
  var numberBase: UInt64 = 0
  var loading = Loading.unloaded
  var loadWaiters: [UnsafeContinuation<Void, Never>] = []
  /// The storage keys of calls that have ended and could not be removed.
  var failedRemovals: Set<String> = []
  /// The number of calls that were accepted and are to be made.
  private(set) var pendingCount = 0
  /// The number of pending calls that observers have received last; nil if they have received none.
  var reportedCount: Int?
  var isReporting = false
}

extension JournalState {
  /// Adds a call of this start at the end of its lane.
  mutating func add(_ record: JournalRecord, layersAt layerPlace: StateLayerPlace?) -> Place {
    self.lastPlace += 1
    let activity = Activity.claimed(isReplay: false)
    let item = Item(storageKey: "", record: record, layerPlace: layerPlace, activity: activity, isStored: false)
    self.insert(item, at: self.lastPlace)
    return self.lastPlace
  }

  /// Inserts a call of an earlier start, before those of this one.
  ///
  /// - Parameters:
  ///   - record: The stored entry; nil if it cannot be read.
  ///   - storageKey: The key of the entry in the storage.
  ///   - place: Negative, and in the order of the calls.
  mutating func restore(_ record: JournalRecord?, from storageKey: String, at place: Place) {
    self.insert(Item(storageKey: storageKey, record: record, layerPlace: .earlierProcess(place)), at: place)
  }

  private mutating func insert(_ item: Item, at place: Place) {
    self.items[place] = item
    self.places[item.record?.id ?? item.storageKey] = place
    if item.isPending { self.pendingCount += 1 }
    if item.isInLane, let lane = item.lane { self.enter(lane, place) }
  }

  /// Inserts a call into its lane, at its place in the order, but behind a call that has its turn.
  mutating func enter(_ lane: String, _ place: Place) {
    let places = self.lanes[lane] ?? []
    let start = places.first.map { self.isRunning($0) } == true ? 1 : 0
    // Nearly always it is the last.
    let index = places.dropFirst(start).lastIndex { $0 < place }.map { $0 + 1 } ?? start
    self.lanes[lane, default: []].insert(place, at: index)
  }

  /// Removes a call from its lane.
  mutating func leave(_ place: Place) {
    guard let lane = self.items[place]?.lane, let index = self.lanes[lane]?.firstIndex(of: place) else { return }
    self.lanes[lane]?.remove(at: index)
    if self.lanes[lane]?.isEmpty == true { self.lanes[lane] = nil }
  }

  /// Removes a call, and returns it for its release after unlocking.
  mutating func remove(_ place: Place) -> Item? {
    self.leave(place)
    guard let item = self.items.removeValue(forKey: place) else { return nil }
    if item.isPending { self.pendingCount -= 1 }
    self.places[item.record?.id ?? item.storageKey] = nil
    return item
  }

  /// Edits a call, and keeps the number of pending calls right. Returns nil if there is no such call.
  mutating func edit<R>(_ place: Place, _ change: (inout Item) -> R) -> R? {
    guard var item = self.items[place] else { return nil }
    let wasPending = item.isPending
    let result = change(&item)
    if item.isPending != wasPending { self.pendingCount += wasPending ? -1 : 1 }
    self.items[place] = item
    return result
  }

  /// Whether a call may be made now, as far as the order of its scope goes.
  func hasTurn(_ place: Place) -> Bool {
    guard let item = self.items[place], let lane = item.lane else { return true }
    return self.lanes[lane]?.first == place
  }

  func isRunning(_ place: Place) -> Bool {
    if case .running? = self.items[place]?.activity { true } else { false }
  }

  /// What happens next in a lane.
  enum Next {
    case nothing
    /// The first call has its turn.
    case resume(Continuation)
    /// The first call is made again, as calls wait for it and nothing makes it.
    case replay(Place)
    /// The first call is not made now, so the replays behind it end.
    case block([Continuation])
  }

  /// Passes the turn of a lane on to its first call.
  mutating func advance(_ lane: String?) -> Next {
    guard let lane, let first = self.lanes[lane]?.first, let item = self.items[first] else { return .nothing }
    switch item.activity {
    case .waiting(let continuation, _):
      self.items[first]?.activity = .running
      return .resume(continuation)
    case .claimed, .running: return .nothing
    case .none:
      if item.isHeld { return .block(self.leaveReplays(behind: first, in: lane)) }
      // It is made again only if a caller waits behind it: otherwise `resume()` makes it.
      let isWaitedFor =
        self.lanes[lane]?.contains { place in
          switch self.items[place]?.activity {
          case .claimed(isReplay: false), .waiting(_, isReplay: false): true
          case .claimed, .waiting, .running, .some(.none), nil: false
          }
        } ?? false
      return isWaitedFor ? .replay(first) : .block(self.leaveReplays(behind: first, in: lane))
    }
  }

  private mutating func leaveReplays(behind first: Place, in lane: String) -> [Continuation] {
    var continuations: [Continuation] = []
    for place in self.lanes[lane] ?? [] where place != first {
      switch self.items[place]?.activity {
      case .waiting(let continuation, isReplay: true):
        continuations.append(continuation)
        self.items[place]?.activity = .claimed(isReplay: true)
      case .claimed(isReplay: true): self.items[place]?.endedEarly = .blocked
      default: break
      }
    }
    return continuations
  }
}
