internal import Synchronization

/// One call of a store: a caller that waits for a run, or that reads a value which may need one.
public final class StoreCall: Sendable {
  /// What a caller asks for.
  @nonexhaustive(warn)
  public enum Demand: Hashable, Sendable {
    /// A run of its own, or one that it shares: `run` and `fetch`.
    case run
    /// A value, from the state if that is fresh: `ensureValue`, and reads like it.
    case value
    /// A new state, whose value the caller reads later: `prefetch`, and the sources of derived queries.
    case refresh
    /// A value with a maximal age.
    case notOlder(than: Duration)
  }

  /// What a call waits for.
  enum Wait: Sendable {
    /// A run. The caller is one of its owners.
    case run(SharedRun)
    /// The next interceptor, in the task of the caller.
    case interceptor(StoreCall)
    /// The next interceptor, in a task of its own.
    case apart(CallInTask)

    /// The run behind the last interceptor; nil if there is none yet.
    var sharedRun: SharedRun? {
      switch self {
      case .run(let run): run
      case .interceptor(let call): call.run
      case .apart(let task): task.call.run
      }
    }

    /// Leaves the run, whose outcome the caller does not need.
    func leave() {
      switch self {
      case .run(let run): run.removeOwner()
      case .apart(let task): task.cancel()
      case .interceptor: break
      }
    }
  }

  enum Phase: Sendable {
    case new
    /// Whether and how the call waits is being decided.
    case beginning
    case waiting(Wait)
    /// The patience of the caller has ended before the wait.
    case paused(Wait)
    case ended(StoreCallAnswer, Wait?)
    /// The interceptor has returned.
    case answered
  }

  /// What the caller asks for.
  public let demand: Demand

  /// The entries of the store and of the call. It is not the context of a run.
  public let context: OperationContext

  let runtime: StoreRuntime
  /// Receives the events of the run, and the answer; nil for none.
  let listener: Subscriber?
  /// The value of the state, if that is what the caller asks for.
  let kept: RunOutcome?
  private let interceptors: [any StoreCallInterceptor]
  /// The index of the interceptor that gets this call.
  private let index: Int
  let phase = Mutex(Phase.new)
  /// The latest invalidation before the call.
  let invalidation = InvalidationNumber.latest

  init(
    of runtime: StoreRuntime,
    _ demand: Demand,
    _ context: OperationContext,
    kept: RunOutcome?,
    _ listener: Subscriber?,
    _ interceptors: [any StoreCallInterceptor],
    at index: Int = 0
  ) {
    self.runtime = runtime
    self.demand = demand
    self.context = context
    self.kept = kept
    self.listener = listener
    self.interceptors = interceptors
    self.index = index
  }

  /// The call that the next interceptor gets; nil if there is none.
  var next: StoreCall? {
    guard self.index + 1 < self.interceptors.count else { return nil }
    return StoreCall(
      of: self.runtime,
      self.demand,
      self.context,
      kept: self.kept,
      self.listener,
      self.interceptors,
      at: self.index + 1
    )
  }

  /// Lets the interceptor answer the call.
  @inline(__always)
  nonisolated(nonsending) func answer() async -> StoreCallAnswer {
    let answer = await self.interceptors[self.index].call(self)
    return self.isAcceptable(answer) ? self.end(with: answer) : self.end(with: await self.proceed())
  }
}

extension StoreCall {
  /// The store.
  public var store: StoreReference { self.runtime.reference }

  /// The state without the layers of optimistic updates; nil while an invalidation is unanswered.
  public var state: (any OperationState & Sendable)? {
    self.runtime.withMachine { $0.isInvalidated ? nil : $0.state.typed }
  }

  /// Whether the caller waits for a run. False if the state has what it asks for: ``proceed()`` then returns at once, unless
  /// the value was invalidated since the call began.
  public var needsRun: Bool { self.kept == nil }

  /// The context of the run that the call has joined or started; nil before that, and once the run has ended.
  public var runContext: OperationContext? {
    self.run.flatMap { self.runtime.context(of: $0) }
  }

  /// The run that the call has joined or started, also once that has ended; nil before.
  var run: SharedRun? {
    switch self.phase.withLock({ $0 }) {
    case .new, .beginning, .answered, .ended(_, nil): nil
    case .waiting(let wait), .paused(let wait), .ended(_, let wait?): wait.sharedRun
    }
  }

  /// Starts a run without a caller: see ``StoreReference/refreshBehind(because:)``.
  ///
  /// - Parameter cause: Why the value is refreshed.
  /// - Returns: The context of the run; nil if the client has stopped automatic runs or removed the store.
  @discardableResult
  public func proceedBehind(cause: OperationRunCause) -> OperationContext? {
    self.runtime.refreshBehind(because: cause)
  }

  /// Sends a notice about the call to the observers of its context, and to the readers of the store's events.
  ///
  /// Without observers and readers the notice is not made.
  ///
  /// - Parameter notice: Evaluated at most once.
  public func send(_ notice: @autoclosure () -> OperationNotice) {
    let isWatched = self.runtime.isWatched(.notices)
    guard self.context.isObserved || isWatched else { return }
    let notice = notice()
    self.context.notifyObservers(of: notice)
    // The context is not a context of a run, so that no store shows the notice as one of its run.
    if isWatched { self.runtime.report(.notice(notice), in: self.context) }
  }
}

// MARK: - Answers

extension StoreCall {
  /// Makes an answer with a value.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - entries: Entries for the context of the event that the caller's handler receives.
  /// - Returns: The answer; nil if runs of the store return values of another type.
  public func answer<Value: Sendable>(
    _ value: Value,
    entries: OperationContext = OperationContext()
  ) -> StoreCallAnswer? {
    self.runtime.outcome(of: value).map { StoreCallAnswer(StoreOutcome($0), entries: entries) }
  }

  /// Makes an answer with an error.
  ///
  /// - Parameters:
  ///   - error: The error.
  ///   - entries: Entries for the context of the event that the caller's handler receives.
  /// - Returns: The answer; nil if runs of the store throw errors of another type.
  public func answer(
    throwing error: any Error,
    entries: OperationContext = OperationContext()
  ) -> StoreCallAnswer? {
    self.runtime.outcome(throwing: error).map { StoreCallAnswer(StoreOutcome($0), entries: entries) }
  }

  /// Makes an answer with the value of the state, without optimistic updates.
  ///
  /// - Parameter entries: Entries for the context of the event that the caller's handler receives.
  /// - Returns: The answer; nil without a value, while an invalidation is unanswered, and if the state is no
  ///   ``ValueServingState``.
  public func answerWithState(entries: OperationContext = OperationContext()) -> StoreCallAnswer? {
    func answer(_ state: some ValueServingState) -> StoreCallAnswer? {
      state.servedValue.flatMap { self.answer($0, entries: entries) }
    }
    guard let state = self.state as? any ValueServingState else { return nil }
    return answer(state)
  }
}
