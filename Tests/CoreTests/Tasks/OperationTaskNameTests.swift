import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// The default names of tasks, and which tasks are equal.
@Suite(.bounded, .warningsAreIssues)
struct OperationTaskNameTests {
  private let script = IntScript(default: .value(1))

  @Test
  func `The name of a store's task holds the operation and the kind of work`() async throws {
    let name = "ScriptedQuery<Int, Error>: fetch"
    let store = IntStore.detached(query: self.script.query().stale(after: .seconds(1)))
    let task = store.fetchTask()
    expect(task.configuration.name, equals: name)
    expect(task.info.configuration.name, equals: name)
    try await task.runIfNeeded()
    expect(task.configuration.name, equals: name)
    expect(task.map { "\($0)" }.configuration.name, equals: name)
    withExtendedLifetime(store) {}
    let other = OperationStore.detached(query: self.script.query().defaultValue(1)).runTask()
    expect(other.configuration.name, equals: name)
  }

  @Test
  func `A task in a state has it as well`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.query())
    let fetch = Task.immediate { try await store.fetch() }
    expect(store.activeTasks.map(\.configuration.name), equals: ["ScriptedQuery<Int, Error>: fetch"])
    try await script.next().succeed(1)
    _ = try await fetch.finished()
  }

  @Test
  func `A given name wins, and an operation can name its tasks itself`() {
    let named = IntStore.detached(query: self.script.query().taskConfiguration { $0.name = "mine" }).fetchTask()
    expect(named.configuration.name, equals: "mine")
    let naming = OperationStore.detached(query: NamingQuery().context { _ in }).fetchTask()
    expect(naming.configuration.name, equals: "my fetch")
  }

  @Test
  func `Looking at the name and setting what is beside it writes no name`() {
    var task = IntStore.detached(query: self.script.query()).fetchTask()
    task.configuration.priority = .low
    expect(task.context.operationTaskConfiguration.name, equals: nil)
    expect(task.context.operationTaskConfiguration.priority, equals: .low)
    task.configuration.name = "mine"
    expect(task.context.operationTaskConfiguration.name, equals: "mine")
  }

  @Test
  func `A task without an operation has no name`() {
    #expect(OperationTask<Int, Never> { _, _ in 1 }.configuration.name == nil)
  }

  @Test
  func `Copies of a task are equal, other tasks are not`() async throws {
    let store = IntStore.detached(query: self.script.query())
    let task = store.fetchTask()
    var copy = task
    copy.configuration.name = "copy"
    expect(copy, equals: task)
    #expect(task != store.fetchTask())
    #expect(task != task.map { $0 })
    expect(Set([task, copy, store.fetchTask()]).count, equals: 2)
    try await task.runIfNeeded()
    expect(copy, equals: task)
  }
}

private struct NamingQuery: QueryRequest, Hashable {
  func taskName(in context: OperationContext) -> String { "my fetch" }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    1
  }
}
