/// What a ``Flight`` does, and who hears of its turns. All calls are made while no lock is held.
@usableFromInline
package protocol FlightPilot<Success, Failure>: AnyObject, Sendable {
  associatedtype Success: Sendable
  associatedtype Failure: Error

  /// The flight is about to begin. Returns the task to run: its context may have been edited.
  func willDepart(_ task: consuming OperationTask<Success, Failure>) -> OperationTask<Success, Failure>

  /// The flight was cancelled before its work began, and will not do it, or before `willDepart`. It has not landed.
  func didNotStart(_ flight: Flight<Success, Failure>)

  /// What the flight waits for, besides what its task was scheduled after.
  func waits(of flight: Flight<Success, Failure>) -> [WaitEdge]

  /// The name of the operation that the flight runs, if it does.
  var waitName: String? { get }

  /// Does the work. A flight that was cancelled before it began comes here without `willDepart` when its failure type
  /// has no room for a `CancellationError`.
  nonisolated(nonsending) func fly(_ voyage: Voyage<Self>) async -> Result<Success, Failure>

  /// The task of the flight as it has departed.
  func task(of flight: Flight<Success, Failure>) -> OperationTask<Success, Failure>?

  /// The flight was cancelled after it began and before it had an outcome.
  func wasCancelled(_ flight: Flight<Success, Failure>)

  /// The flight has an outcome, of which those who wait will hear when this returns.
  func didLand(
    _ task: consuming OperationTask<Success, Failure>,
    with outcome: Result<Success, Failure>,
    isCancelled: Bool
  )
}

extension FlightPilot {
  @inlinable
  package func willDepart(_ task: consuming OperationTask<Success, Failure>) -> OperationTask<Success, Failure> { task }

  @inlinable
  package func didNotStart(_ flight: Flight<Success, Failure>) {}

  @usableFromInline
  package func waits(of flight: Flight<Success, Failure>) -> [WaitEdge] { [] }

  @usableFromInline package var waitName: String? { nil }

  @inlinable
  package func task(of flight: Flight<Success, Failure>) -> OperationTask<Success, Failure>? { nil }

  @inlinable
  package func wasCancelled(_ flight: Flight<Success, Failure>) {}

  @inlinable
  package func didLand(
    _ task: consuming OperationTask<Success, Failure>,
    with outcome: Result<Success, Failure>,
    isCancelled: Bool
  ) {}
}

/// Flies a closure.
@usableFromInline
package final class ClosurePilot<Success: Sendable, Failure: Error>: FlightPilot {
  @usableFromInline
  let work: @Sendable (OperationTaskIdentifier, OperationContext) async throws(Failure) -> Success

  @inlinable
  package init(_ work: @escaping @Sendable (OperationTaskIdentifier, OperationContext) async throws(Failure) -> Success)
  {
    self.work = work
  }

  @inlinable
  package nonisolated(nonsending) func fly(
    _ voyage: Voyage<ClosurePilot<Success, Failure>>
  ) async -> Result<Success, Failure> {
    do throws(Failure) {
      return .success(try await self.work(voyage.flight.id, voyage.context))
    } catch {
      return .failure(error)
    }
  }
}
