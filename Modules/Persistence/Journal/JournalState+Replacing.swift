internal import OperationCore
internal import OperationMutation

/// The newest calls of a mutation that can be replaced: at the end of a scope, or without a scope.
struct ReplaceableCalls: Sendable {
  /// The name of the calls. A call with another name may build on them, so they can no longer be replaced.
  let name: String
  /// The calls by their subjects.
  var newest: [String: JournalState.Place] = [:]
}

/// The next step of a new call before it is stored.
enum ReplacementStep: Sendable {
  /// The call replaces no call.
  case none
  /// The call waits for an event.
  case wait(AwaitedOutcome<Void>)
  /// The call waits until it is known whether this process may send.
  case waitForLease(AwaitedOutcome<Void>)
  /// The call is merged with the call of this record, which does not begin meanwhile.
  case merge(JournalRecord)
}

extension JournalState {
  /// Identifies the calls among which one can replace another.
  private func group(of record: JournalRecord) -> String {
    record.scope.map { "s\($0)" } ?? "n\(record.name)"
  }

  /// Finds the call that a new call replaces. It does not begin from now on.
  mutating func link(_ place: Place) {
    guard let record = self.items[place]?.record, !record.isDeadLetter else { return }
    // Most journals have no call that can be replaced.
    if record.mergeKey == nil, self.replaceable.isEmpty { return }
    let group = self.group(of: record)
    var calls = self.replaceable[group].take()
    if calls?.name != record.name { calls = nil }
    guard let key = record.mergeKey else {
      if let calls { self.replaceable[group] = calls }
      return
    }
    var known = calls ?? ReplaceableCalls(name: record.name)
    let earlier = known.newest.updateValue(place, forKey: key)
    self.replaceable[group] = known
    guard let earlier, self.items[place]?.isStored == false, self.mayBeReplaced(earlier) else { return }
    self.items[place]?.replaced = earlier
    self.items[earlier]?.replacement = place
  }

  /// Finds the calls that can be replaced, after the entries were read.
  mutating func linkAll() {
    self.replaceable = [:]
    for place in self.items.keys.sorted() { self.link(place) }
  }

  private func mayBeReplaced(_ place: Place) -> Bool {
    guard let item = self.items[place], let record = item.record, item.replacement == nil, !item.isGone,
      !item.isElsewhere, !record.isDeadLetter, record.attempts == 0, record.isBegun != true, !item.expiry.hasPassed
    else { return false }
    switch item.activity {
    case .none, .waiting: return true
    case .claimed, .running: return item.isRefusable
    }
  }

  /// Decides the next step of a new call.
  ///
  /// - Parameters:
  ///   - place: The call.
  ///   - mayWaitForLease: Whether it may wait until it is known whether this process may send.
  /// - Returns: The step.
  mutating func replacementStep(of place: Place, mayWaitForLease: Bool) -> ReplacementStep {
    guard let earlier = self.items[place]?.replaced else { return .none }
    guard let item = self.items[earlier], let record = item.record, !item.isGone else {
      self.unlink(place)
      return .none
    }
    // The earlier call first replaces an even earlier one.
    guard item.isStored else {
      let signal = AwaitedOutcome<Void>()
      self.items[earlier]?.acceptanceWaiters.append(signal)
      return .wait(signal)
    }
    // If this process has not accepted the earlier call, another process may be sending it.
    let right = self.right(of: item)
    if !self.maySend(right), record.owner != self.owner {
      guard mayWaitForLease else {
        self.unlink(place)
        return .none
      }
      let signal = AwaitedOutcome<Void>()
      self.rights.decisionWaiters[right, default: []].append(signal)
      self.ask(for: right)
      return .waitForLease(signal)
    }
    return .merge(record)
  }

  /// Lets a call begin again that was about to be replaced.
  mutating func unlink(_ place: Place) {
    guard let earlier = self.items[place]?.replaced else { return }
    self.items[place]?.replaced = nil
    guard let item = self.items[earlier] else { return }
    self.items[earlier]?.replacement = nil
    self.actions.signals += item.replacementWaiters
    self.items[earlier]?.replacementWaiters = []
    if item.changes.areQueued { self.enqueueAgain(earlier) }
    if item.lane != nil {
      self.advance(item.lane)
    } else if item.isDue {
      self.dueWithoutScope.append(earlier)
      self.advanceWithoutScope()
    } else if case .waiting(let continuation, let caller) = item.activity, self.maySend(earlier) {
      self.waitingWithoutScope.remove(earlier)
      self.edit(earlier) { $0.activity = .running(isReplay: false) }
      self.actions.turns.append((continuation, .granted))
      self.actions.callers.append(caller)
    }
  }

  /// Ends the links of a call that is removed.
  mutating func removeLinks(of place: Place) {
    guard let item = self.items[place] else { return }
    let (earlier, later) = (item.replaced, item.replacement)
    if let later {
      // The later call then replaces the calls that this one would have replaced.
      self.items[later]?.replaced = earlier
      self.items[place]?.replaced = nil
      self.items[place]?.replacement = nil
      if let earlier { self.items[earlier]?.replacement = later }
    } else {
      self.unlink(place)
    }
    self.actions.signals += item.storeWaiters + item.acceptanceWaiters + item.replacementWaiters
    guard let record = item.record, let key = record.mergeKey else { return }
    let group = self.group(of: record)
    guard var calls = self.replaceable[group].take() else { return }
    if calls.newest[key] == place { calls.newest[key] = earlier }
    if !calls.newest.isEmpty { self.replaceable[group] = calls }
  }

  /// Accepts a call that was stored, and removes the call that it has replaced.
  ///
  /// - Returns: The updates of the replaced call, to be ended; nil if there is none.
  mutating func accept(_ place: Place) -> CallUpdates? {
    let isRefused = self.items[place]?.phase.isRefused == true
    self.edit(place) { $0.phase = .accepted }
    defer { if isRefused { self.beginRemoval(ofRefused: place) } }
    self.actions.signals += self.items[place]?.acceptanceWaiters ?? []
    self.items[place]?.acceptanceWaiters = []
    guard let earlier = self.items[place]?.replaced, let item = self.items[earlier], let new = self.items[place]
    else { return nil }
    item.fate.follow(new.fate)
    if case .waiting(let continuation, let caller) = item.activity {
      self.edit(earlier) { $0.activity = .claimed }
      self.actions.turns.append((continuation, .replaced))
      self.actions.callers.append(caller)
    }
    if item.activity.isReplay, let replay = item.replay.task { self.actions.cancelled.append(replay) }
    if let updates = item.updates { self.actions.ended.append(updates) }
    // The removed call has no link any more, so nothing is restored.
    self.items[place]?.replaced = nil
    self.items[earlier]?.replacement = nil
    self.actions.signals += item.replacementWaiters
    self.items[earlier]?.replacementWaiters = []
    self.remove(earlier)
    return item.callUpdates
  }

  /// If no process makes a call and callers of earlier calls wait for it, makes it again.
  mutating func makeAwaited(_ place: Place) {
    guard let item = self.items[place], item.record != nil, item.activity.isNone, item.fate.isAwaited else { return }
    if self.isStopped { return self.endAwaiting(item) }
    guard !item.isHeld, item.isPending, !item.isDue else { return }
    guard item.lane == nil else { return self.advance(item.lane) }
    self.lastResumption += 1
    self.makeDue(place, in: self.lastResumption)
    self.advanceWithoutScope()
  }

  /// An event that occurs once it is known whether a call is replaced; nil if it is not about to be.
  mutating func replacementSignal(of place: Place) -> AwaitedOutcome<Void>? {
    guard self.items[place]?.replacement != nil else { return nil }
    let signal = AwaitedOutcome<Void>()
    self.items[place]?.replacementWaiters.append(signal)
    return signal
  }
}
