internal import OperationCore
internal import Synchronization

/// The flights of one operation that are under way.
final class FlightRegistry<Operation: OperationRequest & Sendable>: Sendable where Operation.Value: Sendable {
  typealias Continuation = OperationContinuation<Operation.Value, Operation.Failure>

  private struct State {
    var flights: [SharedFlight<Operation>] = []
    /// Counts the flights that have been added, to tell whether one has come since a look at them.
    var additions = 0
  }

  private let state = Mutex(State())

  /// Joins a flight that does the same, or begins one, and waits for its outcome.
  func outcome(
    of operation: Operation,
    in context: OperationContext,
    with continuation: Continuation,
    isSameRun: (OperationContext, OperationContext) -> Bool
  ) async -> Result<Operation.Value, Operation.Failure> {
    while true {
      let (flights, additions) = self.state.withLock { ($0.flights, $0.additions) }
      if let shared = flights.first(where: { isSameRun(context, $0.context) }) {
        if let outcome = await shared.join(with: continuation) { return outcome }
        self.remove(shared)
        continue
      }
      let shared = SharedFlight(operation: operation, context: context) { [weak self] in self?.remove($0) }
      let isAdded = self.state.withLock { state in
        guard state.additions == additions else { return false }
        state.additions += 1
        state.flights.append(shared)
        return true
      }
      if isAdded { return await shared.begin(with: continuation) }
    }
  }

  private func remove(_ shared: SharedFlight<Operation>) {
    self.state.withLock { state in
      state.flights.removeAll { $0 === shared }
    }
  }
}
