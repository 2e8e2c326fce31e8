import CoreFixtures
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

@Suite(.bounded, .warningsAreIssues) struct OperationTaskDependencyTests {
  private let log = TaskLog()

  @Test func `A task runs after the tasks it was scheduled after`() async throws {
    let tasks = ["a", "b", "c"].map { log.task($0) }
    tasks[2].schedule(after: tasks[1])
    tasks[1].schedule(after: tasks[0])
    _ = try await tasks[2].runIfNeeded()
    expect(log.lines, equals: ["a", "b", "c"])
  }

  @Test func `A task waits for dependencies under way`() async throws {
    let gate = Gate()
    let first = log.task("first", gate: gate)
    let second = log.task("second")
    second.schedule(after: first)
    let callers = [first, second].map { task in Task.immediate { try await task.runIfNeeded() } }
    try await gate.arrivals(count: 1)
    #expect(second.isRunning)
    expect(log.lines, equals: [])
    gate.open()
    for caller in callers { _ = try await caller.value }
    expect(log.lines, equals: ["first", "second"])
  }

  @Test func `A task does not wait for finished dependencies`() async throws {
    let (first, second) = (log.task("first"), log.task("second"))
    _ = try await first.runIfNeeded()
    second.schedule(after: first)
    _ = try await second.runIfNeeded()
    expect(log.lines, equals: ["first", "second"])
  }

  @Test func `A task runs after dependencies that fail`() async throws {
    let failing = OperationTask<Int, Refused> { _, _ async throws(Refused) -> Int in throw Refused() }
    let cancelled = log.task("cancelled")
    cancelled.cancel()
    let last = log.task("last")
    last.schedule(after: failing)
    last.schedule(after: cancelled)
    _ = try await last.runIfNeeded()
    expect(log.lines, equals: ["last"])
    expect(failing.finishedResult, equals: .failure(Refused()))
    #expect(cancelled.isFinished)
  }

  @Test func `A task runs after a sequence of tasks`() async throws {
    let tasks = (0..<5).map { log.task("\($0)") }
    let last = log.task("last")
    last.schedule(after: tasks)
    _ = try await last.runIfNeeded()
    expect(log.lines.count, equals: 6)
    expect(log.lines.last, equals: "last")
    expect(Set(log.lines), equals: ["0", "1", "2", "3", "4", "last"])
  }

  @Test func `Dependencies run in their own contexts`() async throws {
    let names = Mutex<[String?]>([])
    func task(_ name: String) -> OperationTask<Int, any Error> {
      var context = OperationContext()
      context.operationTaskConfiguration.name = name
      return OperationTask(context: context) { _, context in
        names.withLock { $0.append(context.operationTaskConfiguration.name) }
        return 0
      }
    }
    let (first, second) = (task("first"), task("second"))
    second.schedule(after: first)
    _ = try await second.runIfNeeded()
    expect(names.withLock { $0 }, equals: ["first", "second"])
  }

  @Test func `Scheduling twice is scheduling once`() async throws {
    let (first, second) = (log.task("first"), log.task("second"))
    for _ in 0..<3 { second.schedule(after: first) }
    expect(second.sharedRun.prerequisites.count, equals: 1)
    _ = try await second.runIfNeeded()
    expect(log.lines, equals: ["first", "second"])
  }

  @Test func `Scheduling a started task has no effect`() async throws {
    let gate = Gate()
    let (first, second) = (log.task("first", gate: gate), log.task("second"))
    let caller = Task.immediate { try await first.runIfNeeded() }
    first.schedule(after: second)
    gate.open()
    _ = try await caller.value
    #expect(!second.hasStarted)
    expect(log.lines, equals: ["first"])
  }

  @Test func `Cancelling the last task cancels a dependency that it alone awaits`() async throws {
    let gate = Gate()
    let (first, second) = (log.task("first", gate: gate), log.task("second"))
    second.schedule(after: first)
    let caller = Task.immediate { try await second.runIfNeeded() }
    try await gate.arrivals(count: 1)
    caller.cancel()
    await #expect(throws: CancellationError.self) { try await caller.value }
    #expect(first.isCancelled)
    await #expect(throws: CancellationError.self) { try await first.runIfNeeded() }
    expect(log.lines, equals: [])
  }

  @Test func `Cancelling the last task leaves a dependency that others await`() async throws {
    let gate = Gate()
    let (first, second) = (log.task("first", gate: gate), log.task("second"))
    second.schedule(after: first)
    let firstCaller = Task.immediate { try await first.runIfNeeded() }
    try await gate.arrivals(count: 1)
    let caller = Task.immediate { try await second.runIfNeeded() }
    caller.cancel()
    await #expect(throws: CancellationError.self) { try await caller.value }
    #expect(!first.isCancelled)
    gate.open()
    _ = try await firstCaller.value
    expect(log.lines, equals: ["first"])
  }

  @Test func `A typed task runs cancelled when its wait is cancelled`() async throws {
    let gate = Gate()
    let first = log.task("first", gate: gate)
    let second = OperationTask<Bool, Refused> { _, _ async throws(Refused) -> Bool in Task.isCancelled }
    second.schedule(after: first)
    let caller = Task.immediate { try await second.runIfNeeded() }
    try await gate.arrivals(count: 1)
    caller.cancel()
    #expect(try await caller.value)
  }
}

// MARK: - Many

extension OperationTaskDependencyTests {
  @Test func `A chain of ten thousand tasks does not overflow the stack`() async throws {
    let tasks = (0..<10_000).map { log.task("\($0)") }
    for (task, next) in zip(tasks, tasks.dropFirst()) { next.schedule(after: task) }
    _ = try await withTimeLimit("the chain") { try await tasks.last?.runIfNeeded() }
    expect(log.lines, equals: (0..<10_000).map { "\($0)" })
  }

  @Test func `A chain that is built from its end does not overflow the stack`() async throws {
    let tasks = (0..<10_000).map { log.task("\($0)") }
    for (task, next) in zip(tasks, tasks.dropFirst()).reversed() { next.schedule(after: task) }
    _ = try await withTimeLimit("the chain") { try await tasks.last?.runIfNeeded() }
    expect(log.lines, equals: (0..<10_000).map { "\($0)" })
  }

  @Test func `A chain that is cancelled does not overflow the stack`() async throws {
    let gate = Gate()
    let tasks = (0..<10_000).map { log.task("\($0)", gate: $0 == 0 ? gate : nil) }
    for (task, next) in zip(tasks, tasks.dropFirst()) { next.schedule(after: task) }
    let caller = Task.immediate { try await tasks[9_999].runIfNeeded() }
    try await gate.arrivals(count: 1)
    caller.cancel()
    #expect(!tasks.contains { !$0.isCancelled })
    await #expect(throws: CancellationError.self) { try await withTimeLimit("the chain") { try await caller.value } }
    expect(log.lines, equals: [])
  }

  @Test func `A chain that is never run does not overflow the stack`() {
    let lifetimes = LifetimeTracker()
    do {
      let tasks = (0..<50_000).map { _ in
        OperationTask<Int, any Error> { [token = lifetimes.token()] _, _ in
          token.touch()
          return 1
        }
      }
      for (task, next) in zip(tasks, tasks.dropFirst()) { next.schedule(after: task) }
      expect(lifetimes.aliveCount, equals: 50_000)
    }
    expect(lifetimes.aliveCount, equals: 0)
  }

  @Test func `Ten thousand tasks run after one`() async throws {
    let gate = Gate()
    let first = log.task("first", gate: gate)
    let tasks = (0..<10_000).map { _ in log.task("later") }
    for task in tasks { task.schedule(after: first) }
    let callers = tasks.map { task in Task.immediate { try await task.runIfNeeded() } }
    try await gate.arrivals(count: 1)
    expect(log.lines, equals: [])
    gate.open()
    for caller in callers { _ = try await caller.value }
    expect(log.lines.count, equals: 10_001)
    expect(log.lines.first, equals: "first")
  }

  @Test func `One task runs after ten thousand`() async throws {
    let tasks = (0..<10_000).map { _ in log.task("earlier") }
    let last = log.task("last")
    last.schedule(after: tasks)
    _ = try await withTimeLimit("the last") { try await last.runIfNeeded() }
    expect(log.lines.count, equals: 10_001)
    expect(log.lines.last, equals: "last")
  }
}

/// Notes the names of the tasks that have done their work, in order.
final class TaskLog: Sendable {
  private let names = Mutex<[String]>([])

  var lines: [String] { self.names.withLock { $0 } }

  /// A task that notes its name, once `gate` is open.
  func task(_ name: String, gate: Gate? = nil) -> OperationTask<Int, any Error> {
    OperationTask { _, _ in
      try await gate?.wait()
      self.names.withLock { $0.append(name) }
      return 0
    }
  }
}
