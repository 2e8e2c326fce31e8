internal import OperationCore

/// Identifies a call of a journal that a caller or a replay makes.
struct JournalTicket: Sendable {
  let journal: MutationJournal
  let place: JournalState.Place
  let id: String
  let name: String
  let lane: String?
  let isReplay: Bool
  /// The name of the operation; nil for a replay whose mutation is not registered.
  var operationName: String?
  /// Where the optimistic updates of a replay are among those of other calls; nil if the call had none.
  var layerPlace: StateLayerPlace?
}

// MARK: - Replays

extension JournalTicket {
  /// Waits for the turn of a replay and counts its attempt. Returns its end if it cannot be made now.
  func begin() async -> JournalEnd? {
    switch await self.journal.turn(of: self) {
    case .granted: break
    case .blocked, .cancelled, .removed: return .left
    }
    do {
      try await self.journal.countAttempt(of: self)
      return nil
    } catch {
      return .held(error)
    }
  }

  /// The end of a replay that has thrown an error.
  func end(after error: any Error, failsForGood: Bool) -> JournalEnd {
    if let error = error as? JournalError, error.code != .notAccepted { return .left }
    if error.endsCancelledRun { return .left }
    return failsForGood ? .done(failure: error) : .held(error)
  }
}
