public import Synchronization

/// One run that any number of callers share: the engine under tasks, stores and deduplication.
///
/// It begins once, lives while somebody who counts holds on to it, and is cancelled when the last of them leaves. What is
/// to be decided is decided under the lock, by ``FlightState``; continuations, cancellation and the pilot are called after
/// it.
@usableFromInline
package final class Flight<Success: Sendable, Failure: Error>: Sendable {
  @usableFromInline package typealias Outcome = Result<Success, Failure>

  /// How a flight begins.
  @usableFromInline
  package enum Departure: Sendable {
    /// At once on the caller's thread, unless the context asks for a priority or an executor.
    case immediate
    /// On the executor of its task, when that gets to it.
    case enqueued
  }

  /// What a waiter does when its task is cancelled.
  @usableFromInline
  package enum Leaving: Sendable {
    /// It leaves, except for the last one, who waits for the end of the flight that its leaving has cancelled.
    case lastStays
    /// It leaves at once, the last one too.
    case atOnce
  }

  @usableFromInline package let id = OperationTaskIdentifier.next()
  // The lock lies beside the state, not around it: a `Mutex` copies and destroys its value without knowing the type.
  @usableFromInline let lock = Mutex(())
  /// Lets another flight fly in the task of this one, if it may.
  @usableFromInline let carriage: Carriage?
  /// Set once the outcome is there for good.
  @usableFromInline let isOver = Atomic(false)

  // Unsafe only in name: touched by whoever holds the lock.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var state = FlightState()
  // Unsafe only in name: written under the lock before `isOver` is set, and read by those who have seen that it is.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var settledOutcome: FlightOutcome?
  // Unsafe only in name: touched by whoever holds the lock. Let go at the end: a state that keeps finished tasks must not
  // keep the store that flew them.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var pilot: (any FlightPilot<Success, Failure>)?

  @inlinable
  package init(
    pilot: any FlightPilot<Success, Failure>,
    source: (any TaskLinking)? = nil,
    carriage: Carriage? = nil,
    holders: Int = 0
  ) {
    self.carriage = carriage
    self.pilot = pilot
    self.state.holders = holders
    if let source {
      self.state.source = source
      Self.note(prerequisite: source)
    }
  }
}

extension Flight {
  /// Runs `body`, which must not call foreign code, under the lock.
  @inlinable
  @inline(__always)
  func withState<R>(_ body: (inout FlightState) -> R) -> R {
    self.lock.withLock { _ in Unsent(body(&self.state)) }.value
  }

  // Not inlined: few flights have a source.
  @usableFromInline
  static func note(prerequisite source: any TaskLinking) {
    source.node.becomePrerequisite()
  }

  /// The outcome of those who leave, or nil where `Failure` has no room for it.
  @inlinable
  package static var cancellation: Outcome? {
    // Not inlined: the size of the error is known at run time only, and each call of an async function that makes one
    // allocates room for it, made or not.
    @inline(never) get { (CancellationError() as? Failure).map(Outcome.failure) }
  }
}

// MARK: - Waiting

extension Flight {
  /// Begins the flight if nobody has, and waits for its outcome.
  @inlinable
  package nonisolated(nonsending) func outcome(
    in context: OperationContext,
    departure: Departure = .immediate,
    leaving: Leaving = .lastStays
  ) async -> Outcome {
    await self.outcome(leaving: leaving) { self.begin(in: context, departure: departure) }
  }

  /// Begins the flight if nobody has, with the pilot that it was made with, and waits for its outcome.
  ///
  /// Who knows the type of the pilot spares the flight the search for what to call.
  ///
  /// - Parameter isHeld: Whether the one who waits holds on to the flight already, until it leaves.
  @inlinable
  @inline(__always)
  package nonisolated(nonsending) func outcome<Pilot: FlightPilot>(
    in context: OperationContext,
    leaving: Leaving,
    isHeld: Bool = false,
    flownBy pilot: Pilot
  ) async -> Outcome where Pilot.Success == Success, Pilot.Failure == Failure {
    await self.outcome(leaving: leaving, isHeld: isHeld) {
      self.begin(in: context, departure: .immediate, flownBy: pilot)
    }
  }

  @inlinable
  @inline(__always)
  nonisolated(nonsending) func outcome(
    leaving: Leaving,
    isHeld: Bool = false,
    beginning begin: () -> Void
  ) async -> Outcome {
    guard let seat = self.board(counts: true, isHeld: isHeld) else { return self.outcome }
    let hasLanded = await withTaskCancellationHandler {
      begin()
      return await self.wait(at: seat)
    } onCancel: {
      self.leave(seat, counts: true, leaving: leaving)
    }
    return hasLanded ? self.outcome : Self.outcomeOfLeaving
  }

  /// Waits for the outcome of a flight that another one begins, and that the caller holds already, until it leaves.
  @inlinable
  package nonisolated(nonsending) func outcomeOfHolder(leaving: Leaving) async -> Outcome {
    await self.outcome(leaving: leaving, isHeld: true) {}
  }

  /// Waits for the outcome of a flight that somebody has begun or is about to; nil when it is dying or over.
  ///
  /// - Parameter onBoard: Called once the caller counts, before it waits.
  @inlinable
  package nonisolated(nonsending) func outcomeIfAlive(leaving: Leaving, onBoard: () -> Void = {}) async -> Outcome? {
    guard let seat = self.board(counts: true, onlyIfAlive: true) else { return nil }
    onBoard()
    let hasLanded = await withTaskCancellationHandler {
      await self.wait(at: seat)
    } onCancel: {
      self.leave(seat, counts: true, leaving: leaving)
    }
    return hasLanded ? self.outcome : Self.outcomeOfLeaving
  }

  /// Waits until the flight is over, without being a reason for it to go on. Returns early when the task is cancelled.
  @inlinable
  package nonisolated(nonsending) func settled() async {
    guard let seat = self.board(counts: false) else { return }
    _ = await withTaskCancellationHandler {
      await self.wait(at: seat)
    } onCancel: {
      self.leave(seat, counts: false, leaving: .atOnce)
    }
  }

  /// A seat; nil when the flight is over, or dying where that matters. Who counts raises the priority to its own.
  @inlinable
  func board(counts: Bool, isHeld: Bool = false, onlyIfAlive: Bool = false) -> WaiterTable.Seat? {
    let priority = counts ? FlightTask.currentPriority : 0
    let (seat, taskToRaise) = self.withState { state -> (WaiterTable.Seat?, FlightTask?) in
      if onlyIfAlive, !state.isAlive { return (nil, nil) }
      guard let seat = state.board(counts: counts, isHeld: isHeld) else { return (nil, nil) }
      return (seat, state.raise(to: priority))
    }
    taskToRaise?.escalatePriority(to: priority)
    return seat
  }

  /// Whether the flight has landed: false when the waiter has left.
  @inlinable
  @inline(__always)
  nonisolated(nonsending) func wait(at seat: WaiterTable.Seat) async -> Bool {
    if self.isOver.load(ordering: .acquiring) { return true }
    return await withUnsafeContinuation { continuation in
      let answer = self.withState { $0.suspend(continuation, at: seat) }
      if let answer { continuation.resume(returning: answer) }
    }
  }

  @inlinable
  static var outcomeOfLeaving: Outcome {
    guard let outcome = self.cancellation else {
      preconditionFailure("Nobody leaves a flight whose failure has no room for a cancellation.")
    }
    return outcome
  }

  // Not inlined: a cancellation is rare.
  @usableFromInline
  func leave(_ seat: WaiterTable.Seat, counts: Bool, leaving: Leaving) {
    // Who cannot be told of the cancellation waits for the end, but no longer counts.
    let mayLeave = !counts || Self.cancellation != nil
    let (dying, continuation) = self.withState { state in
      let left = state.leave(seat, counts: counts, mayLeave: mayLeave, lastStays: leaving == .lastStays)
      return (self.dying(left.death), left.continuation)
    }
    if let dying {
      self.die(dying) { continuation?.resume(returning: false) }
    } else {
      continuation?.resume(returning: false)
    }
  }
}

// MARK: - Holding and cancelling

extension Flight {
  /// Keeps the flight alive until ``release()``. False when it is dying or over.
  @usableFromInline
  package func hold() -> Bool {
    self.withState { $0.hold() }
  }

  /// Takes a hold back, and cancels the flight when it was the last.
  @usableFromInline
  package func release() {
    let dying = self.withState { self.dying($0.release()) }
    if let dying { self.die(dying) }
  }

  /// Cancels the flight, whoever holds on to it.
  @usableFromInline
  package func cancel() {
    let dying = self.withState { self.dying($0.cancel()) }
    if let dying { self.die(dying) }
  }

  private struct Dying {
    let task: FlightTask?
    /// Who is to be told: nobody when the flight had not begun.
    let pilot: (any FlightPilot<Success, Failure>)?
  }

  /// Called under the lock, as the pilot goes when the flight lands.
  private func dying(_ death: FlightState.Death?) -> Dying? {
    death.map { Dying(task: $0.task, pilot: $0.hadBegun ? self.pilot : nil) }
  }

  private func landEarly(_ pilot: some FlightPilot<Success, Failure>) {
    guard let cancellation = Self.cancellation, let task = pilot.task(of: self) else { return }
    self.land(cancellation, of: task, pilot)
  }

  private func die(_ dying: Dying, afterwards: @escaping () -> Void = {}) {
    Cascade.perform {
      dying.pilot?.wasCancelled(self)
      if let carriage = self.carriage {
        // The task goes on with what others may wait for. Those who wait for this flight do not.
        if carriage.cancel(dying.task), let pilot = dying.pilot { self.landEarly(pilot) }
      } else {
        dying.task?.cancel()
      }
      afterwards()
    }
  }

  /// Raises the priority of the flight, as a caller with that priority would.
  @usableFromInline
  package func raise(to priority: TaskPriority) {
    let task = self.withState { $0.raise(to: priority.rawValue) }
    task?.escalatePriority(to: priority.rawValue)
  }
}

// MARK: - Asking

extension Flight {
  @inlinable
  package var isCancelled: Bool { self.withState { $0.isCancelled } }

  /// Whether the flight can be joined: until it is cancelled, or its outcome is settled.
  @inlinable
  package var isAlive: Bool { self.withState { $0.isAlive } }

  package var isRunning: Bool {
    self.withState { $0.phase == .flying || $0.phase == .landing }
  }

  /// Whether the work is under way: from its beginning until it returns.
  @inlinable
  package var isFlying: Bool { self.withState { $0.phase == .flying } }

  package var hasStarted: Bool { self.withState { $0.phase != .grounded } }

  package var finishedOutcome: Outcome? {
    self.isOver.load(ordering: .acquiring) ? self.outcome : nil
  }
}
