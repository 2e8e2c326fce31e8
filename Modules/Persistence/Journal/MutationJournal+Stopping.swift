internal import OperationCore
internal import OperationMutation

/// The journals that make calls with a client.
final class BoundJournals: OperationClientFlushable {
  private struct Journal: Sendable {
    weak var value: MutationJournal?
  }

  private let journals = Locked<[ObjectIdentifier: Journal]>([:])

  func add(_ journal: MutationJournal) {
    self.journals.withLock { $0[ObjectIdentifier(journal)] = Journal(value: journal) }
  }

  /// Each journal writes by itself.
  func flush() async -> Bool { true }

  func automaticRunsDidStop() {
    for journal in self.journals.withLock({ $0.values.compactMap(\.value) }) { journal.stopIfClientHas() }
  }
}

extension MutationJournal {
  /// Makes the journal stop together with a client that it was bound to.
  func stop(with client: OperationClient) {
    client.attachment { BoundJournals() }.add(self)
    // After that, so that a client which stops meanwhile is noticed.
    self.state.withLock { $0.isStopped = false }
    self.stopIfClientHas()
  }

  fileprivate func stopIfClientHas() {
    guard self.boundClient?.automaticRunsAreStopped.isOn == true else { return }
    self.change { $0.stop() }
  }
}

extension JournalState {
  /// Begins no body any more of a stored call that has no caller, and ends the waits of callers for such calls.
  ///
  /// A body that runs goes on. All calls stay stored.
  fileprivate mutating func stop() {
    guard !self.isStopped else { return }
    self.isStopped = true
    for position in self.items.keys.sorted() {
      guard let item = self.items[position] else { continue }
      if item.activity.isReplay, !item.bodies.isRunning {
        // It waits for something before its body, or between two attempts.
        if let replay = self.items[position]?.replay.cancel() { self.actions.cancelled.append(replay) }
      } else if item.activity.isNone {
        self.endDue(position)
        self.makeAwaited(position)
      }
    }
    // Those that wait for a lease ask for it a last time, and so do the callers that have their turn: see `refuse(_:)`.
    for leaseKey in self.leases.sendWaiters.keys { self.actions.signals += self.leases.removeSendWaiters(of: leaseKey) }
    for scope in self.scopes.keys.sorted() { self.advance(scope) }
    for position in self.waitingWithoutScope { if let item = self.items[position] { self.ask(for: item.leaseKey) } }
  }

  /// Cancels a replay whose body must not begin, because the journal has stopped, unless another body of it runs, which goes on.
  ///
  /// - Parameters:
  ///   - position: The call.
  ///   - isCounted: Whether the body is counted.
  /// - Returns: Whether the body must not begin.
  mutating func stopReplay(of position: Position, isCounted: Bool) -> Bool {
    guard self.isStopped, let item = self.items[position], item.activity.isReplay else { return false }
    var others = item.bodies
    if isCounted { others.end() }
    if !others.isRunning, let replay = self.items[position]?.replay.cancel() { self.actions.cancelled.append(replay) }
    return true
  }

  /// Ends the waits of callers for leases that other processes have, or that the storage could not give.
  mutating func endWaits(for leaseKeys: Set<JournalLeaseKey>) {
    for leaseKey in leaseKeys { self.actions.signals += self.leases.removeSendWaiters(of: leaseKey, where: \.mayLeave) }
    let first = self.scopes.values.compactMap(\.first)
    for position in first + Array(self.waitingWithoutScope) {
      guard let item = self.items[position], leaseKeys.contains(item.leaseKey) else { continue }
      self.endWait(of: position, with: .stopped)
    }
  }

  /// Ends the waits of the callers behind a call that is not made any more. Their calls stay.
  mutating func endWaits(in scope: String) {
    for position in self.scopes[scope]?.all ?? [] { self.endWait(of: position, with: .stopped) }
  }

  /// Ends the waits for the result of a call that is not made any more.
  mutating func endAwaiting(_ item: Item) {
    let name = item.record?.name ?? ""
    self.actions.stoppedResults.append((item.result, .ended(.stopped, name)))
  }
}
