import OperationTesting
import Synchronization
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

@Suite(.bounded, .warningsAreIssues) struct OperationTaskTests {
  private let work = GatedWork()

  @Test func `A task has not started until it is run`() async throws {
    let lifetimes = LifetimeTracker()
    let task = OperationTask<Int, any Error> { [token = lifetimes.token()] _, _ in
      token.touch()
      return 1
    }
    #expect(!task.hasStarted)
    #expect(!task.isRunning)
    #expect(!task.isFinished)
    #expect(!task.isCancelled)
    #expect(task.finishedResult == nil)
    try await expect(task.runIfNeeded(), equals: 1)
    #expect(task.hasStarted)
    #expect(!task.isRunning)
    #expect(task.isFinished)
    try expect(task.finishedResult?.get(), equals: 1)
    // The work has ended, and its captured values are released, although the task still exists.
    expect(lifetimes.aliveCount, equals: 0)
  }

  @Test func `The work finds the identifier of its task in the context`() async throws {
    var context = OperationContext()
    context.operationRunningTaskIdentifier = OperationTask<Int, any Error> { _, _ in 1 }.id
    let outer = OperationTask<[OperationTaskIdentifier?], any Error>(context: context) { id, context in
      let inner = OperationTask<[OperationTaskIdentifier?], any Error>(context: context) { id, context in
        [id, context.operationRunningTaskIdentifier]
      }
      let identifiers = try await inner.runIfNeeded()
      expect(identifiers, equals: [inner.id, inner.id])
      return [id, context.operationRunningTaskIdentifier]
    }
    try await expect(outer.runIfNeeded(), equals: [outer.id, outer.id])
  }

  @Test func `A task is running until its work is done`() async throws {
    let task = work.task()
    let caller = Task.immediate { try await task.runIfNeeded() }
    #expect(task.hasStarted)
    #expect(task.isRunning)
    #expect(!task.isFinished)
    work.gate.open()
    try await expect(caller.value, equals: 1)
    #expect(!task.isRunning)
    #expect(task.isFinished)
  }

  @Test func `Copies are the same run`() async throws {
    let task = work.task()
    var copy = task
    copy.context.operationTaskConfiguration.name = "copy"
    expect(copy.id, equals: task.id)
    expect(task.configuration.name, equals: nil)
    expect(copy.configuration.name, equals: "copy")
    expect(copy.info.configuration.name, equals: "copy")
    expect(copy.info.id, equals: task.id)
    work.gate.open()
    try await expect(task.runIfNeeded(), equals: 1)
    try await expect(copy.runIfNeeded(), equals: 1)
    expect(work.runCount, equals: 1)
  }

  @Test func `Identifiers ascend`() {
    let tasks = (0..<10).map { _ in work.task() }
    expect(tasks.map(\.id), equals: tasks.map(\.id).sorted())
    expect(Set(tasks.map(\.id)).count, equals: 10)
    #expect(tasks[0].id.description.hasPrefix("#"))
  }

  @Test func `The work gets the identifier and the context`() async throws {
    var context = OperationContext()
    context.operationTaskConfiguration.name = "of the work"
    let task = OperationTask<(OperationTaskIdentifier, String?, String?), any Error>(context: context) { id, context in
      (id, context.operationTaskConfiguration.name, Task.name)
    }
    let (id, name, taskName) = try await task.runIfNeeded()
    expect(id, equals: task.id)
    expect(name, equals: "of the work")
    expect(taskName, equals: "of the work")
  }

  @Test func `A task throws the error of its work`() async {
    let task = OperationTask<Int, Refused> { _, _ async throws(Refused) -> Int in throw Refused(code: 3) }
    for _ in 0..<2 {
      do {
        _ = try await task.runIfNeeded()
        Issue.record("The error is missing.")
      } catch {
        expect(error, equals: Refused(code: 3))
      }
    }
    expect(task.finishedResult, equals: .failure(Refused(code: 3)))
    #expect(!task.isCancelled)
  }

  @Test func `Ten thousand callers share one run`() async throws {
    let task = work.task()
    // Each of them is waiting when the next one is made.
    let callers = (0..<10_000).map { _ in Task.immediate { try await task.runIfNeeded() } }
    expect(work.runCount, equals: 1)
    work.gate.open()
    for caller in callers { try await expect(caller.value, equals: 1) }
    try await expect(task.runIfNeeded(), equals: 1)
    expect(work.runCount, equals: 1)
  }

  @Test func `Callers that compete share one run`() async throws {
    for _ in 0..<50 {
      let work = GatedWork()
      let task = work.task()
      try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<100 {
          group.addTask { try await task.runIfNeeded() }
          if number == 50 { work.gate.open() }
        }
        for try await value in group { expect(value, equals: 1) }
      }
      expect(work.runCount, equals: 1)
    }
  }

  @Test func `A task runs on the given executor with the given priority`() async throws {
    let executor = CountingExecutor()
    var context = OperationContext()
    context.operationTaskConfiguration = OperationTaskConfiguration(priority: .low, executorPreference: executor)
    let task = OperationTask<TaskPriority, any Error>(context: context) { _, _ in
      withUnsafeCurrentTask { $0?.basePriority ?? .background }
    }
    try await expect(task.runIfNeeded(), equals: .low)
    #expect(executor.jobCount > 0)
  }
}

/// Runs its jobs on the default executor, and counts them.
private final class CountingExecutor: TaskExecutor {
  private let jobs = Atomic(0)

  var jobCount: Int { self.jobs.load(ordering: .acquiring) }

  func enqueue(_ job: consuming ExecutorJob) {
    self.jobs.add(1, ordering: .acquiringAndReleasing)
    let job = UnownedJob(job)
    let executor = self.asUnownedTaskExecutor()
    Task.detached { job.runSynchronously(on: executor) }
  }
}
