internal import Synchronization

/// One run that any number of callers share: the engine under tasks, stores and deduplication.
///
/// It begins once, lives while somebody who counts holds on to it, and is cancelled when the last of them leaves. What is
/// to be decided is decided under the lock; continuations, cancellation and the pilot are called after it.
package final class Flight<Success: Sendable, Failure: Error>: Sendable {
  package typealias Outcome = Result<Success, Failure>

  /// How a flight begins.
  package enum Departure: Sendable {
    /// At once on the caller's thread, unless the context asks for a priority or an executor.
    case immediate
    /// On the executor of its task, when that gets to it.
    case enqueued
  }

  /// What a waiter does when its task is cancelled.
  package enum Leaving: Sendable {
    /// It leaves, except for the last one, who waits for the end of the flight that its leaving has cancelled.
    case lastStays
    /// It leaves at once, the last one too.
    case atOnce
  }

  struct State {
    var phase = Phase.grounded
    var isCancelled = false
    /// How many who count hold on to the flight: waiters, and holds.
    var holders = 0
    /// Those who wait; they get nil when they leave before the flight is over.
    var waiters = WaiterTable<Outcome?>()
    var task: FlightTask?
    var priority = TaskPriority.background
    var dependencies = TaskDependencies()
    var isPrerequisite = false
    /// While the pilot may still edit the task: what that is scheduled after counts.
    var isDeparting = false
    /// Let go at the end: a state that keeps finished tasks must not keep the store that flew them.
    var pilot: (any FlightPilot<Success, Failure>)?
    /// The flight whose outcome this one transforms, if it does; let go at the end too.
    var source: (any TaskLinking)?
  }

  enum Phase {
    case grounded
    case flying
    /// The outcome is settled, and the pilot is told.
    case landing
    case landed(Outcome)
  }

  package let id = OperationTaskIdentifier.next()
  let state: Mutex<State>

  package init(pilot: any FlightPilot<Success, Failure>, source: (any TaskLinking)? = nil) {
    self.state = Mutex(State(pilot: pilot, source: source))
    source?.node.becomePrerequisite()
  }
}

// MARK: - Waiting

extension Flight {
  /// Begins the flight if nobody has, and waits for its outcome.
  package func outcome(
    in context: OperationContext,
    departure: Departure = .immediate,
    leaving: Leaving = .lastStays
  ) async -> Outcome {
    let boarding = self.board(counts: true, onlyIfAlive: false)
    guard case .seat(let seat) = boarding else { return self.landedOutcome(boarding) }
    return await withTaskCancellationHandler {
      self.begin(in: context, departure: departure)
      return Self.outcomeOrCancellation(await self.wait(at: seat))
    } onCancel: {
      self.leave(seat, counts: true, leaving: leaving)
    }
  }

  /// Waits for the outcome of a flight that somebody has begun or is about to; nil when it is dying or over.
  ///
  /// - Parameter onBoard: Called once the caller counts, before it waits.
  package func outcomeIfAlive(leaving: Leaving, onBoard: () -> Void = {}) async -> Outcome? {
    guard case .seat(let seat) = self.board(counts: true, onlyIfAlive: true) else { return nil }
    onBoard()
    return await withTaskCancellationHandler {
      Self.outcomeOrCancellation(await self.wait(at: seat))
    } onCancel: {
      self.leave(seat, counts: true, leaving: leaving)
    }
  }

  /// Waits until the flight is over, without being a reason for it to go on. Returns early when the task is cancelled.
  package func settled() async {
    guard case .seat(let seat) = self.board(counts: false, onlyIfAlive: false) else { return }
    await withTaskCancellationHandler {
      _ = await self.wait(at: seat)
    } onCancel: {
      self.leave(seat, counts: false, leaving: .atOnce)
    }
  }

  private enum Boarding {
    case seat(WaiterTable<Outcome?>.Seat)
    case landed(Outcome)
    case refused
  }

  private func board(counts: Bool, onlyIfAlive: Bool) -> Boarding {
    let priority = Task.currentPriority
    let (boarding, taskToRaise) = self.state.withLock { state -> (Boarding, FlightTask?) in
      switch state.phase {
      case .landed(let outcome): return (onlyIfAlive ? .refused : .landed(outcome), nil)
      case .landing where onlyIfAlive: return (.refused, nil)
      case .grounded, .flying:
        if onlyIfAlive, state.isCancelled { return (.refused, nil) }
      case .landing: break
      }
      if counts { state.holders += 1 }
      let raises = counts && priority > state.priority
      if raises { state.priority = priority }
      return (.seat(state.waiters.join()), raises ? state.task : nil)
    }
    taskToRaise?.escalatePriority(to: priority)
    return boarding
  }

  private func landedOutcome(_ boarding: Boarding) -> Outcome {
    guard case .landed(let outcome) = boarding else {
      preconditionFailure("A flight refuses only those who want it alive.")
    }
    return outcome
  }

  /// The outcome, or nil when the waiter has left.
  private func wait(at seat: WaiterTable<Outcome?>.Seat) async -> Outcome? {
    if case .landed(let outcome) = self.state.withLock({ $0.phase }) { return outcome }
    return await withUnsafeContinuation { continuation in
      let answer: Outcome??
      answer = self.state.withLock { state in
        if case .landed(let outcome) = state.phase { return .some(outcome) }
        guard case .departed = state.waiters[seat] else {
          state.waiters[seat] = .suspended(continuation)
          return nil
        }
        state.waiters.vacate(seat)
        return .some(nil)
      }
      if let answer { continuation.resume(returning: answer) }
    }
  }

  private static func outcomeOrCancellation(_ outcome: Outcome?) -> Outcome {
    guard let outcome = outcome ?? self.cancellation else {
      preconditionFailure("Nobody leaves a flight whose failure has no room for a cancellation.")
    }
    return outcome
  }

  private func leave(_ seat: WaiterTable<Outcome?>.Seat, counts: Bool, leaving: Leaving) {
    // Who cannot be told of the cancellation waits for the end, but no longer counts.
    let mayLeave = !counts || Self.cancellation != nil
    let (dying, continuation) = self.state.withLock { state -> (Dying?, UnsafeContinuation<Outcome?, Never>?) in
      if case .landed = state.phase { return (nil, nil) }
      var dying: Dying?
      if counts {
        state.holders -= 1
        if state.holders == 0 { dying = Self.markCancelled(&state) }
      }
      guard mayLeave, !counts || state.holders > 0 || leaving == .atOnce else { return (dying, nil) }
      switch state.waiters[seat] {
      case .suspended(let continuation):
        state.waiters.vacate(seat)
        return (dying, continuation)
      case .arriving:
        state.waiters[seat] = .departed
        return (dying, nil)
      case .departed, .vacant:
        return (dying, nil)
      }
    }
    if let dying {
      self.die(dying) { continuation?.resume(returning: nil) }
    } else {
      continuation?.resume(returning: nil)
    }
  }

  /// The outcome of those who leave, or nil where `Failure` has no room for it.
  package static var cancellation: Outcome? {
    (CancellationError() as? Failure).map(Outcome.failure)
  }
}

// MARK: - Holding and cancelling

extension Flight {
  /// Keeps the flight alive until ``release()``. False when it is dying or over.
  package func hold() -> Bool {
    self.state.withLock { state in
      switch state.phase {
      case .grounded, .flying:
        guard !state.isCancelled else { return false }
        state.holders += 1
        return true
      case .landing, .landed:
        return false
      }
    }
  }

  /// Takes a hold back, and cancels the flight when it was the last.
  package func release() {
    let dying = self.state.withLock { state in
      state.holders -= 1
      return state.holders == 0 ? Self.markCancelled(&state) : nil
    }
    if let dying { self.die(dying) }
  }

  /// Cancels the flight, whoever holds on to it.
  package func cancel() {
    let dying = self.state.withLock { Self.markCancelled(&$0) }
    if let dying { self.die(dying) }
  }

  private struct Dying {
    let task: FlightTask?
    /// Who is to be told: nobody when the flight had not begun.
    let pilot: (any FlightPilot<Success, Failure>)?
  }

  private static func markCancelled(_ state: inout State) -> Dying? {
    guard !state.isCancelled else { return nil }
    switch state.phase {
    case .grounded:
      state.isCancelled = true
      return Dying(task: nil, pilot: nil)
    case .flying:
      state.isCancelled = true
      return Dying(task: state.task, pilot: state.pilot)
    case .landing, .landed:
      return nil
    }
  }

  private func die(_ dying: Dying, afterwards: @escaping () -> Void = {}) {
    Cascade.perform {
      dying.pilot?.wasCancelled(self)
      dying.task?.cancel()
      afterwards()
    }
  }

  /// Raises the priority of the flight, as a caller with that priority would.
  package func raise(to priority: TaskPriority) {
    let task = self.state.withLock { state -> FlightTask? in
      guard priority > state.priority else { return nil }
      state.priority = priority
      return state.task
    }
    task?.escalatePriority(to: priority)
  }

  package var isCancelled: Bool { self.state.withLock { $0.isCancelled } }

  package var isRunning: Bool {
    self.state.withLock { state in
      switch state.phase {
      case .flying, .landing: true
      case .grounded, .landed: false
      }
    }
  }

  /// Whether the work is under way: from its beginning until it returns.
  package var isFlying: Bool {
    self.state.withLock { if case .flying = $0.phase { true } else { false } }
  }

  package var hasStarted: Bool {
    self.state.withLock { if case .grounded = $0.phase { false } else { true } }
  }

  package var finishedOutcome: Outcome? {
    self.state.withLock { if case .landed(let outcome) = $0.phase { outcome } else { nil } }
  }
}

// MARK: - Flying

extension Flight {
  /// Begins the flight if nobody has.
  package func begin(in context: OperationContext, departure: Departure = .immediate) {
    let (pilot, wasCancelledBefore) = self.state.withLock { state -> ((any FlightPilot<Success, Failure>)?, Bool) in
      guard case .grounded = state.phase else { return (nil, false) }
      state.phase = .flying
      state.isDeparting = true
      return (state.pilot, state.isCancelled)
    }
    guard let pilot else { return }
    let task = OperationTask(flight: self, context: context)
    guard wasCancelledBefore else { return self.launch(pilot.willDepart(task), departure, pilot) }
    if let outcome = Self.cancellation { self.land(outcome) } else { self.launch(task, departure, pilot) }
  }

  /// How deep runs may begin inside one another on one thread before they are enqueued, to save its stack.
  private static var maximumDepth: Int { 24 }

  private func launch(
    _ task: OperationTask<Success, Failure>,
    _ departure: Departure,
    _ pilot: any FlightPilot<Success, Failure>
  ) {
    let configuration = task.context.operationTaskConfiguration
    let handle: Task<Void, Never>
    let depth = ThreadLocal.depth
    if departure == .immediate, depth < Self.maximumDepth,
      configuration.priority == nil, configuration.executorPreference == nil
    {
      ThreadLocal.depth = depth + 1
      handle = Task.immediate(name: configuration.name) { await self.fly(task, pilot) }
      ThreadLocal.depth = depth
    } else {
      self.state.withLock { $0.isDeparting = false }
      handle = Task(
        name: configuration.name,
        executorPreference: configuration.executorPreference,
        priority: configuration.priority
      ) { await self.fly(task, pilot) }
    }
    let priority = self.state.withLock { state -> TaskPriority? in
      guard case .flying = state.phase else { return nil }
      state.task = .handle(handle)
      return state.priority
    }
    // Those are made up for who boarded before there was a task to raise, which may be long before this one begins.
    if let priority, let own = configuration.priority, priority > own { handle.escalatePriority(to: priority) }
  }

  private func fly(_ task: OperationTask<Success, Failure>, _ pilot: any FlightPilot<Success, Failure>) async {
    let dependencies = self.takeOff()
    if !dependencies.isEmpty {
      await TaskDependency.settle(dependencies)
      if Task.isCancelled, let cancellation = Self.cancellation { return self.land(cancellation, of: task, pilot) }
    }
    self.land(await pilot.fly(task), of: task, pilot)
  }

  /// Makes the current task the one of the flight, and returns what that waits for.
  private func takeOff() -> [TaskDependency] {
    withUnsafeCurrentTask { current in
      let (isCancelled, priority, dependencies) = self.state.withLock { state in
        state.isDeparting = false
        if state.task == nil { state.task = current.map { .current($0) } }
        return (state.isCancelled, state.priority, state.dependencies.all)
      }
      // For those who came before there was a task to cancel or to raise.
      if isCancelled { current?.cancel() }
      if let current, priority > current.priority { current.escalatePriority(to: priority) }
      return dependencies
    }
  }

  private func land(
    _ outcome: Outcome,
    of task: OperationTask<Success, Failure>,
    _ pilot: any FlightPilot<Success, Failure>
  ) {
    let isCancelled = self.state.withLock { state in
      state.phase = .landing
      return state.isCancelled
    }
    pilot.didLand(task, with: outcome, isCancelled: isCancelled)
    self.land(outcome)
  }

  private func land(_ outcome: Outcome) {
    let (waiters, references) = self.state.withLock { state in
      defer {
        state.phase = .landed(outcome)
        state.task = nil
        state.pilot = nil
        state.source = nil
        state.dependencies = TaskDependencies()
      }
      return (state.waiters.removeAll(), (state.pilot, state.source, state.dependencies))
    }
    waiters.resume(returning: outcome)
    withExtendedLifetime(references) {}  // Until here, after the lock.
  }
}
