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
    #expect(try await load.value == 1)

    #expect(first == 1)
    #expect(second == 1)
    #expect(script.runCount == 1)
  }

  @Test func `A wrapper that starts a run is loading at once`() async throws {
    let script = OperationScript<Int, any Error>()
    @SharedOperation(script.query(), client: makeClient()) var value

    #expect($value.isLoading)
    #expect($value.status.isLoading)
    #expect(value == nil)
  }

  @Test func `Without automatic running nothing runs until a caller starts it`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(2))
    @SharedOperation(script.query(), client: makeClient(runsAutomatically: false)) var value

    #expect(!$value.isLoading)
    #expect(script.runCount == 0)
    #expect(try await $value.fetch() == 2)
    #expect(value == 2)
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
      #expect(store?.subscriberCount == 1)
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
    #expect(script.runCount == 1)
    #expect($value.error is Refused)
  }

  @Test func `Setting the value sets it for all wrappers`() async throws {
    let client = makeClient(runsAutomatically: false)
    let script = OperationScript<Int, any Error>()
    @SharedOperation(script.query(), client: client) var first
    @SharedOperation(script.query(), client: client) var second

    first = 3
    #expect(second == 3)
    $second.setResult(to: .failure(Refused()))
    #expect($first.error is Refused)
    #expect(first == 3)
    let double = $first.withExclusiveAccess { store in
      store.currentValue = store.currentValue.map { $0 * 2 }
      return store.currentValue
    }
    #expect(double == 6)
    $first.resetState()
    #expect(second == nil)
    #expect($second.valueUpdateCount == 0)
  }

  @Test func `A mutation is called and called again`() async throws {
    let client = makeClient()
    @SharedOperation(Add(base: 10), client: client) var sum

    #expect(try await $sum.mutate(with: 5) == 15)
    #expect(sum == 15)
    #expect(try await $sum.retryLatest() == 15)
    #expect($sum.history.count == 2)
    await #expect(throws: Refused.self) { try await $sum.mutate(with: -1) }
    #expect($sum.error is Refused)
  }

  @Test func `Pages are fetched in both directions and again`() async throws {
    @SharedOperation(Feed(), client: makeClient(runsAutomatically: false)) var feed

    try await $feed.fetchNextPage()
    try await $feed.fetchNextPage()
    try await $feed.fetchPreviousPage()
    #expect(feed.map(\.id) == [-1, 0, 1])
    #expect(try await $feed.fetchPreviousPage() == nil)
    #expect(try await $feed.refetchAllPages().map(\.id) == [-1, 0, 1])
    #expect($feed.hasNextPage)
  }

  @Test func `An operation with a default value has that value at first`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(1))
    let client = makeClient(runsAutomatically: false)
    @SharedOperation(script.query().defaultValue(7), client: client) var value

    #expect(value == 7)
    #expect(try await $value.run() == 1)
    #expect(value == 1)
  }

  @Test func `A detached store can be shared`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(4))
    let shared = SharedOperation(store: .detached(query: script.query().disableAutomaticRunning()))

    #expect(try await shared.fetch() == 4)
    #expect(shared.wrappedValue == 4)
  }
}
