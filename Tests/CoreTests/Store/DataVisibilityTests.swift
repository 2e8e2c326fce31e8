import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// What a store shows while runs start and end.
@Suite(.bounded, .warningsAreIssues)
struct DataVisibilityTests {
  @Test
  func `The value stays readable while a refetch runs and after it failed`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.query())
    store.currentValue = 1
    let fetch = Task { try await store.fetch() }
    let run = try await script.next()
    expect(store.currentValue, equals: 1)
    #expect(store.isLoading)
    #expect(store.status.isLoading)
    run.fail(Refused())
    await #expect(throws: Refused()) { try await fetch.finished() }
    expect(store.currentValue, equals: 1)
    #expect(store.error is Refused)
    #expect(store.status.isFailure)
    #expect(!store.isLoading)
    script.enqueue(.value(2))
    try await store.fetch()
    #expect(store.error == nil)
    expect(store.errorUpdateCount, equals: 1)
    expect(store.status.resultValue, equals: 2)
  }

  @Test
  func `The error stays readable while a refetch runs`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.query())
    store.setResult(to: .failure(Refused(code: 1)))
    let fetch = Task { try await store.fetch() }
    let run = try await script.next()
    expect(store.error as? Refused, equals: Refused(code: 1))
    run.succeed(1)
    _ = try await fetch.finished()
    #expect(store.error == nil)
  }

  @Test
  func `Runs without sharing run each, and loading lasts until the last has ended`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.query())
    let first = Task { try await store.fetch() }
    let firstRun = try await script.next()
    let second = Task { try await store.fetch() }
    let secondRun = try await script.next()
    expect(store.activeTasks.count, equals: 2)
    secondRun.succeed(2)
    try await expect(second.finished(), equals: 2)
    #expect(store.isLoading)
    expect(store.currentValue, equals: 2)
    firstRun.succeed(1)
    try await expect(first.finished(), equals: 1)
    #expect(!store.isLoading)
    expect(store.currentValue, equals: 1)
    expect(store.valueUpdateCount, equals: 2)
  }

  @Test
  func `A setter may set a value back to none`() {
    let store = IntStore.detached(query: IntScript().query(), initialValue: 1)
    store.currentValue = nil
    expect(store.currentValue, equals: nil)
    expect(store.initialValue, equals: 1)
    expect(store.valueUpdateCount, equals: 1)
  }

  @Test
  func `Members of the state are read from the store`() async throws {
    let clock = ManualClock()
    let store = IntStore.detached(query: IntScript(default: .value(4)).query().manualTime(clock), initialValue: 3)
    expect(store.path, equals: store.path)
    expect(store.initialValue, equals: 3)
    expect(store.valueLastUpdatedAt, equals: nil)
    try await store.fetch()
    expect(store.valueLastUpdatedAt, equals: clock.now())
    expect(store.errorLastUpdatedAt, equals: nil)
    clock.advance(by: .seconds(5))
    store.setResult(to: .failure(Refused()))
    expect(store.errorLastUpdatedAt, equals: clock.now())
    expect(store.state.valueUpdateCount, equals: store.valueUpdateCount)
  }

  @Test
  func `A result is dated by the clock of the context that it is set with`() {
    let store = IntStore.detached(query: IntScript().query())
    let clock = ManualClock()
    clock.advance(by: .seconds(77))
    var context = OperationContext()
    context.operationClock = clock
    store.setResult(to: .success(1), using: context)
    expect(store.valueLastUpdatedAt, equals: clock.now())
  }
}
