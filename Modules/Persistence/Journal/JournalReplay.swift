internal import OperationCore

/// Makes a run of the registered mutation repeat a call of the journal, also if the mutation is now journaled under
/// another name.
final class JournalReplay: Sendable {
  private struct State: Sendable {
    var isClaimed = false
    var run: OperationTaskIdentifier?
    var judgement: (@Sendable (any Error) -> Bool)?
    var isRefused = false
  }

  let ticket: JournalTicket
  private let state = Locked(State())

  init(ticket: JournalTicket) {
    self.ticket = ticket
  }

  /// Whether a run makes the call. Only the first run that asks does: another mutation may be called inside of it.
  func claim(by run: OperationTaskIdentifier?) -> Bool {
    self.state.withLock { state in
      if state.isClaimed { return state.run == run }
      state.isClaimed = true
      state.run = run
      return true
    }
  }

  func setJudgement(_ judgement: @escaping @Sendable (any Error) -> Bool) {
    self.state.withLock { state, released in
      released.append(state.judgement)
      state.judgement = judgement
    }
  }

  /// Notes that the journal does not make the call.
  func refuse() { self.state.withLock { $0.isRefused = true } }

  /// Whether the run has made nothing, whatever its outcome is.
  var isUnmade: Bool { self.state.withLock { $0.isRefused } && self.ticket.result.lastValue == nil }

  /// Whether an error is final; false if the mutation does not judge it.
  func failsForGood(_ error: any Error) -> Bool {
    self.state.withLock { $0.judgement }?(error) ?? false
  }
}

extension OperationContext {
  var journalReplay: JournalReplay? {
    get { self[JournalReplayKey.self] }
    set { self[JournalReplayKey.self] = newValue }
  }

  private enum JournalReplayKey: Key {
    static let defaultValue: JournalReplay? = nil
  }
}
