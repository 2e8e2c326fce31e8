internal import OperationCore

/// How the wait for a turn has ended.
enum JournalTurn: Sendable {
  case granted
  case cancelled
  case removed
  case blocked
}

extension MutationJournal {
  /// The turns of the calls around the current task, outermost first.
  @TaskLocal static var turns: [Turn] = []

  struct Turn: Sendable {
    let journal: ObjectIdentifier
    let lane: String
    let place: JournalState.Place
  }

  /// Waits until all earlier calls of the scope have ended, or the current task is cancelled.
  func turn(of ticket: JournalTicket) async -> JournalTurn {
    // A call inside another one of its scope is part of that one.
    let outer = Self.turns.filter { $0.journal == ObjectIdentifier(self) && $0.lane == ticket.lane }
    return await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let (turn, next) = self.state.withLock { state -> (JournalTurn?, JournalState.Next) in
          guard state.items[ticket.place] != nil else { return (.removed, .nothing) }
          if let turn = state.items[ticket.place]?.endedEarly {
            state.items[ticket.place]?.endedEarly = nil
            return (turn, .nothing)
          }
          // A task that a call has started may outlive that call.
          let isInside = outer.contains { state.isRunning($0.place) }
          guard isInside || state.hasTurn(ticket.place) else {
            state.items[ticket.place]?.activity = .waiting(continuation, isReplay: ticket.isReplay)
            // Nothing may be making the first call of the lane.
            return (nil, state.advance(ticket.lane))
          }
          state.items[ticket.place]?.activity = .running
          return (.granted, .nothing)
        }
        if let turn { continuation.resume(returning: turn) }
        self.perform(next)
      }
    } onCancel: {
      self.cancelWait(of: ticket)
    }
  }

  private func cancelWait(of ticket: JournalTicket) {
    let continuation = self.state.withLock { state -> JournalState.Continuation? in
      switch state.items[ticket.place]?.activity {
      case .waiting(let continuation, _):
        state.items[ticket.place]?.activity = .claimed(isReplay: ticket.isReplay)
        return continuation
      case .claimed:
        state.items[ticket.place]?.endedEarly = .cancelled
        return nil
      case .running, .some(.none), nil: return nil
      }
    }
    continuation?.resume(returning: .cancelled)
  }

  /// Removes a call from memory, and passes its turn on.
  func leave(_ place: JournalState.Place) {
    let (removed, next) = self.state.withLock { state in
      let removed = state.remove(place)
      return (removed, state.advance(removed?.lane))
    }
    self.perform(next)
    if case .waiting(let continuation, _)? = removed?.activity { continuation.resume(returning: .removed) }
    self.noteChange()
  }

  func perform(_ next: JournalState.Next) {
    switch next {
    case .nothing: break
    case .resume(let continuation): continuation.resume(returning: .granted)
    case .block(let continuations): for continuation in continuations { continuation.resume(returning: .blocked) }
    case .replay(let place):
      Task(name: "replay journal") { await self.replay(place) }
    }
  }

  /// Runs a body as part of the turn of a call, so that calls inside of it do not wait for the end of that call.
  nonisolated(nonsending) static func inTurn<R, E: Error>(
    of ticket: JournalTicket?,
    _ body: nonisolated(nonsending) () async throws(E) -> R
  ) async throws(E) -> R {
    guard let ticket, let lane = ticket.lane else { return try await body() }
    let turn = Turn(journal: ObjectIdentifier(ticket.journal), lane: lane, place: ticket.place)
    return try await Self.$turns.withValue(Self.turns + [turn]) {
      do throws(E) { return Result<R, E>.success(try await body()) } catch { return .failure(error) }
    }.get()
  }
}
