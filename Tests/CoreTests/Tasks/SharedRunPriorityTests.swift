import CoreFixtures
import Dispatch
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

@Suite(.bounded, .warningsAreIssues) struct SharedRunPriorityTests {
  /// Work that opens a gate when its priority is raised, and returns its priority at the end.
  private final class Work: Sendable {
    let (gate, isRaised) = (Gate(), Gate())

    func task(_ context: OperationContext = OperationContext()) -> OperationTask<TaskPriority, any Error> {
      OperationTask(context: context) { _, _ in
        try await withTaskPriorityEscalationHandler {
          try await self.gate.wait()
        } onPriorityEscalated: { _, new in
          if new >= .high { self.isRaised.open() }
        }
        return Task.currentPriority
      }
    }
  }

  private let work = Work()

  @Test func `A caller of higher priority raises the task`() async throws {
    let task = work.task()
    let low = Task(priority: .low) { try await task.runIfNeeded() }
    try await work.gate.arrivals(count: 1)
    let high = Task(priority: .high) { try await task.runIfNeeded() }
    try await work.isRaised.wait()
    work.gate.open()
    #expect(try await high.value >= .high)
    #expect(try await low.value >= .high)
  }

  @Test func `A task of low priority is raised by its caller`() async throws {
    var context = OperationContext()
    context.operationTaskConfiguration.priority = .background
    let task = work.task(context)
    let high = Task(priority: .high) { try await task.runIfNeeded() }
    try await work.gate.arrivals(count: 1)
    work.gate.open()
    #expect(try await high.value >= .high)
  }

  @Test func `A caller that was raised itself raises the task before the body begins`() async throws {
    // A new task has the priority that the task that makes it was created with, not the one that it was raised to.
    let task = OperationTask<TaskPriority, any Error> { _, _ in Task.currentPriority }
    let caller = Task.detached(priority: .background) { [gate = work.gate] in
      try await gate.wait()
      return try await task.runIfNeeded()
    }
    try await work.gate.arrivals(count: 1)
    caller.escalatePriority(to: .high)
    work.gate.open()
    #expect(try await caller.value >= .high)
  }

  @Test func `A caller that joins while the body begins raises the task too`() async throws {
    // The body has begun on this thread and has not suspended: there is no task to raise yet.
    let (isWaiting, context) = (DispatchSemaphore(value: 0), OperationContext())
    let (gate, isRaised) = (Gate(), Gate())
    let high = Mutex<Task<Void, Never>?>(nil)
    let sharedRun = Mutex<SharedRun?>(nil)
    let delegate = LoggingDelegate { _ in
      if let sharedRun = sharedRun.withLock({ $0 }) {
        let laterCaller = Task.detached(priority: .high) {
          _ = await sharedRun.joinIfAlive(leaving: .atOnce) { isWaiting.signal() }
        }
        high.withLock { $0 = laterCaller }
        Self.block(on: isWaiting)
      }
      try await withTaskPriorityEscalationHandler {
        try await gate.wait()
      } onPriorityEscalated: { _, new in
        if new >= .high { isRaised.open() }
      }
      return Task.currentPriority >= .high ? 1 : 0
    }
    sharedRun.withLock { $0 = SharedRun(delegate: delegate) }
    let started = sharedRun.withLock { $0 }
    await onThreads(1) { _ in started?.start(in: context) }
    try await gate.arrivals(count: 1)
    gate.open()
    let outcome = try await started?.startAndWait(in: context).number()
    await high.withLock { $0 }?.value
    expect(outcome, equals: 1)
    sharedRun.withLock { $0 = nil }
  }

  private static func block(on semaphore: DispatchSemaphore) {
    semaphore.wait()
  }

  @Test func `A run has the priority of the caller that begins it`() async throws {
    work.gate.open()
    for priority in [TaskPriority.low, .medium, .high] {
      let task = OperationTask<TaskPriority, any Error> { _, _ in
        withUnsafeCurrentTask { $0?.basePriority ?? .background }
      }
      let caller = Task.detached(priority: priority) { try await task.runIfNeeded() }
      #expect(try await caller.value >= priority)
    }
  }
}
