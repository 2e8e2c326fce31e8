internal import OperationCore
internal import OperationMutation

/// One call of a journaled mutation, with all its attempts.
///
/// The attempts share it, so that a retry, inside or outside of `.journaled(as:)`, makes no new entry. One of them stores the call
/// and waits for its turn, and the others wait for that attempt.
final class JournalCall: Sendable {
  /// How far the call has come in its run. A phase before the last two has no ticket until the call is accepted.
  private enum Phase: Sendable {
    /// No attempt stores it or waits for its turn: none has come yet, or the one that did was cancelled.
    case open(JournalTicket?)
    /// An attempt stores it, or waits for its turn.
    case beginning(JournalTicket?, waiters: [AwaitedOutcome<Void>])
    /// It has its turn.
    case begun(JournalTicket)
    /// It was not accepted, got no turn, or is not made again. Every further attempt throws the error, too.
    case refused(JournalError, JournalTicket?)
    /// Its run has ended. An attempt that was left may still store it, and then ends it.
    case ended(JournalTicket?)

    var ticket: JournalTicket? {
      get {
        switch self {
        case .begun(let ticket): ticket
        case .open(let ticket), .beginning(let ticket, _), .refused(_, let ticket), .ended(let ticket): ticket
        }
      }
      set {
        guard let newValue else { return }
        switch self {
        case .open: self = .open(newValue)
        case .beginning(_, let waiters): self = .beginning(newValue, waiters: waiters)
        case .begun: self = .begun(newValue)
        case .refused(let error, _): self = .refused(error, newValue)
        case .ended: self = .ended(newValue)
        }
      }
    }

    var isEnded: Bool { if case .ended = self { true } else { false } }
  }

  private struct State: Sendable {
    var phase = Phase.open(nil)
    var judgement: (@Sendable (any Error) -> Bool)?
    var coding: JournalCoding?
    var replay: JournalReplay?
  }

  /// What an attempt does next.
  private enum Step: Sendable {
    /// It stores the call, unless that has a ticket, and waits for its turn.
    case begin(JournalTicket?)
    /// It waits for the attempt that does.
    case wait(AwaitedOutcome<Void>)
    case make(JournalTicket)
    case fail(JournalError)
    /// The run has ended without it.
    case leave
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
  var acceptedTicket: JournalTicket? { self.state.withLock { $0.phase.ticket } }

  /// The error that every further attempt throws; nil if the call can be made.
  var refusal: JournalError? {
    self.state.withLock { if case .refused(let error, _) = $0.phase { error } else { nil } }
  }

  var coding: JournalCoding? { self.state.withLock { $0.coding } }

  func setTicket(_ ticket: JournalTicket) {
    self.state.withLock { state, released in
      released.append(state.phase.ticket)
      state.phase.ticket = ticket
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
    self.replacePhase { $0.isEnded ? nil : .refused(error, $0.ticket) }
    self.state.withLock { $0.replay }?.refuse()
  }

  /// Returns the ticket of the call, once the call was accepted and has its turn.
  ///
  /// - Parameters:
  ///   - name: The name that the mutation is journaled as.
  ///   - context: The context of the attempt.
  ///   - accept: Stores the call.
  /// - Returns: The ticket.
  /// - Throws: The reason for which the attempt does not make the call.
  func ticket(
    of name: String,
    in context: OperationContext,
    accept: () async throws(JournalError) -> JournalTicket
  ) async throws(JournalError) -> JournalTicket {
    while true {
      switch self.nextStep() {
      case .begin(let ticket): return try await self.begin(ticket, in: context, accept)
      case .make(let ticket): return ticket
      case .fail(let error): throw error
      case .leave: throw .ended(.cancelled, name)
      case .wait(let signal):
        await signal.value(cancelled: ())
        guard Task.isCancelled else { continue }
        self.stopWaiting(signal)
        throw .ended(.cancelled, name)
      }
    }
  }

  private func nextStep() -> Step {
    self.state.withLock { state in
      switch state.phase {
      case .open(let ticket):
        state.phase = .beginning(ticket, waiters: [])
        return .begin(ticket)
      case .beginning(let ticket, let waiters):
        let signal = AwaitedOutcome<Void>()
        state.phase = .beginning(ticket, waiters: waiters + [signal])
        return .wait(signal)
      case .begun(let ticket): return .make(ticket)
      case .refused(let error, _): return .fail(error)
      case .ended: return .leave
      }
    }
  }

  private func stopWaiting(_ signal: AwaitedOutcome<Void>) {
    self.state.withLock { state in
      guard case .beginning(let ticket, let waiters) = state.phase else { return }
      state.phase = .beginning(ticket, waiters: waiters.filter { $0 !== signal })
    }
  }

  /// Stores the call if it has no ticket, and waits for its turn.
  private func begin(
    _ accepted: JournalTicket?,
    in context: OperationContext,
    _ accept: () async throws(JournalError) -> JournalTicket
  ) async throws(JournalError) -> JournalTicket {
    do throws(JournalError) {
      let ticket: JournalTicket
      if let accepted { ticket = accepted } else { ticket = try await self.ticket(acceptedBy: accept, in: context) }
      // A replay begins when it has its turn.
      if !self.isInsideScope, !ticket.isReplay {
        let turn = await ticket.journal.turn(of: ticket, in: context)
        // The caller of a replaced call waits for the call in its place.
        guard turn == .granted || turn == .replaced else { throw .ended(turn, ticket.name) }
      }
      guard self.endBeginning({ .begun($0 ?? ticket) }) else { throw .ended(.cancelled, ticket.name) }
      return ticket
    } catch {
      // Another attempt of the run may go on where this one has left.
      let isLeft = error.code == .cancelled && Task.isCancelled
      self.endBeginning { isLeft ? .open($0) : .refused(error, $0) }
      throw error
    }
  }

  /// Replaces the phase, and wakes the attempts that wait for the end of the beginning.
  ///
  /// - Parameter next: Returns the next phase, from the present one; nil to leave that.
  /// - Returns: The earlier phase; nil if it is left.
  @discardableResult
  private func replacePhase(_ next: (Phase) -> Phase?) -> Phase? {
    let earlier = self.state.withLock { state -> Phase? in
      guard let phase = next(state.phase) else { return nil }
      defer { state.phase = phase }
      return state.phase
    }
    if case .beginning(_, let waiters)? = earlier { for waiter in waiters { waiter.decide() } }
    return earlier
  }

  /// Ends the beginning of the call, unless its run has ended.
  ///
  /// - Parameter next: Returns the next phase, from the ticket.
  /// - Returns: Whether its run has not ended.
  @discardableResult
  private func endBeginning(_ next: (JournalTicket?) -> Phase) -> Bool {
    self.replacePhase { if case .beginning(let ticket, _) = $0 { next(ticket) } else { nil } } != nil
  }

  private func ticket(
    acceptedBy accept: () async throws(JournalError) -> JournalTicket,
    in context: OperationContext
  ) async throws(JournalError) -> JournalTicket {
    let ticket: JournalTicket
    if let replay = self.state.withLock({ $0.replay }) { ticket = replay.ticket } else { ticket = try await accept() }
    let isEnded = self.state.withLock { state in
      state.phase.ticket = ticket
      return state.phase.isEnded
    }
    if isEnded {
      // Its caller has left while it was being stored, so no other task ends it.
      if !ticket.isReplay { await ticket.journal.end(ticket, .left) }
      throw .ended(.cancelled, ticket.name)
    }
    if let updates = ticket.updates { context.keepOptimisticUpdates(in: updates) }
    if ticket.isReplay, let updates = context.callUpdates { ticket.journal.note(updates, of: ticket) }
    return ticket
  }

  /// Ends the call in the journal. The call of a replay is ended by the replay itself.
  func end(failing failure: (any Error)?, in context: OperationContext) async {
    guard let phase = self.replacePhase({ .ended($0.ticket) }), let ticket = phase.ticket, !ticket.isReplay,
      !ticket.result.isReplaced
    else { return }
    switch (phase, failure) {
    // However its run has ended, the call was not made.
    case (.open, _), (.beginning, _): await ticket.journal.end(ticket, .left)
    // A value in place of the refusal is none of a body.
    case (.refused, nil) where ticket.result.lastValue == nil: await ticket.journal.end(ticket, .left)
    case (_, nil): await ticket.journal.end(ticket, .done(failure: nil), in: context)
    case (.refused, _): await ticket.journal.end(ticket, .left)
    case (_, let failure?) where failure.endsCancelledRun: await ticket.journal.end(ticket, .left)
    case (_, let failure?):
      let isDone = self.state.withLock { $0.judgement }?(failure) ?? !failure.canPass
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
