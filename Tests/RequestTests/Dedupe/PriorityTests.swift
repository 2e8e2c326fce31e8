import OperationCore
import OperationDedupe
import OperationTesting
import TestFixtures
import Testing

/// A follower with a higher priority raises the priority of the run.
@Suite(.bounded, .warningsAreIssues)
struct PriorityTests {
  @Test(arguments: Runner.allCases)
  func `The body is notified of a follower with a higher priority`(_ kind: Runner) async throws {
    let query = PriorityQuery()
    let fetch = kind(query.deduplicated())
    let leader = Task(priority: .background) { try await fetch(nil) }
    try await query.gate.arrivals(count: 1)
    let follower = Task(priority: .high) { try await fetch(nil) }
    try await query.raised.wait()
    query.gate.open()
    #expect(try await follower.finished() >= Int(TaskPriority.high.rawValue))
    _ = try await leader.finished()
  }

  @Test(arguments: Runner.allCases)
  func `A follower with a lower priority changes nothing`(_ kind: Runner) async throws {
    let query = PriorityQuery()
    let fetch = kind(query.deduplicated())
    let leader = Task(priority: .high) { try await fetch(nil) }
    try await query.gate.arrivals(count: 1)
    let joined = Gate()
    let follower = Task(priority: .background) {
      async let value = fetch(nil)
      joined.open()
      return try await value
    }
    try await joined.wait()
    #expect(!query.raised.isOpen)
    query.gate.open()
    _ = try await (leader.finished(), follower.finished())
  }

  @Test
  func `A task configuration's priority is raised too`() async throws {
    let query = PriorityQuery()
    let store = IntStore.detached(query: query.deduplicated().taskConfiguration { $0.priority = .background })
    let leader = Task(priority: .background) { try await store.fetch() }
    try await query.gate.arrivals(count: 1)
    let follower = Task(priority: .high) { try await store.fetch() }
    try await query.raised.wait()
    query.gate.open()
    #expect(try await follower.finished() >= Int(TaskPriority.high.rawValue))
    _ = try await leader.finished()
  }

  @Test(arguments: Runner.allCases)
  func `The priority of the leader counts together with that of the task configuration`(_ kind: Runner) async throws {
    let query = PriorityQuery()
    let fetch = kind(query.deduplicated().taskConfiguration { $0.priority = .background })
    query.gate.open()
    let leader = Task(priority: .high) { try await fetch(nil) }
    #expect(try await leader.finished() >= Int(TaskPriority.high.rawValue))
  }
}

/// Returns the priority of its task at the end.
private struct PriorityQuery: QueryRequest {
  let gate = Gate()
  let raised = Gate()

  var path: OperationPath { ["priority"] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    try await withTaskPriorityEscalationHandler {
      try await self.gate.wait()
      return Int(Task.currentPriority.rawValue)
    } onPriorityEscalated: { _, new in
      if new >= .high { self.raised.open() }
    }
  }
}
