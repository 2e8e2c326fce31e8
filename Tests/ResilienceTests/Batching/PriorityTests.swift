import OperationBatching
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// The task of a request, which is made for all callers.
@Suite(.bounded, .warningsAreIssues) struct PriorityTests {
  @TaskLocal private static var user = "nobody"

  private let clock = ManualClock()
  private let seen = Log<TaskPriority>()
  private let isRaised = Gate()

  private var context: OperationContext {
    var context = OperationContext()
    context.use(self.clock)
    return context
  }

  /// A batcher whose requests note their priority, and wait until it is raised if the test says so.
  private func batcher(waits: Bool) -> OperationBatcher<Int, Int> {
    OperationBatcher { [seen, isRaised] keys, _ in
      if waits {
        await withTaskPriorityEscalationHandler {
          seen.append(Task.currentPriority)
          try? await isRaised.wait()
        } onPriorityEscalated: { _, priority in
          seen.append(priority)
          isRaised.open()
        }
      } else {
        seen.append(Task.currentPriority)
      }
      return Dictionary(uniqueKeysWithValues: keys.map { ($0, .success($0)) })
    }
  }

  /// Loads a key in a task of a priority, and waits until the key has joined a batch.
  private func load(
    _ key: Int,
    _ priority: TaskPriority,
    in batcher: OperationBatcher<Int, Int>
  ) -> Task<Int, any Error> {
    Task.immediateDetached(priority: priority) { [context] in try await batcher.load(key, in: context) }
  }

  @Test(arguments: [[TaskPriority.background, .high, .low], [.high, .low], [.background, .background]])
  func `A request has the highest priority of its callers`(priorities: [TaskPriority]) async throws {
    let batcher = self.batcher(waits: false)
    let tasks = priorities.enumerated().map { self.load($0.offset, $0.element, in: batcher) }
    // A task that awaits another one raises its priority, so the request is sent before.
    Task.immediateDetached(priority: .background) { [clock] in clock.advance(by: .milliseconds(2)) }
    expect(self.seen.all, equals: [priorities.max()])
    for (number, task) in tasks.enumerated() { try await expect(task.value, equals: number) }
  }

  @Test func `A caller whose priority is raised before the batch is sent raises that of the request`() async throws {
    let batcher = self.batcher(waits: false)
    let tasks = [0, 1].map { self.load($0, .background, in: batcher) }
    tasks[1].escalatePriority(to: .high)
    self.clock.advance(by: .milliseconds(2))
    expect(self.seen.all, equals: [.high])
    for task in tasks { _ = try await task.value }
  }

  @Test func `A caller whose priority is raised later raises that of the request`() async throws {
    let batcher = self.batcher(waits: true)
    let tasks = [0, 0].map { self.load($0, .background, in: batcher) }
    self.clock.advance(by: .milliseconds(2))
    expect(self.seen.all, equals: [.background])
    tasks[1].escalatePriority(to: .high)
    try await self.isRaised.wait()
    expect(self.seen.all, equals: [.background, .high])
    for task in tasks { _ = try await task.value }
  }

  @Test(arguments: [1, 100])
  func `A request has no task-local values of a caller`(maximumSize: Int) async throws {
    let users = Log<String>()
    let batcher = OperationBatcher<Int, Int>(maximumSize: maximumSize) { keys, _ in
      users.append(Self.user)
      return Dictionary(uniqueKeysWithValues: keys.map { ($0, .success($0)) })
    }
    let task = Self.$user.withValue("blob") {
      let task = Task.immediate { [context] in try await batcher.load(1, in: context) }
      self.clock.advance(by: .milliseconds(2))
      return task
    }
    try await expect(task.value, equals: 1)
    expect(users.all, equals: ["nobody"])
  }
}
