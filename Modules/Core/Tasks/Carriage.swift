public import Synchronization

/// Lets one run run in the task of another, which spares it a task of its own.
///
/// Who cancels the run that has the task cancels the carriage instead. While that has a passenger, the task goes on
/// as long as somebody holds on to the passenger.
@usableFromInline
package final class Carriage: Sendable {
  @usableFromInline
  struct State: Sendable {
    @usableFromInline var isCancelled = false
    @usableFromInline var passenger: (any FlightPassenger)?
    /// Whether the run could not join another because of a circle, which has been reported.
    var hasReportedCircle = false
    /// The shared run that the run of the carriage waits for in its own task, or the queue that it is in.
    weak var awaited: (any WaitNode)?
    /// What the work of the run has asked for last.
    weak var called: (any WaitNode)?

    @usableFromInline
    init() {}
  }

  /// Names the task from its beginning to its end: no later task can be mistaken for it. 0 otherwise.
  @usableFromInline let task = Atomic<UInt>(0)
  @usableFromInline let state = Mutex(State())
  @inlinable
  package init() {}

  /// What the run of the carriage waits for.
  var waits: [WaitEdge] {
    let (passenger, awaited, called) = self.state.withLock { ($0.passenger, $0.awaited, $0.called) }
    return [passenger?.node, awaited, called].compactMap { node in node.map { WaitEdge(awaited: $0) } }
  }

  /// Notes that the run of the carriage waits for `node`, until it waits for something else.
  @usableFromInline
  package func note(awaited node: any WaitNode) {
    self.state.withLock { $0.awaited = node }
  }

  /// Notes that the run could not join another because of a circle, which has been reported.
  @usableFromInline
  func noteReportedCircle() {
    self.state.withLock { $0.hasReportedCircle = true }
  }

  @usableFromInline package var hasReportedCircle: Bool { self.state.withLock { $0.hasReportedCircle } }

  /// Waits until the work that the run of the carriage has cancelled with itself has ended, or the current task is
  /// cancelled. What goes on for others is not waited for.
  func cancelledWorkEnded() async {
    let (passenger, awaited) = self.state.withLock { ($0.passenger, $0.awaited) }
    for case let node? in [passenger?.node, awaited] where node.isCancelled { await node.ended() }
  }

  /// Takes `passenger` in until it leaves. False when `current`, the current task, is not the one of the carriage, or
  /// when there is no place.
  @usableFromInline
  package func addWaiter(_ passenger: any FlightPassenger, in current: RunTask) -> Bool {
    guard self.task.load(ordering: .relaxed) == current.name else { return false }
    return self.state.withLock { state in
      guard !state.isCancelled, state.passenger == nil else { return false }
      state.passenger = passenger
      return true
    }
  }

  /// The passenger leaves. Returns whether the carriage was cancelled: then the passenger cancels the task.
  @usableFromInline
  package func leave() -> Bool {
    let (isCancelled, passenger) = self.state.withLock { ($0.isCancelled, $0.passenger.take()) }
    withExtendedLifetime(passenger) {}  // Until here, after the lock.
    return isCancelled
  }

  /// Cancels `task`, the one of the carriage, or leaves that to the passenger. Returns whether there is one.
  func cancel(_ task: RunTask?) -> Bool {
    let passenger = self.state.withLock { state in
      state.isCancelled = true
      return state.passenger
    }
    if let passenger { passenger.carriageWasCancelled() } else { task?.cancel() }
    return passenger != nil
  }
}

extension Carriage: WaitingRun {
  @usableFromInline package var isInCurrentTask: Bool { self.task.load(ordering: .relaxed) == RunTask.current.name }

  @usableFromInline
  package func note(called node: any WaitNode) {
    let passenger = self.state.withLock { state in
      state.called = node
      return state.passenger
    }
    passenger?.note(called: node)
  }
}

/// What runs in the task of another run.
@usableFromInline
package protocol FlightPassenger: WaitingRun {
  /// The one who has the task is no reason to go on any more.
  func carriageWasCancelled()
  /// The run of the passenger.
  var node: any WaitNode { get }
}

extension SharedRun {
  /// Runs in the current task, whose carriage it has joined. The one who asks holds on to this run already.
  ///
  /// - Parameters:
  ///   - delegate: Hears of the finish.
  ///   - work: What its delegate does.
  @inlinable
  @inline(__always)
  package nonisolated(nonsending) func outcome<Delegate: RunDelegate>(
    in context: OperationContext,
    aboard carriage: Carriage,
    task current: RunTask,
    for delegate: Delegate,
    executing work: nonisolated(nonsending) () async -> Outcome
  ) async -> Outcome where Delegate.Success == Success, Delegate.Failure == Failure {
    let (isCancelled, priority) = self.withState { $0.begin(in: current) }
    current.catchUp(isCancelled: isCancelled, priority: priority)
    if !isCancelled || !self.finishCancelled() {
      self.finish(await work(), of: OperationTask(sharedRun: self, context: context), delegate)
    }
    guard carriage.leave() else { return self.outcome }
    current.cancel()
    return self.outcomeOfCarriage
  }

  /// The outcome for one whose carriage was cancelled, where `Failure` has room for it.
  @inlinable
  var outcomeOfCarriage: Outcome {
    @inline(never) get { Self.cancellation ?? self.outcome }
  }
}

extension SharedRunState {
  /// Begins in a task that runs already. Returns whether the run was cancelled before.
  @usableFromInline
  mutating func begin(in task: RunTask) -> (isCancelled: Bool, priority: UInt8) {
    self.phase = .executing
    self.task = task
    return (self.isCancelled, self.priority)
  }
}
