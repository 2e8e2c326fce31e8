public import OperationCore

extension OperationNotice.Name {
  /// A journal has stored a call, which is made even if the process ends.
  ///
  /// The attribute `journal.name` of this notice and of the following ones is the name in `.journaled(as:)`.
  public static let journalAccepted = Self("journal.accepted")

  /// A call has succeeded, and its entry was removed.
  public static let journalSent = Self("journal.sent")

  /// A call has failed, after all attempts that its mutation makes.
  ///
  /// The attribute `journal.error` is the type of the error, and `journal.attempts` is the number of bodies that have
  /// begun. `journal.is_final` says whether the entry was removed; otherwise the call is made again.
  public static let journalFailed = Self("journal.failed")

  /// A call has become a dead letter, and is not made again before `retry(_:)`.
  ///
  /// The attribute `journal.attempts` is the number of bodies that have begun.
  public static let journalDeadLetter = Self("journal.dead_letter")

  /// A call has expired. It is kept, and not made before `retry(_:)`.
  ///
  /// The attribute `journal.attempts` is the number of bodies that have begun.
  public static let journalExpired = Self("journal.expired")

  /// A call is in conflict with the data of the server. It is kept, and not made before the user has decided.
  ///
  /// The attribute `journal.attempts` is the number of bodies that have begun.
  public static let journalConflicted = Self("journal.conflicted")

  /// A call was not made, because no registered mutation has its name and knows its version.
  public static let journalUnregistered = Self("journal.unregistered")

  /// A caller waits for an earlier call of its scope that has failed and is made again by `resume()`.
  ///
  /// The observers of the waiting run receive it, once for each time that its scope is blocked.
  public static let journalBlocked = Self("journal.blocked")

  /// An entry was removed by `remove(_:)`. The notice has no `journal.name` if the entry could not be read.
  public static let journalRemoved = Self("journal.removed")

  /// The number of calls that were accepted and are to be made has changed.
  ///
  /// The number is the level of the notice, which the observers of the client receive. Dead letters and unreadable
  /// entries do not count.
  public static let journalPending = Self("journal.pending")
}

extension MutationJournal {
  /// Sends a notice to the observers of a run; without a run, to the observers of the client.
  func send(in context: OperationContext?, _ notice: () -> OperationNotice) {
    (context ?? self.boundClient?.defaultContext)?.send(notice())
  }

  /// Notifies the observers of the client of the number of pending calls, if it has changed.
  ///
  /// One thread at a time does so, so that the last number that observers receive is the current one.
  func reportPendingCount() {
    guard let context = self.boundClient?.defaultContext, !context.operationNoticeObservers.isEmpty else { return }
    while let count = self.beginReporting() {
      context.send(OperationNotice(.journalPending, level: count))
      self.state.withLock { $0.isReporting = false }
    }
  }

  /// Returns the number to report; nil if it has not changed, or if another thread reports it.
  private func beginReporting() -> Int? {
    self.state.withLock { state in
      guard !state.isReporting, state.loading == .loaded, state.reportedCount != state.pendingCount else { return nil }
      state.isReporting = true
      state.reportedCount = state.pendingCount
      return state.pendingCount
    }
  }
}

extension JournalTicket {
  func notice(_ name: OperationNotice.Name, attempts: Int? = nil) -> OperationNotice {
    var attributes: [String: OperationNotice.Value] = ["journal.name": .string(self.name)]
    if let attempts { attributes["journal.attempts"] = .integer(attempts) }
    return OperationNotice(name, ofOperationNamed: self.operationName, attributes: attributes)
  }

  func notice(of error: any Error, after attempts: Int, isFinal: Bool) -> OperationNotice {
    let attributes: [String: OperationNotice.Value] = [
      "journal.name": .string(self.name),
      "journal.error": .string(ShownText.typeName(of: error)),
      "journal.attempts": .integer(attempts),
      "journal.is_final": .flag(isFinal),
    ]
    return OperationNotice(.journalFailed, ofOperationNamed: self.operationName, attributes: attributes)
  }
}
