internal import OperationCore
internal import OperationFoundation
internal import OperationMutation

/// What the stores of mutations show of a journal.
struct StoreView: Sendable {
  typealias Position = JournalState.Position

  /// The calls of the names that stores show. Names that no store has shown are left out.
  var calls: [String: ChunkedMap<Position, ShownCall>] = [:]
  /// The names by which stores know calls that were registered with other names.
  var storeNames: [String: String] = [:]
  /// The names whose calls have changed.
  var changed: Set<String> = []
  /// The calls that have ended, by the names.
  var ended: [String: [EndedCall]] = [:]
  /// The names of mutations with ended calls that are no longer shown.
  var forgotten: Set<String> = []
  /// The stores that have yet to show the calls for the first time.
  var new: Set<ObjectIdentifier> = []
  /// Whether a thread passes the changes on.
  var isNotifying = false
  /// The signals of those who wait for what the stores show, until it is shown.
  var signals: [AwaitedOutcome<Void>] = []

  var hasChanges: Bool { !self.changed.isEmpty || !self.new.isEmpty }

  /// Whether the stores do not show yet what the journal has.
  var isBehind: Bool { self.hasChanges || self.isNotifying }

  /// No longer shows the ended calls of the mutations with these names; nil for all mutations.
  mutating func forgetEnded(_ names: Set<String>?) {
    let known = names.map { Set($0.map { self.storeNames[$0] ?? $0 }) } ?? Set(self.calls.keys)
    self.forgotten.formUnion(known.intersection(self.calls.keys))
    self.changed.formUnion(self.forgotten)
  }

  /// The name by which stores know a call.
  func storeName(of record: JournalRecord) -> String { self.storeNames[record.name] ?? record.name }

  /// Shows a call, or removes it.
  ///
  /// - Parameters:
  ///   - call: The call; nil if it is removed.
  ///   - record: The record that it had before; nil for a new one.
  ///   - position: The position of the call.
  mutating func set(_ call: ShownCall?, replacing record: JournalRecord?, at position: Position) {
    guard !self.calls.isEmpty, let name = (call?.record ?? record).map(self.storeName) else { return }
    guard var shown = self.calls[name].take() else { return }
    let earlier = if let call { shown.insert(call, for: position) } else { shown.removeValue(for: position) }
    self.calls[name] = shown
    // Most changes of a record do not concern a screen.
    if call == nil ? earlier != nil : earlier.map({ !$0.looksLike(call) }) ?? true { self.changed.insert(name) }
  }

  /// Notes how a call has ended, for the stores that show it.
  mutating func end(_ item: JournalState.Item, at position: Position, _ ending: JournalEnding) {
    guard let name = item.record.map(self.storeName), self.calls[name] != nil else { return }
    self.ended[name, default: []].append(EndedCall(position: position, call: ShownCall(item), ending: ending))
    self.changed.insert(name)
  }
}

extension JournalState {
  /// Begins to show the calls of some names.
  mutating func watch(_ names: Set<String>, in store: ObjectIdentifier) {
    let new = names.filter { self.view.calls[$0] == nil }
    if !new.isEmpty { self.collectCalls(of: new) }
    self.view.new.insert(store)
  }

  /// Makes calls of a registered name known to the stores of another name.
  mutating func name(_ registered: String, inStoresOf name: String) {
    guard registered != name, self.view.storeNames.updateValue(name, forKey: registered) != name else { return }
    let watched = Set([registered, name].filter { self.view.calls[$0] != nil })
    self.collectCalls(of: watched)
    self.view.changed.formUnion(watched)
  }

  /// Shows the calls anew in all stores: which of them are blocked has changed.
  mutating func showBlocking() {
    self.view.changed.formUnion(self.view.calls.keys)
  }

  private mutating func collectCalls(of names: Set<String>) {
    for name in names { self.view.calls[name] = ChunkedMap() }
    for position in self.items.keys.sorted() {
      guard let item = self.items[position], item.isStored, let record = item.record else { continue }
      let name = self.view.storeName(of: record)
      if names.contains(name) { self.view.calls[name]?.insert(ShownCall(item), for: position) }
    }
    for schedule in self.schedules.all.values {
      let call = ShownCall(schedule)
      guard let name = call.record.map(self.view.storeName), names.contains(name) else { continue }
      self.view.calls[name]?.insert(call, for: schedule.position)
    }
  }

  /// Leaves the signals to the thread that passes the changes on: another one may do, and not be done.
  mutating func deferSignals() {
    guard self.view.isBehind, !self.actions.signals.isEmpty else { return }
    self.view.signals += self.actions.signals
    self.actions.signals = []
  }

  /// Takes what stores are to show.
  ///
  /// - Parameter isNext: Whether the thread has passed the changes before on.
  /// - Returns: The changes; nil if another thread passes them on, or if there are none.
  mutating func takeStoreChanges(isNext: Bool) -> StoreChanges? {
    guard isNext || !self.view.isNotifying else { return nil }
    self.view.isNotifying = self.view.hasChanges || !self.view.signals.isEmpty
    guard self.view.isNotifying else { return nil }
    defer {
      self.view.changed = []
      self.view.ended = [:]
      self.view.forgotten = []
      self.view.new = []
      self.view.signals = []
    }
    return StoreChanges(view: self.view, blocked: self.shown.blocked, leases: self.shown.leases)
  }
}

/// What has changed for the stores of mutations.
struct StoreChanges: Sendable {
  let view: StoreView
  let blocked: [String: BlockingCall]
  let leases: [JournalLeaseKey: Date]

  /// The signals of those who continue when the changes are shown.
  var signals: [AwaitedOutcome<Void>] { self.view.signals }

  /// What a store shows; nil if nothing has changed for it.
  func calls(for store: any JournalShowing) -> ShownCalls? {
    let isNew = self.view.new.contains(ObjectIdentifier(store))
    let isAnew = isNew || !store.names.isDisjoint(with: self.view.forgotten)
    guard isAnew || !store.names.isDisjoint(with: self.view.changed) else { return nil }
    return ShownCalls(
      pending: store.names.compactMap { self.view.calls[$0] },
      blocked: self.blocked,
      leases: self.leases,
      ended: isAnew ? [] : store.names.flatMap { self.view.ended[$0] ?? [] },
      isAnew: isAnew
    )
  }
}
