internal import OperationCore
internal import Synchronization

/// A state, with waiters for conditions on it.
///
/// Each change checks the conditions of the waiters in the order in which they came. The first check happens in the
/// same critical section in which the waiter joins. So a state is never missed, however short, and there is no polling.
final class WaitingRoom<State: Sendable>: Sendable {
  private struct Content {
    var state: State
    /// Sorted by ticket.
    var waiters: [Waiter] = []
    var lastTicket: UInt64 = 0

    /// The index of the waiter with a ticket, or the index to insert it at.
    func position(of ticket: UInt64) -> Int {
      // Most tickets are the latest one.
      guard let last = self.waiters.last, last.ticket >= ticket else { return self.waiters.count }
      var (low, high) = (0, self.waiters.count - 1)
      while low < high {
        let middle = (low + high) / 2
        if self.waiters[middle].ticket < ticket { low = middle + 1 } else { high = middle }
      }
      return low
    }

    func index(of ticket: UInt64) -> Int? {
      let position = self.position(of: ticket)
      return position < self.waiters.count && self.waiters[position].ticket == ticket ? position : nil
    }

    mutating func join(_ waiter: Waiter) {
      self.waiters.insert(waiter, at: self.position(of: waiter.ticket))
    }
  }

  private struct Waiter: Sendable {
    let ticket: UInt64
    /// Checks the state. Returns the closure that resumes the waiter if the condition holds; the waiter is removed
    /// then.
    let look: @Sendable (inout State) -> (@Sendable () -> Void)?
    /// Resumes the waiter with an error.
    let giveUp: @Sendable (any Error) -> Void
    var deadline: OperationSubscription?
  }

  private let content: Mutex<Content>

  init(_ state: State) {
    self.content = Mutex(Content(state: state))
  }

  /// The current state.
  var state: State { self.content.withLock { $0.state } }

  /// Changes the state, and resumes the waiters whose condition now holds.
  ///
  /// `body` is called with the lock held and must not call user code.
  @discardableResult
  func change<R: Sendable>(_ body: (inout State) -> R) -> R {
    let (result, resumptions) = self.content.withLock { content in
      let result = body(&content.state)
      var resumptions: [(@Sendable () -> Void, OperationSubscription?)] = []
      content.waiters.removeAll { waiter in
        guard let resume = waiter.look(&content.state) else { return false }
        resumptions.append((resume, waiter.deadline))
        return true
      }
      return (result, resumptions)
    }
    for (resume, deadline) in resumptions {
      deadline?.cancel()
      resume()
    }
    return result
  }
}

// MARK: - Waiting

extension WaitingRoom {
  /// How a wait can end early.
  enum Patience: Sendable {
    /// Ends at the time limit or when the task is cancelled.
    case cancellable(Duration)
    /// Ends at the time limit only, even in a cancelled task.
    case uncancellable(Duration)
  }

  /// Waits until `condition` returns a value, and returns that value.
  ///
  /// - Parameters:
  ///   - patience: The time limit, and whether cancellation ends the wait.
  ///   - what: A description of the wait for the message.
  ///   - condition: Called with the lock held; it must not call user code. It may change the state if it returns a
  ///     value.
  /// - Throws: `WaitTimedOut`, or `CancellationError`.
  func wait<R: Sendable>(
    _ patience: Patience,
    for what: @escaping @Sendable (State) -> String,
    until condition: @escaping @Sendable (inout State) -> R?
  ) async throws -> R {
    let ticket = self.content.withLock { content in
      content.lastTicket += 1
      return content.lastTicket
    }
    let wasCancelled = Atomic(false)
    switch patience {
    case .uncancellable(let limit):
      return try await self.suspended(ticket, limit, what, condition) { false }.get()
    case .cancellable(let limit):
      return try await withTaskCancellationHandler {
        await self.suspended(ticket, limit, what, condition) { wasCancelled.load(ordering: .acquiring) }
      } onCancel: {
        wasCancelled.store(true, ordering: .releasing)
        self.giveUp(ticket) { _ in CancellationError() }
      }.get()
    }
  }

  /// Waits until `condition` returns a value, without a time limit, even in a cancelled task.
  func wait<R: Sendable>(until condition: @escaping @Sendable (inout State) -> R?) async -> R {
    await withUnsafeContinuation { continuation in
      let value: R? = self.content.withLock { content in
        if let value = condition(&content.state) { return value }
        content.lastTicket += 1
        let waiter = Waiter(ticket: content.lastTicket) { state in
          guard let value = condition(&state) else { return nil }
          return { continuation.resume(returning: value) }
        } giveUp: { _ in
        }
        content.join(waiter)
        return nil
      }
      if let value { continuation.resume(returning: value) }
    }
  }

  private func suspended<R: Sendable>(
    _ ticket: UInt64,
    _ limit: Duration,
    _ what: @escaping @Sendable (State) -> String,
    _ condition: @escaping @Sendable (inout State) -> R?,
    wasCancelled: () -> Bool
  ) async -> Result<R, any Error> {
    await withUnsafeContinuation { continuation in
      let waiter = Waiter(ticket: ticket) { state in
        guard let value = condition(&state) else { return nil }
        return { continuation.resume(returning: .success(value)) }
      } giveUp: { error in
        continuation.resume(returning: .failure(error))
      }
      let resume: (@Sendable () -> Void)? = self.content.withLock { content in
        if let resume = waiter.look(&content.state) { return resume }
        if wasCancelled() { return { waiter.giveUp(CancellationError()) } }
        content.join(waiter)
        return nil
      }
      if let resume { return resume() }
      let deadline = SystemDeadlineSource().schedule(after: limit) { [weak self] in
        self?.giveUp(ticket) { WaitTimedOut(what: what($0), limit: limit) }
      }
      self.keep(deadline, for: ticket)
    }
  }

  // Not a `SubscriptionSlot`: a waiter's deadline is set once, and its ticket finds it.
  private func keep(_ deadline: OperationSubscription, for ticket: UInt64) {
    let isObsolete = self.content.withLock { content in
      guard let index = content.index(of: ticket) else { return true }
      content.waiters[index].deadline = deadline
      return false
    }
    if isObsolete { deadline.cancel() }
  }

  private func giveUp(_ ticket: UInt64, because error: (State) -> any Error) {
    let found: (Waiter, State)? = self.content.withLock { content in
      guard let index = content.index(of: ticket) else { return nil }
      return (content.waiters.remove(at: index), content.state)
    }
    guard let (waiter, state) = found else { return }
    waiter.deadline?.cancel()
    waiter.giveUp(error(state))
  }
}
