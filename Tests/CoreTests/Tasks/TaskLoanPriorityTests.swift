import OperationCore
import Testing

/// The priority of a run that borrows a task is raised like that of a run with a task of its own.
struct TaskLoanPriorityTests {
  @Test
  func `A caller that joins between a run's creation and its start raises it`() async throws {
    let delegate = PriorityDelegate()
    let sharedRun = SharedRun<Int, any Error>(delegate: delegate, ownerCount: 1)
    // As a caller does that joins the run before it has begun.
    sharedRun.raise(to: .high)
    let outcome = await Task(priority: .background) {
      let (loan, current) = (TaskLoan(), RunTask.current)
      #expect(sharedRun.start(borrowing: current))
      let priority = RunOutcome<Int, any Error>(success: Int(Task.currentPriority.rawValue))
      sharedRun.finish(priority, of: OperationTask(sharedRun: sharedRun, context: OperationContext()), delegate)
      return sharedRun.endLoan(loan, of: current)
    }.value
    #expect(try outcome.get() >= Int(TaskPriority.high.rawValue))
  }
}

/// Is never asked to perform: its run borrows a task.
private final class PriorityDelegate: RunDelegate {
  func performWork(_ invocation: RunInvocation<PriorityDelegate>) async -> RunOutcome<Int, any Error> {
    RunOutcome(failure: CancellationError())
  }
}
