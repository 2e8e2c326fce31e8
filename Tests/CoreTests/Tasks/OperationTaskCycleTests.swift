import CoreFixtures
import OperationTesting
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

@Suite(.bounded, .warningsAreIssues) struct OperationTaskCycleTests {
  private let log = TaskLog()

  @Test func `A task does not wait for itself`() async throws {
    let task = log.task("task")
    expectWarning(.taskCycle) { task.schedule(after: task) }
    #expect(task.sharedRun.prerequisites.isEmpty)
    _ = try await task.runIfNeeded()
    expect(log.lines, equals: ["task"])
  }

  @Test func `A task does not wait for its own transformation`() async throws {
    let task = log.task("task")
    let mapped = task.map { "\($0)" }.mapError { $0 }
    expectWarning(.taskCycle) { task.schedule(after: mapped) }
    try await expect(mapped.runIfNeeded(), equals: "0")
    expect(log.lines, equals: ["task"])
  }

  @Test(arguments: [2, 3, 5, 100]) func `The call that closes a cycle is reported and adds nothing`(
    count: Int
  ) async throws {
    let tasks = (0..<count).map { log.task("\($0)") }
    for (task, next) in zip(tasks, tasks.dropFirst()) { next.schedule(after: task) }
    let recorder = WarningRecorder()
    recorder.recording { tasks[0].schedule(after: tasks[count - 1]) }
    expect(recorder.warnings.count, equals: 1)
    expect(recorder.warnings.first?.message.contains("\(tasks[0].id)"), equals: true)
    expect(recorder.warnings.first?.message.contains("\(tasks[count - 1].id)"), equals: true)
    for task in tasks { _ = try await withTimeLimit("all tasks") { try await task.runIfNeeded() } }
    expect(log.lines, equals: (0..<count).map { "\($0)" })
  }

  @Test(arguments: [2, 5]) func `A cycle that two threads close at once is reported once`(count: Int) async throws {
    for _ in 0..<100 {
      let log = TaskLog()
      let tasks = (0..<count).map { log.task("\($0)") }
      // All but two of the edges of the cycle: each of the threads adds one of these.
      let open = [0, count / 2]
      for number in 0..<count where !open.contains(number) {
        tasks[number].schedule(after: tasks[(number + count - 1) % count])
      }
      let recorder = WarningRecorder()
      await onThreads(2) { thread in
        let number = open[thread]
        recorder.recording { tasks[number].schedule(after: tasks[(number + count - 1) % count]) }
      }
      expect(recorder.warnings.map(\.code), equals: [.taskCycle])
      expect(tasks.map(\.sharedRun.prerequisites.count).reduce(0, +), equals: count - 1)
      for task in tasks { _ = try await withTimeLimit("all tasks") { try await task.runIfNeeded() } }
      expect(Set(log.lines).count, equals: count)
      expect(log.lines.count, equals: count)
    }
  }

  @Test func `A diamond is no cycle and is not reported`() async throws {
    // A diamond.
    let tasks = (0..<4).map { log.task("\($0)") }
    tasks[1].schedule(after: tasks[0])
    tasks[2].schedule(after: tasks[0])
    tasks[3].schedule(after: [tasks[1], tasks[2]])
    tasks[2].schedule(after: tasks[1])
    _ = try await tasks[3].runIfNeeded()
    expect(log.lines, equals: ["0", "1", "2", "3"])
  }

  @Test func `Tasks that have ended close no cycle`() async throws {
    let (first, second) = (log.task("first"), log.task("second"))
    second.schedule(after: first)
    _ = try await second.runIfNeeded()
    first.schedule(after: second)
    expect(log.lines, equals: ["first", "second"])
  }
}
