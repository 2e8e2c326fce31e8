import CoreFixtures
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

@Suite(.bounded, .warningsAreIssues) struct OperationTaskCancellationTests {
  private let work = GatedWork()

  @Test func `A caller leaves while others wait`() async throws {
    let task = work.task()
    let callers = (0..<3).map { _ in Task.immediate { try await task.runIfNeeded() } }
    callers[0].cancel()
    await #expect(throws: CancellationError.self) { try await callers[0].value }
    callers[2].cancel()
    await #expect(throws: CancellationError.self) { try await callers[2].value }
    #expect(task.isRunning)
    #expect(!task.isCancelled)
    work.gate.open()
    try await expect(callers[1].value, equals: 1)
    expect(work.cancelledRunCount, equals: 0)
  }

  @Test func `The last caller to leave cancels the task`() async throws {
    let task = work.task()
    let callers = (0..<3).map { _ in Task.immediate { try await task.runIfNeeded() } }
    for caller in callers { caller.cancel() }
    #expect(task.isCancelled)
    for caller in callers { await #expect(throws: CancellationError.self) { try await caller.value } }
    #expect(task.isFinished)
    expect(work.cancelledRunCount, equals: 1)
  }

  @Test func `The last caller gets the outcome of the task`() async throws {
    let gate = Gate()
    let task = OperationTask<Int, any Error> { _, _ in
      await gate.waitIgnoringCancellation()
      throw Refused(code: 5)
    }
    let callers = (0..<2).map { _ in Task.immediate { try await task.runIfNeeded() } }
    callers[0].cancel()
    await #expect(throws: CancellationError.self) { try await callers[0].value }
    callers[1].cancel()
    gate.open()
    await #expect(throws: Refused(code: 5)) { try await callers[1].value }
    #expect(task.isCancelled)
  }

  @Test func `Ten thousand callers leave in any order`() async throws {
    let task = work.task()
    var generator = SeededGenerator(seed: 1)
    let callers = (0..<10_000).map { _ in Task.immediate { try await task.runIfNeeded() } }
    let (stayers, leavers) = (callers[..<10], callers[10...].shuffled(using: &generator))
    for leaver in leavers { leaver.cancel() }
    for leaver in leavers { await #expect(throws: CancellationError.self) { try await leaver.value } }
    work.gate.open()
    for stayer in stayers { try await expect(stayer.value, equals: 1) }
    expect(work.runCount, equals: 1)
    expect(work.cancelledRunCount, equals: 0)
  }

  @Test func `A vacated place is taken again`() async throws {
    let task = work.task()
    let first = Task.immediate { try await task.runIfNeeded() }
    for _ in 0..<1_000 {
      let caller = Task.immediate { try await task.runIfNeeded() }
      caller.cancel()
      await #expect(throws: CancellationError.self) { try await caller.value }
    }
    #expect(task.sharedRun.withState { $0.waiters.join() } <= 1)
    work.gate.open()
    try await expect(first.value, equals: 1)
  }

  @Test func `Callers leave while the task ends`() async throws {
    for _ in 0..<200 {
      let work = GatedWork()
      let task = work.task()
      let callers = (0..<4).map { _ in Task.immediate { try await task.runIfNeeded() } }
      await onThreads(2) { number in
        if number == 0 { work.gate.open() } else { for caller in callers { caller.cancel() } }
      }
      for caller in callers {
        switch await caller.result {
        case .success(let value): expect(value, equals: 1)
        case .failure(let error): #expect(error is CancellationError)
        }
      }
      #expect(task.isFinished)
      expect(work.runCount, equals: 1)
    }
  }

  @Test func `Cancelling a task ends it for all callers`() async throws {
    let task = work.task()
    let callers = (0..<3).map { _ in Task.immediate { try await task.runIfNeeded() } }
    task.cancel()
    task.cancel()
    #expect(task.isCancelled)
    for caller in callers { await #expect(throws: CancellationError.self) { try await caller.value } }
    expect(work.cancelledRunCount, equals: 1)
    // It has ended, and does not run again.
    await #expect(throws: CancellationError.self) { try await task.runIfNeeded() }
    expect(work.runCount, equals: 1)
  }

  @Test func `Cancelling a finished task does nothing`() async throws {
    let task = work.task()
    work.gate.open()
    try await expect(task.runIfNeeded(), equals: 1)
    task.cancel()
    #expect(!task.isCancelled)
    try await expect(task.runIfNeeded(), equals: 1)
  }

  @Test func `A task that was cancelled before its start never does its work`() async throws {
    let task = work.task()
    task.cancel()
    #expect(task.isCancelled)
    #expect(!task.hasStarted)
    await #expect(throws: CancellationError.self) { try await task.runIfNeeded() }
    #expect(task.isFinished)
    expect(work.runCount, equals: 0)
  }

  @Test func `A cancelled caller does not start the task`() async throws {
    let task = work.task()
    let caller = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await task.runIfNeeded()
    }
    await #expect(throws: CancellationError.self) { try await caller.value }
    expect(work.runCount, equals: 0)
    #expect(task.isCancelled)
  }

  @Test func `A body that never suspends sees its cancellation`() async throws {
    // The work is under way on this thread when another one cancels the task.
    let task = Mutex<OperationTask<Bool, any Error>?>(nil)
    let spinning = OperationTask<Bool, any Error> { _, _ in
      guard let task = task.withLock({ $0 }) else { return false }
      task.cancel()
      return Task.isCancelled
    }
    task.withLock { $0 = spinning }
    #expect(try await spinning.runIfNeeded())
    task.withLock { $0 = nil }
  }
}

extension OperationTaskCancellationTests {
  @Test func `A cancellation may race a body that never suspends`() async throws {
    for _ in 0..<300 {
      let task = OperationTask<Bool, any Error> { _, _ in Task.isCancelled }
      await onThreads(2) { number in
        if number == 0 { task.sharedRun.start(in: OperationContext()) } else { task.cancel() }
      }
      switch task.finishedResult {
      case .success(let wasSeen): #expect(!wasSeen || task.isCancelled)
      case .failure(let error): #expect(error is CancellationError)
      case nil: Issue.record("The task has not ended on the thread that began it.")
      }
    }
  }
}

// MARK: - Failure types that cannot represent a cancellation

extension OperationTaskCancellationTests {
  @Test func `A typed task that was cancelled before its start runs cancelled`() async throws {
    let task = work.typedTask()
    task.cancel()
    work.gate.open()
    await #expect(throws: Refused(code: 1)) { try await task.runIfNeeded() }
    expect(work.cancelledRunCount, equals: 1)
  }

  @Test func `A typed task that was cancelled before its start does not notify its delegate of a start`() async throws {
    let delegate = TypedDelegate()
    let sharedRun = SharedRun(delegate: delegate, failure: Refused.self)
    sharedRun.cancel()
    await expect(
      sharedRun.startAndWait(in: OperationContext()).result(Int.self, Refused.self),
      equals: .failure(Refused(code: 9))
    )
    expect(delegate.starts.load(ordering: .relaxed), equals: 0)
  }

  @Test func `A cancelled caller of a typed task waits for the end`() async throws {
    let task = work.typedTask()
    let callers = (0..<2).map { _ in Task.immediate { try await task.runIfNeeded() } }
    callers[0].cancel()
    #expect(!task.isCancelled)
    callers[1].cancel()
    #expect(task.isCancelled)
    work.gate.open()
    for caller in callers { await #expect(throws: Refused(code: 1)) { try await caller.value } }
    expect(work.cancelledRunCount, equals: 1)
  }

  @Test func `A cancelled caller of a typed task is no longer an owner`() async throws {
    let task = work.typedTask()
    let callers = (0..<2).map { _ in Task.immediate { try await task.runIfNeeded() } }
    callers[0].cancel()
    work.gate.open()
    for caller in callers { try await expect(caller.value, equals: 1) }
    #expect(!task.isCancelled)
  }

  private final class TypedDelegate: RunDelegate {
    let starts = Atomic(0)

    func willStart(_ task: OperationTask<Int, Refused>) -> OperationTask<Int, Refused> {
      self.starts.add(1, ordering: .relaxed)
      return task
    }

    func performWork(_ invocation: RunInvocation) async -> RunOutcome {
      RunFailure(Refused(code: Task.isCancelled ? 9 : 0))
    }
  }
}
