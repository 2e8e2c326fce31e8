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
  /// Begins no stored call any more that has no caller, and ends the waits of callers for such calls.
  ///
  /// A call whose body runs goes on. All calls stay stored.
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
    for scope in self.scopes.keys.sorted() { self.advance(scope) }
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
