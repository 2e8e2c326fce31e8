internal import OperationCore
internal import Synchronization

/// The calls of one scope: the one that has the turn, and those that wait for it.
///
/// One lock guards both leaving the line and passing the turn on. So a waiter that is cancelled neither receives a turn
/// nor lets another call start early. All methods take amortized constant time.
final class ScopeLane: Sendable {
  /// A place in the line.
  typealias Place = UInt64

  enum Admission {
    case turn
    case place(Place)
    /// The last call has ended, and the lane is no longer in use.
    case closed
  }

  private enum Waiter {
    /// The call has a place, and is not suspended yet.
    case arriving
    /// The call received the turn before it was suspended.
    case admitted
    case suspended(UnsafeContinuation<Bool, Never>)
  }

  private struct State {
    var isTaken = false
    var isClosed = false
    var waiters: [Place: Waiter] = [:]
    var first: Place = 0
    var next: Place = 0
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
      return .place(state.next)
    }
  }

  /// Waits for the turn. Returns false if the caller can leave, and its task was cancelled while it waited.
  func turn(at place: Place, canLeave: Bool, isolation: isolated (any Actor)?) async -> Bool {
    guard canLeave else { return await self.suspend(at: place, isolation: isolation) }
    return await withTaskCancellationHandler {
      await self.suspend(at: place, isolation: isolation)
    } onCancel: {
      self.cancel(place)
    }
  }

  private func suspend(at place: Place, isolation: isolated (any Actor)?) async -> Bool {
    await withUnsafeContinuation { continuation in
      let isTurn: Bool? = self.state.withLock { state in
        switch state.waiters[place] {
        case .arriving:
          state.waiters[place] = .suspended(continuation)
          return nil
        case .admitted:
          state.waiters[place] = nil
          return true
        case nil, .suspended:
          return false
        }
      }
      if let isTurn { continuation.resume(returning: isTurn) }
    }
  }

  private func cancel(_ place: Place) {
    let continuation: UnsafeContinuation<Bool, Never>? = self.state.withLock { state in
      switch state.waiters[place] {
      case nil, .admitted:
        return nil
      case .arriving:
        state.waiters[place] = nil
        return nil
      case .suspended(let continuation):
        state.waiters[place] = nil
        return continuation
      }
    }
    continuation?.resume(returning: false)
  }

  /// Passes the turn to the next waiter. Returns true if there is none; the lane is closed then.
  func leave() -> Bool {
    let (isClosed, continuation) = self.state.withLock { state -> (Bool, UnsafeContinuation<Bool, Never>?) in
      while state.first < state.next {
        let place = state.first
        state.first += 1
        switch state.waiters[place] {
        case nil, .admitted:
          continue
        case .arriving:
          state.waiters[place] = .admitted
          return (false, nil)
        case .suspended(let continuation):
          state.waiters[place] = nil
          return (false, continuation)
        }
      }
      state.isTaken = false
      state.isClosed = true
      return (true, nil)
    }
    continuation?.resume(returning: true)
    return isClosed
  }
}

extension ScopeLane: WaitNode {
  var waits: [WaitEdge] { [] }
  var isEndedByCurrentTask: Bool { ScopeTurn.isInside(self) }
  var waitName: String? { nil }
  var isQueue: Bool { true }
}
