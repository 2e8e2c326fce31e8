internal import OperationCore

/// The calls that ``MutationJournal/resume()`` makes again.
///
/// They are made whether or not this value is kept.
public struct JournalResumption: Sendable {
  let journal: MutationJournal
  /// The number of the resumption; 0 if the journal could not be read.
  let number: Int

  /// Waits until the calls have ended or are left for a later ``MutationJournal/resume()``, or the current task is
  /// cancelled.
  ///
  /// It also waits for the calls of earlier resumptions. Inside of the body of one of these calls, or of an earlier one of
  /// their scopes, it would wait for itself: that is reported, and it returns at once.
  public func settled() async {
    let due = MutationJournal.turns.isEmpty ? [] : self.journal.state.withLock { $0.positions(dueIn: self.number) }
    if self.journal.reportCycle("the end of a resumption that waits for that call", { due.contains($0) }) { return }
    let signal = AwaitedOutcome<Void>()
    let waits = self.journal.change { $0.waitForEnd(of: self.number, signal) }
    guard waits else { return }
    await signal.value(cancelled: ())
    // A cancelled wait leaves nothing behind.
    self.journal.change { state in state.resumptionWaiters.removeAll { $0.signal === signal } }
  }

  /// Cancels the calls of this and of earlier resumptions. They stay in the journal until the next
  /// ``MutationJournal/resume()``.
  ///
  /// - Complexity: O(*n*) in the number of entries.
  public func cancel() {
    self.journal.change { $0.cancel(self.number) }
  }
}

extension MutationJournal {
  /// Waits until no call is being made again, or the current task is cancelled.
  package func settled() async {
    await JournalResumption(journal: self, number: .max - 1).settled()
  }
}

extension JournalState {
  /// The calls that a resumption and the earlier ones make.
  fileprivate func positions(dueIn resumption: Int) -> Set<Position> {
    Set(self.items.filter { $0.value.isDue && $0.value.resumption <= resumption }.keys)
  }

  fileprivate mutating func cancel(_ resumption: Int) {
    for (position, item) in self.items where item.isDue && item.resumption <= resumption {
      let replay = self.items[position]?.replay.cancel()
      if item.activity.isReplay {
        if let replay { self.actions.cancelled.append(replay) }
      } else {
        self.endDue(position)
      }
    }
  }
}
