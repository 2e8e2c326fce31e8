import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// A store with its types erased: the same store with the same surface.
@Suite(.bounded, .warningsAreIssues)
struct OpaqueStoreTests {
  @Test
  func `It shows what the store shows`() async throws {
    let store = IntStore.detached(query: IntScript(default: .value(2)).query(path: ["a"]), initialValue: 1)
    let opaque = OpaqueOperationStore(erasing: store)
    #expect(opaque.base as? IntStore === store)
    expect(opaque.path, equals: ["a"])
    expect(opaque.currentValue as? Int, equals: 1)
    expect(opaque.state.initialValue as? Int, equals: 1)
    #expect(opaque.status.isIdle)
    #expect(opaque.isStale)
    #expect(!opaque.isAutomaticRunningEnabled)
    try await expect(opaque.fetch() as? Int, equals: 2)
    expect(opaque.status.resultValue as? Int, equals: 2)
    expect(opaque.state.valueUpdateCount, equals: 1)
    expect(opaque.state.valueLastUpdatedAt, equals: store.valueLastUpdatedAt)
    expect(opaque.initialValue as? Int, equals: 1)
    expect(opaque.valueUpdateCount, equals: 1)
    expect(opaque.valueLastUpdatedAt, equals: store.valueLastUpdatedAt)
    store.setResult(to: .failure(Refused()))
    expect(opaque.errorUpdateCount, equals: 1)
    #expect(opaque.errorLastUpdatedAt != nil)
    expect(opaque.errorLastUpdatedAt, equals: store.errorLastUpdatedAt)
    opaque.context[NumberKey.self] = 4
    expect(store.context[NumberKey.self], equals: 4)
  }

  @Test
  func `It sets values, errors and the initial state`() {
    let store = IntStore.detached(query: IntScript().query())
    let opaque = OpaqueOperationStore(erasing: store)
    opaque.uncheckedSetCurrentValue(Int?.some(3))
    expect(store.currentValue, equals: 3)
    opaque.uncheckedSetResult(to: .failure(Refused()))
    #expect(store.error is Refused)
    #expect(opaque.error is Refused)
    expect(opaque.state.errorUpdateCount, equals: 1)
    #expect(opaque.state.errorLastUpdatedAt != nil)
    opaque.resetState()
    #expect(store.status.isIdle)
  }

  @Test
  func `A plain value of an optional state can be set`() {
    let store = IntStore.detached(query: IntScript().query())
    OpaqueOperationStore(erasing: store).uncheckedSetCurrentValue(7)
    expect(store.currentValue, equals: 7)
  }

  @Test
  func `Its subscribers receive the same events as others`() async throws {
    let script = IntScript(default: .yield(.success(1), then: .value(2)))
    let store = IntStore.detached(query: script.query())
    let opaque = OpaqueOperationStore(erasing: store)
    let log = Log<String>()
    let handler = OpaqueOperationEventHandler(
      onStateChanged: { state, _ in log.append("state \(state.currentValue as? Int ?? 0) \(state.isLoading)") },
      onRunStarted: { _ in log.append("started") },
      onRunEnded: { _ in log.append("ended") },
      onResultReceived: { result, _ in log.append("result \((try? result.get()) as? Int ?? 0)") }
    )
    let subscription = opaque.subscribe(with: handler)
    expect(opaque.subscriberCount, equals: 1)
    try await opaque.run()
    subscription.cancel()
    expect(
      log.all,
      equals: [
        "state 0 false", "state 0 true", "started", "state 1 true", "result 1", "state 2 false", "result 2", "ended",
      ]
    )
    expect(store.subscriberCount, equals: 0)
  }

  @Test
  func `Its runs have handlers and tasks of their own`() async throws {
    let script = IntScript(default: .value(1))
    let opaque = OpaqueOperationStore(erasing: IntStore.detached(query: script.query()))
    let log = Log<String>()
    try await opaque.fetch(handler: OpaqueOperationEventHandler(onRunStarted: { _ in log.append("started") }))
    let task = opaque.fetchTask()
    expect(script.runCount, equals: 1)
    try await expect(task.runIfNeeded() as? Int, equals: 1)
    script.enqueue(.error(Refused()))
    await #expect(throws: Refused()) { try await opaque.runTask().runIfNeeded() }
    expect(log.all, equals: ["started"])
  }

  @Test
  func `Cancelling its task cancels the run`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.query())
    let task = OpaqueOperationStore(erasing: store).runTask()
    let caller = Task.immediate { try await task.runIfNeeded() }
    let run = try await script.next()
    task.cancel()
    try await run.cancelled()
    await #expect(throws: CancellationError.self) { try await caller.finished() }
    #expect(store.status.isIdle)
  }
}
