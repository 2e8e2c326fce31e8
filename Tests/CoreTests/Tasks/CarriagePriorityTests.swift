import OperationCore
import Testing

/// A flight in the task of another one is raised as one in a task of its own is.
struct CarriagePriorityTests {
  @Test
  func `Who boards between the making of a flight and its beginning raises it`() async throws {
    let pilot = PriorityPilot()
    let flight = Flight<Int, any Error>(pilot: pilot, holders: 1)
    // As a follower does that finds the flight before the leader has begun it.
    flight.raise(to: .high)
    let outcome = await Task(priority: .background) {
      await flight.outcome(in: OperationContext(), aboard: Carriage(), task: FlightTask.current, for: pilot) {
        .success(Int(Task.currentPriority.rawValue))
      }
    }.value
    #expect(try outcome.get() >= Int(TaskPriority.high.rawValue))
  }
}

/// Flies in the tasks of others alone.
private final class PriorityPilot: FlightPilot {
  func fly(_ voyage: Voyage<PriorityPilot>) async -> Result<Int, any Error> { .failure(CancellationError()) }
}
