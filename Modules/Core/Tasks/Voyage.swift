/// A flight, its context and its pilot: one object is all that the closures of a run have to keep.
@usableFromInline
package final class Voyage<Pilot: FlightPilot>: Sendable {
  @usableFromInline let flight: Flight<Pilot.Success, Pilot.Failure>
  /// The context of the task as it has departed.
  @usableFromInline package let context: OperationContext
  @usableFromInline let pilot: Pilot

  @inlinable
  init(_ flight: Flight<Pilot.Success, Pilot.Failure>, _ context: consuming OperationContext, _ pilot: Pilot) {
    self.flight = flight
    self.context = context
    self.pilot = pilot
  }

  @inlinable
  package var task: OperationTask<Pilot.Success, Pilot.Failure> {
    OperationTask(flight: self.flight, context: self.context)
  }
}
