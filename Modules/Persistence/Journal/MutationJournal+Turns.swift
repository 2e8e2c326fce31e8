internal import OperationCore
internal import OperationMutation

/// The end of a wait for a turn.
enum JournalTurn: Sendable {
  case granted
  case cancelled
  case removed
  /// Another process has made or removed the call.
  case takenOver
  /// A later call is made in place of this one.
  case replaced
  /// The time of the call has passed.
  case expired
  /// The program is about to end, and an earlier call of the scope has no caller, or another process has the lease.
  case stopped
}

extension MutationJournal {
  /// The turns of the calls around the current task, outermost first.
  @TaskLocal static var turns: [Turn] = []

  struct Turn: Sendable {
    let journal: ObjectIdentifier
    /// The scope of the call; nil without one.
    let scope: String?
    let position: JournalState.Position
  }

  /// Waits until all earlier calls of the scope have ended, or the current task is cancelled. For calls with a caller.
  func turn(of ticket: JournalTicket, in context: OperationContext) async -> JournalTurn {
    // Most calls have it with their acceptance.
    if self.state.withLock({ $0.hasBegun(ticket.position) }) { return Task.isCancelled ? .cancelled : .granted }
    // A call that is made inside of another call of its scope is part of that call, and does not wait.
    // An enqueued call comes behind it.
    let outer = context.enqueuedCallOfRun == nil ? self.turns(in: ticket.scope) : []
    let obstacle = outer.isEmpty ? self.obstacle(to: ticket) : nil
    let wait = obstacle.map { obstacle in context.beginWait(for: { self.obstacle(to: ticket) ?? obstacle }) }
    defer { if let wait { context.endWait(wait) } }
    return await withTaskCancellationHandler {
      await Waiter.outcome { continuation in
        self.change { $0.turn(of: ticket, in: context, inside: outer, continuation) }
      }
    } onCancel: {
      self.cancelWait(of: ticket)
    }
  }

  /// The turns of the calls of a scope around the current task.
  private func turns(in scope: String?) -> [Turn] {
    // Calls without a scope do not wait for each other.
    scope == nil ? [] : Self.turns.filter { $0.journal == ObjectIdentifier(self) && $0.scope == scope }
  }

  /// Reports that the current task waits for calls that cannot end before it, because it is part of one of them or of
  /// an earlier one of their scope.
  ///
  /// - Parameters:
  ///   - waited: What is waited for, to follow "waits for".
  ///   - isWaitedFor: Whether the task waits for a call.
  /// - Returns: Whether it does.
  func reportCycle(_ waited: String, _ isWaitedFor: (JournalState.Position) -> Bool) -> Bool {
    let turns = Self.turns.filter { $0.journal == ObjectIdentifier(self) }
    if turns.isEmpty { return false }
    let name = self.state.withLock { state -> String? in
      for turn in turns where state.isRunning(turn.position) {
        let calls = turn.scope.flatMap { state.scopes[$0]?.all }.map(Array.init) ?? [turn.position]
        if calls.contains(where: isWaitedFor) { return state.items[turn.position]?.record?.name ?? "" }
      }
      return nil
    }
    guard let name else { return false }
    OperationCycleError(
      operationNames: [name, name],
      waits: "The body of a journaled call of \"\(name)\" waits for \(waited)"
    ).report()
    return true
  }

  /// Whether the current task is part of a call of a scope that is being made.
  func isMakingCall(of scope: String?) -> Bool {
    let turns = self.turns(in: scope)
    return !turns.isEmpty && self.state.withLock { state in turns.contains { state.isRunning($0.position) } }
  }

  /// The text of what a call has to wait for, to follow "it waits for"; nil if the call has its turn.
  private func obstacle(to ticket: JournalTicket) -> String? {
    let now = self.deadlines.elapsed
    let (count, maySend, isElsewhere, end) = self.state.withLock { state in
      let calls = ticket.scope.flatMap { state.scopes[$0] }
      let first = calls?.first.flatMap { state.items[$0] }
      let leaseKey = state.leaseKey(of: ticket.position)
      return (
        calls?.count(before: ticket.position) ?? 0, state.maySend(ticket.position), first?.isElsewhere ?? false,
        leaseKey.flatMap { state.leases.others[$0] }
      )
    }
    let lease = "the lease of another process"
    let other = end.map { "\(lease), for at most \(max($0 - now, .zero).roundedText) unless it renews it" }
    if count > 0 {
      let text = "its turn in the journal, behind \(ShownText.count(count, "earlier call")) of its scope"
      if isElsewhere { return "\(text), of which another process, which lives, makes the first" }
      return other.map { "\(text), which wait for \($0)" } ?? text
    }
    return maySend ? nil : other ?? lease
  }

  private func cancelWait(of ticket: JournalTicket) {
    self.change { state in
      if case .claimed(let run, _)? = state.items[ticket.position]?.activity {
        state.items[ticket.position]?.activity = .claimed(run, endedEarly: .cancelled)
      } else {
        state.endWait(of: ticket.position, with: .cancelled)
      }
    }
  }

  /// Runs a body as part of the turn of a call. Calls inside of the body do not wait for the end of that call.
  nonisolated(nonsending) static func inTurn<R, E: Error>(
    of ticket: JournalTicket?,
    _ body: nonisolated(nonsending) () async throws(E) -> R
  ) async throws(E) -> R {
    guard let ticket else { return try await body() }
    let turn = Turn(journal: ObjectIdentifier(ticket.journal), scope: ticket.scope, position: ticket.position)
    return try await Self.$turns.withValue(Self.turns + [turn]) {
      do throws(E) { return Result<R, E>.success(try await body()) } catch { return .failure(error) }
    }.get()
  }
}

extension JournalState {
  /// Whether a call has its turn, and was not removed.
  fileprivate func hasBegun(_ position: Position) -> Bool {
    self.items[position].map { $0.activity.isRunning && !$0.isGone } ?? false
  }

  /// Gives a caller its turn. Returns the end of its wait; nil if it waits.
  fileprivate mutating func turn(
    of ticket: JournalTicket,
    in context: OperationContext,
    inside outer: [MutationJournal.Turn],
    _ continuation: Continuation
  ) -> JournalTurn? {
    let position = ticket.position
    guard let item = self.items[position], !item.isGone else { return ticket.result.turn }
    guard case .claimed(let run, let endedEarly) = item.activity else { return .cancelled }
    if let endedEarly {
      // Another attempt of the run may wait for the turn.
      if case .cancelled = endedEarly { self.items[position]?.activity = .claimed(run) }
      return endedEarly
    }
    // A task that was started by a call may outlive the call.
    let isInside = outer.contains { self.isRunning($0.position) }
    guard item.replacement == nil, isInside || (self.hasTurn(position) && self.maySend(position)) else {
      let caller = JournalCaller(ticket: ticket, context: context, run: run)
      self.edit(position) { $0.activity = .waiting(continuation, caller) }
      if item.scope == nil {
        self.waitingWithoutScope.insert(position)
        self.ask(for: item.leaseKey)
      }
      let wasBlocked = item.scope.flatMap { self.scopes[$0]?.isBlocked } ?? false
      // It may be that nothing makes the first call of the scope.
      self.advance(item.scope)
      let isBlocked = item.scope.flatMap { self.scopes[$0]?.isBlocked } ?? false
      // If this blocks the scope, its callers are notified together with this one.
      if wasBlocked, isBlocked { self.actions.blocked.append(caller) }
      return nil
    }
    self.edit(position) { $0.activity = .running(run) }
    return .granted
  }
}
