internal import OperationCore
internal import Synchronization

/// The calls of one scope: the one that has the turn, and those that wait for it.
///
/// One lock guards both leaving the line and passing the turn on. So a waiter that is cancelled neither receives a turn
/// nor lets another call start early. All methods take amortized constant time.
final class ScopeQueue: Sendable {
  /// A ticket in the line.
  typealias Ticket = UInt64

  enum Admission {
    case turn
    case ticket(Ticket)
    /// The last call has ended, and the queue is no longer in use.
    case closed
  }

  private struct State {
    var isTaken = false
    var isClosed = false
    /// The calls that wait, resumed with whether they have the turn. A call that was cancelled is not among them.
    var waiters: [Ticket: Waiter<Bool>] = [:]
    var first: Ticket = 0
    var next: Ticket = 0
  }

  let scope: OperationPath
  weak let owner: (any AnyObject & Sendable)?
  // A `Mutex`, not a `Locked`: the state contains no values of the user's.
  private let state = Mutex(State())

  init(scope: OperationPath, owner: any AnyObject & Sendable) {
    self.scope = scope
    self.owner = owner
  }

  func join() -> Admission {
    self.state.withLock { state in
      if state.isClosed { return .closed }
      guard state.isTaken else {
        state.isTaken = true
        return .turn
      }
      defer { state.next += 1 }
      state.waiters[state.next] = .arriving
      return .ticket(state.next)
    }
  }

  /// Waits for the turn. Returns false if the caller can leave, and its task was cancelled while it waited.
  func turn(at ticket: Ticket, canLeave: Bool, isolation: isolated (any Actor)?) async -> Bool {
    guard canLeave else { return await self.suspend(at: ticket, isolation: isolation) }
    return await withTaskCancellationHandler {
      await self.suspend(at: ticket, isolation: isolation)
    } onCancel: {
      self.cancel(ticket)
    }
  }

  private func suspend(at ticket: Ticket, isolation: isolated (any Actor)?) async -> Bool {
    await Waiter.outcome { continuation in
      self.state.withLock { state in
        let isTurn = state.waiters[ticket, default: .decided(false)].suspend(continuation)
        if isTurn != nil { state.waiters[ticket] = nil }
        return isTurn
      }
    }
  }

  private func cancel(_ ticket: Ticket) {
    let resumption = self.state.withLock { state -> Waiter<Bool>.Resumption? in
      // A call that has received the turn keeps it.
      guard var waiter = state.waiters[ticket], waiter.outcome == nil else { return nil }
      state.waiters[ticket] = nil
      return waiter.decide(false)
    }
    resumption?.resume()
  }

  /// Gives up a ticket that no call waits with. Returns whether it had the turn, which the caller then passes on.
  func giveUp(_ ticket: Ticket) -> Bool {
    self.state.withLock { $0.waiters.removeValue(forKey: ticket)?.outcome == true }
  }

  /// Passes the turn to the next waiter. Returns true if there is none; the queue is closed then.
  func leave() -> Bool {
    let (isClosed, resumption) = self.state.withLock { state -> (Bool, Waiter<Bool>.Resumption?) in
      while state.first < state.next {
        let ticket = state.first
        state.first += 1
        guard var waiter = state.waiters[ticket] else { continue }
        let resumption = waiter.decide(true)
        state.waiters[ticket] = resumption == nil ? waiter : nil
        return (false, resumption)
      }
      state.isTaken = false
      state.isClosed = true
      return (true, nil)
    }
    resumption?.resume()
    return isClosed
  }
}

extension ScopeQueue: WaitNode {
  var waits: [WaitEdge] { [] }
  var isEndedByCurrentTask: Bool { ScopeTurn.isInside(self) }
  var waitName: String? { nil }
  var isQueue: Bool { true }
}
