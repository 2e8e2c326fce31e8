internal import OperationCore
internal import Synchronization

/// A state that tasks can wait on until a condition holds.
///
/// Each change checks the conditions of the waiters in the order in which they came. The first check happens in the
/// same critical section in which the waiter joins. So a state is never missed, however short, and there is no polling.
final class AwaitableState<State: Sendable>: Sendable {
  private struct Content {
    var state: State
    /// The waiters, sorted by number.
    var waiters: [Waiter] = []
    var lastNumber: UInt64 = 0

    /// The index of the waiter with a number, or the index at which to insert it.
    func position(of number: UInt64) -> Int {
      // Most waiters are the latest one.
      guard let last = self.waiters.last, last.number >= number else { return self.waiters.count }
      var (low, high) = (0, self.waiters.count - 1)
      while low < high {
        let middle = (low + high) / 2
        if self.waiters[middle].number < number { low = middle + 1 } else { high = middle }
      }
      return low
    }

    func index(of number: UInt64) -> Int? {
      let position = self.position(of: number)
      return position < self.waiters.count && self.waiters[position].number == number ? position : nil
    }

    mutating func join(_ waiter: Waiter) {
      self.waiters.insert(waiter, at: self.position(of: waiter.number))
    }
  }

  private struct Waiter: Sendable {
    /// Increases with each wait.
    let number: UInt64
    /// Checks the state. If the condition holds, it returns the closure that resumes the waiter, which is then removed.
    let check: @Sendable (inout State) -> (@Sendable () -> Void)?
    /// Resumes the waiter with an error.
    let fail: @Sendable (any Error) -> Void
    var deadline: OperationSubscription?
  }

  private let content: Mutex<Content>

  init(_ state: State) {
    self.content = Mutex(Content(state: state))
  }

  /// The current state.
  var current: State { self.content.withLock { $0.state } }

  /// Changes the state, and resumes the waiters whose condition now holds.
  ///
  /// `body` is called with the lock held and must not call user code.
  @discardableResult
  func change<R: Sendable>(_ body: (inout State) -> R) -> R {
    let (result, resumptions) = self.content.withLock { content in
      let result = body(&content.state)
      var resumptions: [(@Sendable () -> Void, OperationSubscription?)] = []
      content.waiters.removeAll { waiter in
        guard let resume = waiter.check(&content.state) else { return false }
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

extension AwaitableState {
  /// When a wait ends without its condition.
  enum Limit: Sendable {
    /// Ends at the time limit or when the task is cancelled.
    case cancellable(Duration)
    /// Ends at the time limit only, even in a cancelled task.
    case uncancellable(Duration)
  }

  /// Waits until `condition` returns a value.
  ///
  /// - Parameters:
  ///   - limit: The time limit, and whether cancellation ends the wait.
  ///   - what: A description of the wait for the message.
  ///   - condition: Called with the lock held; it must not call user code. It may change the state if it returns a
  ///     value.
  /// - Returns: The value that `condition` returns.
  /// - Throws: `WaitTimedOut`, or `CancellationError`.
  func wait<R: Sendable>(
    _ limit: Limit,
    for what: @escaping @Sendable (State) -> String,
    until condition: @escaping @Sendable (inout State) -> R?
  ) async throws -> R {
    let number = self.content.withLock { content in
      content.lastNumber += 1
      return content.lastNumber
    }
    let wasCancelled = Atomic(false)
    switch limit {
    case .uncancellable(let limit):
      return try await self.suspended(number, limit, what, condition) { false }.get()
    case .cancellable(let limit):
      return try await withTaskCancellationHandler {
        await self.suspended(number, limit, what, condition) { wasCancelled.load(ordering: .acquiring) }
      } onCancel: {
        wasCancelled.store(true, ordering: .releasing)
        self.fail(number) { _ in CancellationError() }
      }.get()
    }
  }

  /// Waits until `condition` returns a value, without a time limit, even in a cancelled task.
  func wait<R: Sendable>(until condition: @escaping @Sendable (inout State) -> R?) async -> R {
    await withUnsafeContinuation { continuation in
      let value: R? = self.content.withLock { content in
        if let value = condition(&content.state) { return value }
        content.lastNumber += 1
        let waiter = Waiter(number: content.lastNumber) { state in
          guard let value = condition(&state) else { return nil }
          return { continuation.resume(returning: value) }
        } fail: { _ in
        }
        content.join(waiter)
        return nil
      }
      if let value { continuation.resume(returning: value) }
    }
  }

  private func suspended<R: Sendable>(
    _ number: UInt64,
    _ limit: Duration,
    _ what: @escaping @Sendable (State) -> String,
    _ condition: @escaping @Sendable (inout State) -> R?,
    wasCancelled: () -> Bool
  ) async -> Result<R, any Error> {
    await withUnsafeContinuation { continuation in
      let waiter = Waiter(number: number) { state in
        guard let value = condition(&state) else { return nil }
        return { continuation.resume(returning: .success(value)) }
      } fail: { error in
        continuation.resume(returning: .failure(error))
      }
      let resume: (@Sendable () -> Void)? = self.content.withLock { content in
        if let resume = waiter.check(&content.state) { return resume }
        if wasCancelled() { return { waiter.fail(CancellationError()) } }
        content.join(waiter)
        return nil
      }
      if let resume { return resume() }
      let deadline = SystemDeadlineSource().schedule(after: limit) { [weak self] in
        self?.fail(number) { WaitTimedOut(what: what($0), limit: limit) }
      }
      self.keep(deadline, for: number)
    }
  }

  // Not a `SubscriptionSlot`: a waiter's deadline is set once, and its number finds it.
  private func keep(_ deadline: OperationSubscription, for number: UInt64) {
    let isObsolete = self.content.withLock { content in
      guard let index = content.index(of: number) else { return true }
      content.waiters[index].deadline = deadline
      return false
    }
    if isObsolete { deadline.cancel() }
  }

  private func fail(_ number: UInt64, because error: (State) -> any Error) {
    let found: (Waiter, State)? = self.content.withLock { content in
      guard let index = content.index(of: number) else { return nil }
      return (content.waiters.remove(at: index), content.state)
    }
    guard let (waiter, state) = found else { return }
    waiter.deadline?.cancel()
    waiter.fail(error(state))
  }
}
