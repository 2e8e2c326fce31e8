import OperationTesting
import SharingOperation
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct MovingTests {
  @Test func `A moved wrapper shows the other operation, and so do its copies`() async throws {
    let client = makeClient(runsAutomatically: false)
    let first = OperationScript<Int, any Error>()
    let second = OperationScript<Int, any Error>()
    @SharedOperation(first.query(), client: client) var value
    let copy = $value
    value = 1
    client.store(for: second.query()).currentValue = 2

    $value = SharedOperation(second.query(), client: client)

    expect(value, equals: 2)
    expect(copy.wrappedValue, equals: 2)
    expect(client.store(for: first.query()).subscriberCount, equals: 0)
    expect(client.store(for: second.query()).subscriberCount, equals: 1)
  }

  @Test func `Moving cancels the run of the previous operation, and starts a run of the other`() async throws {
    let client = makeClient()
    let first = OperationScript<Int, any Error>()
    let second = OperationScript<Int, any Error>()
    @SharedOperation(first.query(), client: client) var value
    let left = try await first.next()

    $value = SharedOperation(second.query(), client: client)

    try await left.cancelled()
    #expect($value.isLoading)
    let run = try await second.next()
    let shared = $value
    let load = Task.immediate { try await shared.load() }
    run.succeed(2)
    _ = try await load.value
    expect(value, equals: 2)
    expect(second.runCount, equals: 1)
  }

  @Test func `Moving to another wrapper of the same operation cancels nothing`() async throws {
    let client = makeClient()
    let script = OperationScript<Int, any Error>()
    @SharedOperation(script.query(), client: client) var value
    let run = try await script.next()

    $value = SharedOperation(script.query(), client: client)

    #expect(!run.isCancelled)
    #expect($value.isLoading)
    expect($value.store?.subscriberCount, equals: 1)
    expect(script.runCount, equals: 1)
  }

  @Test func `Readers of properties that differ are notified once, and other readers never`() async throws {
    let client = makeClient(runsAutomatically: false)
    let first = OperationScript<Int, any Error>()
    let second = OperationScript<Int, any Error>()
    @SharedOperation(first.query(), client: client) var value
    let shared = $value
    value = 1
    client.store(for: second.query()).currentValue = 2
    let ofValue = Watcher { _ = shared.wrappedValue }
    let ofLoading = Watcher { _ = shared.isLoading }

    $value = SharedOperation(second.query(), client: client)

    expect(ofValue.count, equals: 1)
    expect(ofLoading.count, equals: 0)
  }

  @Test func `Assigning a wrapper to itself changes nothing`() async throws {
    let script = OperationScript<Int, any Error>()
    @SharedOperation(script.query(), client: makeClient()) var value
    _ = try await script.next()

    $value = $value

    expect($value.store?.subscriberCount, equals: 1)
    #expect($value.isLoading)
  }

  @Test func `An unbacked wrapper holds a value until it moves to an operation`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(3))
    @SharedOperation<QueryState<Int, any Error>> var value = 1

    expect(value, equals: 1)
    #expect($value.store == nil)
    #expect($value.isStale)
    value = 2
    expect(value, equals: 2)
    expect($value.valueUpdateCount, equals: 1)
    $value.setResult(to: .failure(Refused()))
    #expect($value.error is Refused)
    $value.resetState()
    expect(value, equals: 1)
    expect($value.withExclusiveAccess { $0.currentValue }, equals: nil)

    $value = SharedOperation(script.query(), client: makeClient(runsAutomatically: false))
    try await $value.fetch()
    expect(value, equals: 3)
  }

  @Test func `A wrapper becomes unbacked again`() async throws {
    let client = makeClient(runsAutomatically: false)
    let script = OperationScript<Int, any Error>()
    @SharedOperation(script.query(), client: client) var value
    value = 1

    $value = SharedOperation()

    expect(value, equals: nil)
    #expect($value.store == nil)
    expect(client.store(for: script.query()).subscriberCount, equals: 0)
  }

  @Test func `A call on an unbacked wrapper throws an error with the remedy`() async throws {
    @SharedOperation<QueryState<Int, any Error>> var value: Int? = nil
    @SharedOperation<MutationState<Int, Int, any Error>> var sum: Int? = nil

    let error = await #expect(throws: UnbackedOperationError.self) { try await $value.fetch() }
    expect(error?.description.contains("fetch() was called on a SharedOperation"), equals: true)
    await #expect(throws: UnbackedOperationError.self) { try await $value.load() }
    await #expect(throws: UnbackedOperationError.self) { try await $value.run() }
    await #expect(throws: UnbackedOperationError.self) { try await $sum.mutate(with: 1) }
    await #expect(throws: UnbackedOperationError.self) { try await $sum.retryLatest() }
  }

  @Test func `Readers of an unbacked wrapper are notified of its changes`() {
    let shared = SharedOperation<QueryState<Int, any Error>>()
    let watcher = Watcher { _ = shared.wrappedValue }

    shared.wrappedValue = 1
    shared.wrappedValue = 1
    shared.wrappedValue = 2

    expect(watcher.count, equals: 2)
  }

  #if os(Linux) || os(macOS)
    @Test func `A call without a store traps where the failure cannot represent the error`() async {
      await #expect(processExitsWith: .failure) {
        let shared = SharedOperation<QueryState<Int, Refused>>()
        _ = try await shared.fetch()
      }
    }
  #endif
}
