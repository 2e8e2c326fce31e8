public import OperationCore
public import Synchronization

/// The flights of one operation that are under way.
@usableFromInline
final class FlightRegistry<Operation: OperationRequest & Sendable>: Sendable where Operation.Value: Sendable {
  @usableFromInline typealias Continuation = OperationContinuation<Operation.Value, Operation.Failure>

  @usableFromInline
  struct State {
    @usableFromInline var flights: [SharedFlight<Operation>] = []
    /// Counts the flights that have been added, to tell whether one has come since a look at them.
    @usableFromInline var additions = 0

    @inlinable
    init() {}
  }

  @usableFromInline let state = Mutex(State())

  @inlinable
  init() {}

  /// Joins a flight that does the same, or begins one, and waits for its outcome.
  @inlinable
  nonisolated(nonsending) func outcome(
    of operation: Operation,
    in context: OperationContext,
    with continuation: Continuation,
    mayBoard: Bool,
    isSameRun: (OperationContext, OperationContext) -> Bool
  ) async -> Result<Operation.Value, Operation.Failure> {
    while true {
      let (flights, additions) = self.state.withLock { ($0.flights, $0.additions) }
      if let shared = flights.first(where: { isSameRun(context, $0.context) }) {
        if let outcome = await shared.join(in: context, with: continuation) { return outcome }
        self.remove(shared)
        continue
      }
      let added = self.state.withLock { state -> SharedFlight<Operation>? in
        guard state.additions == additions else { return nil }
        state.additions += 1
        // Made here, so that each one that is made is begun, and ended: until then it and its flight hold each other.
        let shared = SharedFlight(operation: operation, context: context, registry: self, leader: continuation)
        state.flights.append(shared)
        return shared
      }
      guard let added else { continue }
      let outcome = await added.begin(mayBoard: mayBoard)
      // One that was cancelled before it began has not been taken out.
      if Task.isCancelled, !added.flight.isAlive { self.remove(added) }
      return outcome
    }
  }

  @inlinable
  func remove(_ shared: SharedFlight<Operation>) {
    self.state.withLock { state in
      if state.flights.count == 1, state.flights[0] === shared {
        state.flights.removeLast()
      } else {
        state.flights.removeAll { $0 === shared }
      }
    }
  }
}
