public import OperationCore
public import Synchronization

/// One run of an operation that several callers share, with the continuations of those callers.
@usableFromInline
final class SharedFlight<Operation: OperationRequest & Sendable>: Sendable where Operation.Value: Sendable {
  @usableFromInline
  typealias Continuation = OperationContinuation<Operation.Value, Operation.Failure>
  @usableFromInline typealias Outcome = Result<Operation.Value, Operation.Failure>

  @usableFromInline
  struct State {
    @usableFromInline var continuations: [UInt64: Continuation] = [:]
    @usableFromInline var lastID: UInt64 = 0
    @usableFromInline var lastYield: (Outcome, OperationContext?)?
    @usableFromInline var yieldCount = 0

    @inlinable
    init() {}
  }

  /// The context of the caller who began the flight.
  @usableFromInline let context: OperationContext
  @usableFromInline let pilot: SharedPilot<Operation>
  @usableFromInline let flight: Flight<Operation.Value, Operation.Failure>
  @usableFromInline let state = Mutex(State())

  @inlinable
  init(
    operation: Operation,
    context: OperationContext,
    onEnd: @escaping @Sendable (SharedFlight<Operation>) -> Void
  ) {
    self.context = context
    self.pilot = SharedPilot(operation: operation, onEnd: onEnd)
    self.flight = Flight(pilot: self.pilot)
  }

  /// Begins the flight and waits for its outcome.
  @inlinable
  nonisolated(nonsending) func begin(with continuation: Continuation) async -> Outcome {
    self.pilot.attach(self)
    let id = self.add(continuation)
    defer { self.remove(id) }
    return await self.raisingPriority {
      await self.flight.outcome(in: self.context, leaving: .atOnce, flownBy: self.pilot)
    }
  }

  /// Waits for the outcome with those who do already; nil when the flight is dying or over.
  @inlinable
  nonisolated(nonsending) func join(in context: OperationContext, with continuation: Continuation) async -> Outcome? {
    var id: UInt64?
    defer { if let id { self.remove(id) } }
    return await self.raisingPriority {
      await self.flight.outcomeIfAlive(leaving: .atOnce) {
        id = self.catchUp(continuation)
        context.noteJoin()
      }
    }
  }

  /// Waits, and raises the priority of the flight with that of the task that waits: as when a store raises its run.
  @inlinable
  nonisolated(nonsending) func raisingPriority<R>(_ wait: nonisolated(nonsending) () async -> R) async -> R {
    await withTaskPriorityEscalationHandler {
      await wait()
    } onPriorityEscalated: { [flight] _, priority in
      flight.raise(to: priority)
    }
  }

  /// Hands what was yielded to all who share the flight.
  @inlinable
  func yield(_ result: Outcome, using context: OperationContext?) {
    guard self.flight.isFlying else { return self.reportLateYield() }
    let continuations = self.state.withLock { state in
      state.lastYield = (result, context)
      state.yieldCount += 1
      return state.continuations.sorted { $0.key < $1.key }.map(\.value)
    }
    for continuation in continuations { continuation.yield(with: result, using: context) }
  }

  @usableFromInline
  func reportLateYield() {
    OperationWarning(
      code: .yieldAfterReturn,
      message: """
        A run of \(Operation.self) yielded a result after it had returned. The result was dropped. Yield before \
        returning: await the work that yields inside the operation.
        """
    ).report()
  }

  @inlinable
  func add(_ continuation: Continuation) -> UInt64 {
    self.state.withLock { state in
      state.lastID += 1
      state.continuations[state.lastID] = continuation
      return state.lastID
    }
  }

  /// Adds the continuation of a latecomer once it has what was yielded last.
  @inlinable
  func catchUp(_ continuation: Continuation) -> UInt64 {
    var seen = 0
    while true {
      let (id, missed) = self.state.withLock { state -> (UInt64?, (Outcome, OperationContext?)?) in
        if state.yieldCount > seen {
          seen = state.yieldCount
          return (nil, state.lastYield)
        }
        state.lastID += 1
        state.continuations[state.lastID] = continuation
        return (state.lastID, nil)
      }
      if let id { return id }
      if let (result, context) = missed { continuation.yield(with: result, using: context) }
    }
  }

  @inlinable
  func remove(_ id: UInt64) {
    let continuation = self.state.withLock { $0.continuations.removeValue(forKey: id) }
    _ = consume continuation  // Released after the lock.
  }
}

/// Flies the operation of a ``SharedFlight``.
@usableFromInline
final class SharedPilot<Operation: OperationRequest & Sendable>: FlightPilot where Operation.Value: Sendable {
  @usableFromInline let operation: Operation
  @usableFromInline let onEnd: @Sendable (SharedFlight<Operation>) -> Void
  @usableFromInline let shared = Mutex(WeakShared())

  @usableFromInline
  struct WeakShared {
    @usableFromInline weak var value: SharedFlight<Operation>?

    @inlinable
    init() {}
  }

  @inlinable
  init(operation: Operation, onEnd: @escaping @Sendable (SharedFlight<Operation>) -> Void) {
    self.operation = operation
    self.onEnd = onEnd
  }

  @inlinable
  func attach(_ shared: SharedFlight<Operation>) {
    self.shared.withLock { $0.value = shared }
  }

  @inlinable
  nonisolated(nonsending) func fly(
    _ task: OperationTask<Operation.Value, Operation.Failure>
  ) async -> Result<Operation.Value, Operation.Failure> {
    let shared = self.shared.withLock { $0.value }
    let continuation = OperationContinuation<Operation.Value, Operation.Failure> { result, context in
      shared?.yield(result, using: context)
    }
    do throws(Operation.Failure) {
      return .success(try await self.operation.run(isolation: nil, in: task.context, with: continuation))
    } catch {
      return .failure(error)
    }
  }

  @inlinable
  func wasCancelled(_ flight: Flight<Operation.Value, Operation.Failure>) {
    self.end()
  }

  @inlinable
  func didLand(
    _ task: OperationTask<Operation.Value, Operation.Failure>,
    with outcome: Result<Operation.Value, Operation.Failure>,
    isCancelled: Bool
  ) {
    self.end()
  }

  @inlinable
  func end() {
    if let shared = self.shared.withLock({ $0.value }) { self.onEnd(shared) }
  }
}
