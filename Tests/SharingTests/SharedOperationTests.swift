import OperationTesting
import SharingOperation
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct SharedOperationTests {
  @Test func `Two wrappers of an operation share one store and one run`() async throws {
    let client = makeClient()
    let script = OperationScript<Int, any Error>()
    @SharedOperation(script.query(), client: client) var first
    @SharedOperation(script.query(), client: client) var second

    #expect($first.store === $second.store)
    let run = try await script.next()
    let shared = $first
    let load = Task.immediate { try await shared.load() }
    run.succeed(1)
    try await expect(load.value, equals: 1)

    expect(first, equals: 1)
    expect(second, equals: 1)
    expect(script.runCount, equals: 1)
  }

  @Test func `A wrapper that starts a run is loading at once`() async throws {
    let script = OperationScript<Int, any Error>()
    @SharedOperation(script.query(), client: makeClient()) var value

    #expect($value.isLoading)
    #expect($value.status.isLoading)
    expect(value, equals: nil)
  }

  @Test func `Without automatic running nothing runs until a caller starts it`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(2))
    @SharedOperation(script.query(), client: makeClient(runsAutomatically: false)) var value

    #expect(!$value.isLoading)
    expect(script.runCount, equals: 0)
    try await expect($value.fetch(), equals: 2)
    expect(value, equals: 2)
  }

  @Test func `The last wrapper cancels its run and releases the store`() async throws {
    let client = makeClient()
    let script = OperationScript<Int, any Error>()
    var first: SharedOperation? = SharedOperation(script.query(), client: client)
    let second = SharedOperation(script.query(), client: client)
    weak let store = first?.store
    let run = try await script.next()

    first = nil
    #expect(!run.isCancelled)
    withExtendedLifetime(second) {
      expect(store?.subscriberCount, equals: 1)
    }
    _ = consume second

    try await run.cancelled()
    try await script.noActiveRuns()
    client.clearStores()
    #expect(first == nil)
    #expect(store == nil)
  }

  @Test func `load() joins the run in progress, and throws its error`() async throws {
    let script = OperationScript<Int, any Error>()
    @SharedOperation(script.query(), client: makeClient()) var value
    let run = try await script.next()

    let shared = $value
    let loads = (0..<2).map { _ in Task.immediate { try await shared.load() } }
    run.fail(Refused())

    for load in loads { await #expect(throws: Refused.self) { try await load.value } }
    expect(script.runCount, equals: 1)
    #expect($value.error is Refused)
  }

  @Test func `Setting the value sets it for all wrappers`() async throws {
    let client = makeClient(runsAutomatically: false)
    let script = OperationScript<Int, any Error>()
    @SharedOperation(script.query(), client: client) var first
    @SharedOperation(script.query(), client: client) var second

    first = 3
    expect(second, equals: 3)
    $second.setResult(to: .failure(Refused()))
    #expect($first.error is Refused)
    expect(first, equals: 3)
    let double = $first.withExclusiveAccess { store in
      store.currentValue = store.currentValue.map { $0 * 2 }
      return store.currentValue
    }
    expect(double, equals: 6)
    $first.resetState()
    expect(second, equals: nil)
    expect($second.valueUpdateCount, equals: 0)
  }

  @Test func `A mutation is called and called again`() async throws {
    let client = makeClient()
    @SharedOperation(Add(base: 10), client: client) var sum

    try await expect($sum.mutate(with: 5), equals: 15)
    expect(sum, equals: 15)
    try await expect($sum.retryLatest(), equals: 15)
    expect($sum.history.count, equals: 2)
    await #expect(throws: Refused.self) { try await $sum.mutate(with: -1) }
    #expect($sum.error is Refused)
  }

  @Test func `Pages are fetched in both directions and again`() async throws {
    @SharedOperation(Feed(), client: makeClient(runsAutomatically: false)) var feed

    try await $feed.fetchNextPage()
    try await $feed.fetchNextPage()
    try await $feed.fetchPreviousPage()
    expect(feed.map(\.id), equals: [-1, 0, 1])
    try await expect($feed.fetchPreviousPage(), equals: nil)
    try await expect($feed.refetchAllPages().map(\.id), equals: [-1, 0, 1])
    #expect($feed.hasNextPage)
  }

  @Test func `An operation with a default value has that value at first`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(1))
    let client = makeClient(runsAutomatically: false)
    @SharedOperation(script.query().defaultValue(7), client: client) var value

    expect(value, equals: 7)
    try await expect($value.run(), equals: 1)
    expect(value, equals: 1)
  }

  @Test func `A detached store can be shared`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(4))
    let shared = SharedOperation(store: .detached(query: script.query().disableAutomaticRunning()))

    try await expect(shared.fetch(), equals: 4)
    expect(shared.wrappedValue, equals: 4)
  }
}
