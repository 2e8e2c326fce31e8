import CoreFixtures
import FoundationEssentials
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Where two modifiers configure the same thing, the one nearer the operation wins.
@Suite(.bounded, .warningsAreIssues)
struct PrecedenceTests {
  private let query = IntScript(default: .value(1)).query()

  @Test
  func `Context entries`() {
    let store = IntStore.detached(
      query: self.query.context { $0[NumberKey.self] = 1 }.context { $0[NumberKey.self] = 2 }
    )
    expect(store.context[NumberKey.self], equals: 1)
  }

  @Test
  func `The operation's own setup, over all modifiers and the initial context`() {
    var initial = OperationContext()
    initial[NumberKey.self] = 3
    let store = IntStore.detached(
      query: SelfMadeQuery().context { $0[NumberKey.self] = 2 },
      initialContext: initial
    )
    expect(store.context[NumberKey.self], equals: 7)
  }

  @Test
  func `A modifier over the initial context`() {
    var initial = OperationContext()
    initial[NumberKey.self] = 3
    let store = IntStore.detached(query: self.query.context { $0[NumberKey.self] += 1 }, initialContext: initial)
    expect(store.context[NumberKey.self], equals: 4)
  }

  @Test
  func `The clock`() {
    let near = Date(timeIntervalSinceReferenceDate: 1)
    let far = Date(timeIntervalSinceReferenceDate: 2)
    let store = IntStore.detached(query: self.query.clock(.timeFreeze(near)).clock(.timeFreeze(far)))
    store.currentValue = 1
    expect(store.valueLastUpdatedAt, equals: near)
  }

  @Test
  func `Automatic running`() {
    #expect(
      !IntStore.detached(query: self.query.disableAutomaticRunning().enableAutomaticRunning(onlyWhen: .always(true)))
        .isAutomaticRunningEnabled
    )
    #expect(
      IntStore.detached(query: self.query.enableAutomaticRunning(onlyWhen: .always(true)).disableAutomaticRunning())
        .isAutomaticRunningEnabled
    )
    #expect(IntStore.detached(query: self.query.disableAutomaticRunning(false)).isAutomaticRunningEnabled)
  }

  @Test
  func `Cache times`() {
    let store = IntStore.detached(query: self.query.cacheTime(.seconds(1)).cacheTime(.seconds(2)))
    expect(store.context.operationCacheTime, equals: .seconds(1))
    expect(IntStore.detached(query: self.query).context.operationCacheTime, equals: .seconds(300))
  }

  @Test
  func `Task configurations, whole and edited`() {
    let whole = self.query
      .taskConfiguration(OperationTaskConfiguration(name: "near", priority: .low))
      .taskConfiguration(OperationTaskConfiguration(name: "far", priority: .high))
    let configuration = IntStore.detached(query: whole).context.operationTaskConfiguration
    expect(configuration.name, equals: "near")
    expect(configuration.priority, equals: .low)
    let edited = self.query
      .taskConfiguration { $0.name = "near" }
      .taskConfiguration {
        $0.name = "far"
        $0.priority = .high
      }
    let merged = IntStore.detached(query: edited).context.operationTaskConfiguration
    expect(merged.name, equals: "near")
    expect(merged.priority, equals: .high)
  }

  @Test
  func `The configuration is that of the task of a run`() async throws {
    let script = IntScript()
    let query = script.query().taskConfiguration {
      $0.name = "mine"
      $0.priority = .high
    }
    let store = IntStore.detached(query: query)
    let task = store.fetchTask()
    expect(task.configuration.name, equals: "mine")
    expect(task.info.id, equals: task.id)
    expect(task.info.configuration.priority, equals: .high)
    let seen = Box<(String?, TaskPriority)?>(nil)
    let observed = IntStore.detached(
      query: WatchedQuery { seen.value = (Task.name, Task.currentPriority) }
        .taskConfiguration {
          $0.name = "mine"
          $0.priority = .high
        }
    )
    try await observed.fetch()
    expect(seen.value?.0, equals: "mine")
    expect(seen.value.map { $0.1 >= .high }, equals: true)
  }
}

private struct SelfMadeQuery: QueryRequest, Hashable {
  func setup(context: inout OperationContext) {
    context[NumberKey.self] = 7
  }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    0
  }
}

private struct WatchedQuery: QueryRequest {
  let onFetch: @Sendable () -> Void

  var path: OperationPath { ["watched"] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    self.onFetch()
    return 0
  }
}
