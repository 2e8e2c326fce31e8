import OperationCore
import TestFixtures
import Testing

@Suite(.bounded) struct EarlyPriorityTests {
  @Test
  func `A caller that joins between a run's creation and its start raises it`() async throws {
    let delegate = PriorityDelegate()
    let sharedRun = SharedRun(delegate: delegate, ownerCount: 1)
    // As a caller does that joins the run before it has begun.
    sharedRun.raise(to: .high)
    let outcome = await Task(priority: .background) {
      await sharedRun.startAndWait(in: OperationContext(), leaving: .atOnce, isAlreadyOwner: true)
    }.value
    #expect(try outcome.number() >= Int(TaskPriority.high.rawValue))
  }
}

/// Returns the priority of its task.
private final class PriorityDelegate: RunDelegate {
  func performWork(_ invocation: RunInvocation) async -> RunOutcome {
    RunSuccess(Int(Task.currentPriority.rawValue))
  }
}
