internal import Synchronization

/// A call that an interceptor answers in a task of its own, so that the one around it need not wait to the end.
final class CallInTask: Sendable {
  private typealias Continuation = UnsafeContinuation<StoreCallAnswer?, Never>

  private enum State: Sendable {
    case running
    /// The time of a wait has ended before it began.
    case timedOut
    case awaited(Continuation)
    case answered(StoreCallAnswer)
  }

  private static let current = TaskLocal<CallInTask?>(wrappedValue: nil)

  let call: StoreCall
  /// The call in whose task this one is awaited, if that task is one of these, too.
  private let outer = CallInTask.current.get()
  private let state = Mutex(State.running)
  private let task = Mutex<Task<Void, Never>?>(nil)
  /// The identity of the task; 0 before it has begun.
  private let identity = Atomic<UInt>(0)
  /// The identity of the task that waits; 0 while none does.
  private let waiter = Atomic(RunTask.current.identity)

  init(_ call: StoreCall) {
    self.call = call
  }

  /// Starts the task, on the thread of the caller.
  func begin() {
    let task = Task.immediate(name: Task<Never, Never>.name) { [call] in
      self.identity.store(RunTask.current.identity, ordering: .relaxed)
      self.resume(with: await Self.current.withValue(self) { await call.answer() })
    }
    self.task.withLock { $0 = task }
  }

  /// Whether a task waits for the current one, which answers a call in its place. A cycle of waits leads through both.
  static func isCurrentTaskAwaited(by task: UInt) -> Bool {
    var (call, identity) = (self.current.get(), RunTask.current.identity)
    while let awaited = call, awaited.identity.load(ordering: .relaxed) == identity {
      identity = awaited.waiter.load(ordering: .relaxed)
      if identity == task { return true }
      call = awaited.outer
    }
    return false
  }

  /// Whether the current task is inside of the answer to a call.
  static var isAroundCurrentTask: Bool { self.current.get() != nil }

  func cancel() {
    self.task.withLock { $0 }?.cancel()
  }

  /// Waits for the answer. If the caller is cancelled, so is the task.
  nonisolated(nonsending) func answer() async -> StoreCallAnswer {
    self.forgetTimeOut()
    guard let answer = await self.wait() else { preconditionFailure("Only a deadline ends a wait without an answer.") }
    return answer
  }

  /// Waits for the answer for some time. Nil if it takes longer.
  nonisolated(nonsending) func answer(
    within patience: Duration,
    on context: OperationContext
  ) async -> StoreCallAnswer? {
    if patience <= .zero {
      self.waiter.store(0, ordering: .relaxed)
      if case .answered(let answer) = self.state.withLock({ $0 }) { return answer }
      return nil
    }
    self.forgetTimeOut()
    let deadline = context.operationDeadlines.schedule(after: patience.clampedForClock) { [weak self] in
      self?.endWait()
    }
    defer { deadline.cancel() }
    return await self.wait()
  }

  private nonisolated(nonsending) func wait() async -> StoreCallAnswer? {
    self.waiter.store(RunTask.current.identity, ordering: .relaxed)
    defer { self.waiter.store(0, ordering: .relaxed) }
    return await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let end = self.state.withLock { state -> StoreCallAnswer?? in
          switch state {
          case .answered(let answer): return .some(answer)
          case .timedOut:
            state = .running
            return .some(nil)
          case .running, .awaited:
            state = .awaited(continuation)
            return nil
          }
        }
        if let end { continuation.resume(returning: end) }
      }
    } onCancel: {
      self.cancel()
    }
  }

  private func resume(with answer: StoreCallAnswer) {
    let continuation = self.state.withLock { state -> Continuation? in
      if case .answered = state { return nil }
      defer { state = .answered(answer) }
      if case .awaited(let continuation) = state { return continuation }
      return nil
    }
    continuation?.resume(returning: answer)
  }

  private func endWait() {
    let continuation = self.state.withLock { state -> Continuation? in
      switch state {
      case .awaited(let continuation):
        state = .running
        return continuation
      // The wait begins after this.
      case .running: state = .timedOut
      case .timedOut, .answered: break
      }
      return nil
    }
    continuation?.resume(returning: nil)
  }

  /// Forgets that the time of an earlier wait has ended.
  private func forgetTimeOut() {
    self.state.withLock { if case .timedOut = $0 { $0 = .running } }
  }
}
