import OperationCore
import Testing

/// A run in the task of another one is raised as one in a task of its own is.
struct TaskLoanPriorityTests {
  @Test
  func `A caller that joins between a run's creation and its start raises it`() async throws {
    let delegate = PriorityDelegate()
    let sharedRun = SharedRun<Int, any Error>(delegate: delegate, ownerCount: 1)
    // As a follower does that finds the run before the leader has begun it.
    sharedRun.raise(to: .high)
    let outcome = await Task(priority: .background) {
      let (loan, current) = (TaskLoan(), RunTask.current)
      #expect(sharedRun.begin(borrowing: current))
      let priority = RunOutcome<Int, any Error>(success: Int(Task.currentPriority.rawValue))
      sharedRun.finish(priority, of: OperationTask(sharedRun: sharedRun, context: OperationContext()), delegate)
      return sharedRun.outcome(returning: current, to: loan)
    }.value
    #expect(try outcome.get() >= Int(TaskPriority.high.rawValue))
  }
}

/// Runs in the tasks of others alone.
private final class PriorityDelegate: RunDelegate {
  func perform(_ invocation: RunInvocation<PriorityDelegate>) async -> RunOutcome<Int, any Error> {
    RunOutcome(failure: CancellationError())
  }
}
