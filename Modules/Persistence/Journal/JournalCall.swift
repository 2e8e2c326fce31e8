internal import OperationCore
internal import OperationMutation

/// One call of a journaled mutation, with all its attempts.
///
/// The attempts share it, so that a retry, inside or outside of `.journaled(as:)`, makes no new entry.
final class JournalCall: Sendable {
  private struct State: Sendable {
    var ticket: JournalTicket?
    /// The error of a call that was not accepted or got no turn. Every further attempt throws it, too.
    var error: JournalError?
    var judgement: (@Sendable (any Error) -> Bool)?
    var coding: JournalCoding?
    var replay: JournalReplay?
  }

  let run: OperationTaskIdentifier?
  let scope: OperationPath?
  let isInsideScope: Bool
  /// Whether the context is the one of another journaled call. The call must not use the key in it then.
  let isNested: Bool
  private let state = Locked(State())

  init(run: OperationTaskIdentifier?, scope: OperationPath?, isInsideScope: Bool, isNested: Bool = false) {
    self.run = run
    self.scope = scope
    self.isInsideScope = isInsideScope
    self.isNested = isNested
  }

  /// The call of the run that a context belongs to; nil for a run without a wrapper.
  ///
  /// The first use in a run that a replay has made takes the call of the replay over.
  static func current(in context: OperationContext) -> JournalCall? {
    guard let call = context.journalCall, call.run == context.operationRunningTaskIdentifier else { return nil }
    if let replay = context.journalReplay, replay.claim(by: call.run) {
      call.state.withLock { state in
        if state.replay == nil { state.replay = replay }
      }
    }
    return call
  }

  func setJudgement(_ judgement: @escaping @Sendable (any Error) -> Bool) {
    let replay = self.state.withLock { state, released in
      released.append(state.judgement)
      state.judgement = judgement
      return state.replay
    }
    replay?.setJudgement(judgement)
  }

  /// The ticket; nil before the call was accepted.
  var acceptedTicket: JournalTicket? { self.state.withLock { $0.ticket } }

  /// The error that every further attempt throws; nil if the call can be made.
  var refusal: JournalError? { self.state.withLock { $0.error } }

  var coding: JournalCoding? { self.state.withLock { $0.coding } }

  func setTicket(_ ticket: JournalTicket) {
    self.state.withLock { state, released in
      released.append(state.ticket)
      state.ticket = ticket
    }
  }

  func setCoding(_ coding: JournalCoding) {
    self.state.withLock { state, released in
      released.append(state.coding)
      state.coding = coding
    }
  }

  /// Makes every further attempt throw an error, because the journal does not make the call.
  func refuse(with error: JournalError) {
    self.state.withLock { $0.error = error }
  }

  /// Returns the ticket of the call. The first attempt waits until the call was accepted and has its turn.
  func ticket(
    in context: OperationContext,
    accept: () async throws(JournalError) -> JournalTicket
  ) async throws(JournalError) -> JournalTicket {
    let (present, error, replay) = self.state.withLock { ($0.ticket, $0.error, $0.replay) }
    if let error { throw error }
    if let present { return present }
    do throws(JournalError) {
      let ticket: JournalTicket
      if let replay { ticket = replay.ticket } else { ticket = try await accept() }
      self.state.withLock { $0.ticket = ticket }
      if let updates = ticket.updates { context.keepOptimisticUpdates(in: updates) }
      if ticket.isReplay, let updates = context.callUpdates { ticket.journal.note(updates, of: ticket) }
      // A replay begins when it has its turn.
      if self.isInsideScope || replay != nil { return ticket }
      let turn = await ticket.journal.turn(of: ticket, in: context)
      // The caller of a replaced call waits for the call in its place.
      guard turn == .granted || turn == .replaced else { throw .ended(turn, ticket.name) }
      return ticket
    } catch {
      self.state.withLock { $0.error = error }
      throw error
    }
  }

  /// Ends the call in the journal. The call of a replay is ended by the replay itself.
  func end(failing failure: (any Error)?, in context: OperationContext) async {
    let (ticket, judgement, error) = self.state.withLock { ($0.ticket, $0.judgement, $0.error) }
    guard let ticket, !ticket.isReplay, !ticket.result.isReplaced else { return }
    switch failure {
    case nil: await ticket.journal.end(ticket, .done(failure: nil), in: context)
    case .some where error != nil: await ticket.journal.end(ticket, .left)
    case .some(let failure) where failure.endsCancelledRun: await ticket.journal.end(ticket, .left)
    case .some(let failure):
      let isDone = judgement?(failure) ?? !failure.canPass
      await ticket.journal.end(ticket, isDone ? .done(failure: failure) : .held(failure), in: context)
    }
  }
}

extension OperationContext {
  var journalCall: JournalCall? {
    get { self[JournalCallKey.self] }
    set { self[JournalCallKey.self] = newValue }
  }

  private enum JournalCallKey: Key {
    static let defaultValue: JournalCall? = nil
  }
}
