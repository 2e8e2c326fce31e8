internal import OperationCore
internal import OperationMutation

/// The newest calls of a mutation that can be replaced: at the end of a scope, or without a scope.
struct ReplaceableCalls: Sendable {
  /// The name of the calls. A call with another name may build on them, so they can no longer be replaced.
  let name: String
  /// The calls by their subjects.
  var newest: [String: JournalState.Position] = [:]
}

extension JournalState.Item {
  /// Whether no body of it has begun, and none of another process may begin, as far as this process knows.
  fileprivate var isUnsent: Bool {
    guard let record = self.record, !record.isDeadLetter, !record.mayHaveBeenSent, record.isBegun != true
    else { return false }
    return !self.isGone && !self.isElsewhere
  }
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
  mutating func link(_ position: Position) {
    guard let record = self.items[position]?.record, !record.isDeadLetter else { return }
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
    let earlier = known.newest.updateValue(position, forKey: key)
    self.replaceable[group] = known
    guard let earlier, self.items[position]?.isStored == false, self.mayBeReplaced(earlier) else { return }
    self.items[position]?.phase.acceptance?.replaced = earlier
    self.items[earlier]?.replacement = position
  }

  /// Finds the calls that can be replaced, after the entries were read.
  mutating func linkAll() {
    self.replaceable = [:]
    for position in self.items.keys.sorted() { self.link(position) }
  }

  private func mayBeReplaced(_ position: Position) -> Bool {
    guard let item = self.items[position], item.replacement == nil, item.isUnsent else { return false }
    return !item.expiry.hasPassed && item.activity.canBeReplaced
  }

  /// Decides the next step of a new call.
  ///
  /// - Parameters:
  ///   - position: The call.
  ///   - mayWaitForLease: Whether it may wait until it is known whether this process may send.
  /// - Returns: The step.
  mutating func replacementStep(of position: Position, mayWaitForLease: Bool) -> ReplacementStep {
    guard let earlier = self.items[position]?.phase.acceptance?.replaced else { return .none }
    guard let item = self.items[earlier], let record = item.record, !item.isGone else {
      self.unlink(position)
      return .none
    }
    // Another process may have sent the earlier call before this one has read its entry again.
    guard item.isUnsent || item.bodies.areCounted else {
      self.unlink(position)
      return .none
    }
    // The earlier call first replaces an even earlier one.
    guard item.isStored else {
      let signal = AwaitedOutcome<Void>()
      self.items[earlier]?.phase.acceptance?.waiters.append(signal)
      return .wait(signal)
    }
    // If this process has not accepted the earlier call, another process may be sending it.
    let leaseKey = item.leaseKey
    if !self.maySend(leaseKey), record.owner != self.owner {
      guard mayWaitForLease else {
        self.unlink(position)
        return .none
      }
      let signal = AwaitedOutcome<Void>()
      self.leases.decisionWaiters[leaseKey, default: []].append(signal)
      self.ask(for: leaseKey)
      return .waitForLease(signal)
    }
    self.items[position]?.phase.acceptance?.replacedVersion = item.seen
    return .merge(record)
  }

  /// Notes that this process has stored a call with which a later one was merged meanwhile.
  mutating func noteReplacedVersion(_ version: CallVersion?, at position: Position) {
    guard let item = self.items[position], let later = item.replacement,
      let merged = self.items[later]?.phase.acceptance?.replacedVersion, merged == item.seen
    else { return }
    self.items[later]?.phase.acceptance?.replacedVersion = version
  }

  /// Lets a call begin again that was about to be replaced.
  mutating func unlink(_ position: Position) {
    guard let earlier = self.items[position]?.phase.acceptance?.replaced else { return }
    self.items[position]?.phase.acceptance?.replaced = nil
    guard let item = self.items[earlier] else { return }
    self.items[earlier]?.replacement = nil
    self.endDecision(about: earlier)
    if item.changes.areQueued { self.enqueueAgain(earlier) }
    if item.scope != nil {
      self.advance(item.scope)
    } else if item.isDue {
      self.dueWithoutScope.append(earlier)
      self.advanceWithoutScope()
    } else if self.maySend(earlier) {
      self.endWait(of: earlier, with: .granted)
    }
  }

  /// Ends the links of a call that is removed.
  mutating func removeLinks(of position: Position) {
    guard let item = self.items[position] else { return }
    let acceptance = item.phase.acceptance
    let (earlier, later) = (acceptance?.replaced, item.replacement)
    if let later {
      // The later call then replaces the calls that this one would have replaced.
      self.items[later]?.phase.acceptance?.replaced = earlier
      self.items[position]?.phase.acceptance?.replaced = nil
      self.items[position]?.replacement = nil
      if let earlier { self.items[earlier]?.replacement = later }
    } else {
      self.unlink(position)
    }
    self.actions.signals += (acceptance.map { $0.storeWaiters + $0.waiters } ?? []) + item.decisionWaiters
    guard let record = item.record, let key = record.mergeKey else { return }
    let group = self.group(of: record)
    guard var calls = self.replaceable[group].take() else { return }
    if calls.newest[key] == position { calls.newest[key] = earlier }
    if !calls.newest.isEmpty { self.replaceable[group] = calls }
  }

  /// Accepts a call that was stored, and removes the call that it has replaced.
  ///
  /// - Returns: The updates of the replaced call, to be ended; nil if there is none.
  mutating func accept(_ position: Position) -> CallUpdates? {
    guard let acceptance = self.items[position]?.phase.acceptance else { return nil }
    let maySend = self.maySend(position)
    let hasTurn = self.hasTurn(position)
    self.edit(position) { item in
      item.phase = .accepted
      // A call whose first body is counted has its turn with its acceptance, which saves its observers a change.
      guard maySend, hasTurn, !acceptance.isRefused, item.replacement == nil, item.bodies.areCounted,
        case .claimed(let run, nil) = item.activity
      else { return }
      item.activity = .running(run)
    }
    defer { if acceptance.isRefused { self.beginRemoval(ofRefused: position) } }
    self.actions.signals += acceptance.waiters
    guard let earlier = acceptance.replaced, let item = self.items[earlier], let new = self.items[position]
    else { return nil }
    // A removal that the user has begun meanwhile has waited for this. What was to be removed is part of the new call.
    if case .removing = item.phase { self.actions.refusedRemovals += self.items[earlier]?.changes.refuse() ?? [] }
    item.result.follow(new.result)
    self.endWait(of: earlier, with: .replaced)
    if item.activity.isReplay, let replay = item.replay.task { self.actions.cancelled.append(replay) }
    if let updates = item.updates { self.actions.ended.append(updates) }
    // The removed call has no link any more, so nothing is restored.
    self.items[earlier]?.replacement = nil
    self.endDecision(about: earlier)
    self.remove(earlier)
    return item.callUpdates
  }

  /// If no process makes a call and callers of earlier calls wait for it, makes it again.
  mutating func makeAwaited(_ position: Position) {
    guard let item = self.items[position], item.record != nil, item.activity.isNone, item.result.isAwaited else {
      return
    }
    if self.isStopped { return self.endAwaiting(item) }
    guard !item.isHeld, item.isPending, !item.isDue else { return }
    guard item.scope == nil else { return self.advance(item.scope) }
    self.lastResumption += 1
    self.makeDue(position, in: self.lastResumption)
    self.advanceWithoutScope()
  }

  /// An event that occurs once it is known whether a call is replaced; nil if it is not about to be.
  mutating func replacementSignal(of position: Position) -> AwaitedOutcome<Void>? {
    self.items[position]?.replacement == nil ? nil : self.decision(about: position)
  }

  /// An event that occurs once it is known whether a call is replaced or removed. One of them is under way.
  mutating func decision(about position: Position) -> AwaitedOutcome<Void> {
    let signal = AwaitedOutcome<Void>()
    self.items[position]?.decisionWaiters.append(signal)
    return signal
  }

  /// Wakes the tasks that wait until it is known what becomes of a call.
  mutating func endDecision(about position: Position) {
    guard let waiters = self.items[position]?.decisionWaiters else { return }
    self.actions.signals += waiters
    self.items[position]?.decisionWaiters = []
  }
}
