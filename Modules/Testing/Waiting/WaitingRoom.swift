internal import OperationCore
internal import Synchronization

/// A state, and those who wait for it to become what they want.
///
/// Each change lets the waiters look again, in the order in which they came, and the first look is made in the same step
/// as the waiter joins: nothing is missed, however briefly it was so, and nobody polls.
final class WaitingRoom<State: Sendable>: Sendable {
  private struct Content {
    var state: State
    /// In the order of their tickets.
    var waiters: [Waiter] = []
    var lastTicket: UInt64 = 0

    /// Where the waiter with a ticket is or would be.
    func position(of ticket: UInt64) -> Int {
      // Most tickets are the latest.
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
    /// Looks at the state; what it returns resumes the waiter, who is done then.
    let look: @Sendable (inout State) -> (@Sendable () -> Void)?
    /// Resumes the waiter, who has waited in vain.
    let giveUp: @Sendable (any Error) -> Void
    var deadline: OperationSubscription?
  }

  private let content: Mutex<Content>

  init(_ state: State) {
    self.content = Mutex(Content(state: state))
  }

  /// The state now.
  var state: State { self.content.withLock { $0.state } }

  /// Changes the state, and resumes those who waited for that.
  ///
  /// `body` must not call foreign code.
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
  /// How a wait can end before its time.
  enum Patience: Sendable {
    /// Until the time limit or the cancellation of the task.
    case cancellable(Duration)
    /// Until the time limit, also in a cancelled task.
    case uncancellable(Duration)
  }

  /// Waits until `condition` returns something, and returns that.
  ///
  /// - Parameters:
  ///   - patience: How long to wait.
  ///   - what: What is waited for, in the words of a message.
  ///   - condition: Called under the lock; it must not call foreign code. It may change the state when it returns something.
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

  /// Waits until `condition` returns something, however long that takes, also in a cancelled task.
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
