import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// A run that ends because it was cancelled is rolled back, and nothing else is.
@Suite(.bounded, .warningsAreIssues)
struct CancellationTests {
  @Test
  func `Value, error, dates and counts are as they were, and the caller gets the failure`() async throws {
    let clock = ManualClock()
    let script = IntScript()
    let store = IntStore.detached(query: script.query().manualTime(clock), initialValue: 0)
    store.currentValue = 1
    clock.advance(by: .seconds(1))
    store.setResult(to: .failure(Refused(code: 1)))
    let before = StateFacts(store.state)
    clock.advance(by: .seconds(1))
    let fetch = Task { try await store.fetch() }
    let run = try await script.next()
    for number in 10..<15 { run.yield(number) }
    run.yield(error: Refused(code: 9))
    run.yield(20)
    expect(store.valueUpdateCount, equals: 7)
    expect(store.errorUpdateCount, equals: 2)
    fetch.cancel()
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    expect(StateFacts(store.state), equals: before)
  }

  @Test
  func `A body that throws a cancellation of its own making leaves the state as it was`() async throws {
    let script = IntScript(default: .yield(.success(5), then: .error(CancellationError())))
    let store = IntStore.detached(query: script.query(), initialValue: 1)
    let before = StateFacts(store.state)
    await #expect(throws: CancellationError.self) { try await store.fetch() }
    expect(StateFacts(store.state), equals: before)
    #expect(!store.status.isCancelled)
  }

  @Test
  func `A cancelled body that throws its own error leaves the state as it was, and the caller gets that error`()
    async throws
  {
    let script = IntScript(endsOnCancellation: false)
    let store = IntStore.detached(query: script.query(), initialValue: 1)
    let before = StateFacts(store.state)
    let fetch = Task { try await store.fetch() }
    let run = try await script.next()
    run.yield(2)
    fetch.cancel()
    try await run.cancelled()
    run.fail(Refused(code: 4))
    await #expect(throws: Refused(code: 4)) { try await fetch.finished() }
    expect(StateFacts(store.state), equals: before)
  }

  @Test
  func `A body that ignores its cancellation changes nothing afterwards`() async throws {
    let script = IntScript(endsOnCancellation: false)
    let store = IntStore.detached(query: script.query(), initialValue: 1)
    let recorder = IntRecorder()
    let before = StateFacts(store.state)
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    let fetch = Task { try await store.fetch() }
    let run = try await script.next()
    fetch.cancel()
    try await run.cancelled()
    run.yield(2)
    run.succeed(3)
    _ = await withResult { try await fetch.finished() }
    expect(StateFacts(store.state), equals: before)
    expect(recorder.digests, equals: [.state(1), .state(1, isLoading: true), .started, .state(1), .ended])
  }

  @Test
  func `Values that are set between the yields stay, with their counts and dates`() async throws {
    let clock = ManualClock()
    let script = IntScript()
    let store = IntStore.detached(query: script.query().manualTime(clock), initialValue: 0)
    let other = IntStore.detached(query: script.query().manualTime(clock), initialValue: 0)
    let fetch = Task { try await store.fetch() }
    let run = try await script.next()
    func both(_ change: (IntStore) -> Void) {
      change(store)
      change(other)
    }
    run.yield(100)
    clock.advance(by: .seconds(1))
    both { $0.currentValue = 1 }
    clock.advance(by: .seconds(1))
    run.yield(error: Refused(code: 100))
    both { $0.setResult(to: .failure(Refused(code: 1))) }
    run.yield(101)
    clock.advance(by: .seconds(1))
    both { $0.setResult(to: .failure(Refused(code: 2))) }
    run.yield(error: Refused(code: 102))
    clock.advance(by: .seconds(1))
    both { $0.currentValue = 2 }
    both { $0.currentValue = 3 }
    run.yield(103)
    clock.advance(by: .seconds(1))
    fetch.cancel()
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    expect(StateFacts(store.state), equals: StateFacts(other.state))
    expect(store.currentValue, equals: 3)
    expect(store.valueUpdateCount, equals: 3)
    expect(store.errorUpdateCount, equals: 2)
  }

  @Test
  func `An error that others set last stays the status`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.query())
    let fetch = Task { try await store.fetch() }
    let run = try await script.next()
    run.yield(1)
    store.currentValue = 2
    store.setResult(to: .failure(Refused(code: 2)))
    run.yield(3)
    fetch.cancel()
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    expect(store.currentValue, equals: 2)
    expect(store.status.resultError as? Refused, equals: Refused(code: 2))
  }

  @Test
  func `A run that finishes after another has yielded keeps its value when that one is cancelled`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.query(), initialValue: 0)
    let first = Task { try await store.fetch() }
    let firstRun = try await script.next()
    let second = Task { try await store.fetch() }
    let secondRun = try await script.next()
    firstRun.yield(10)
    secondRun.yield(20)
    firstRun.succeed(11)
    try await expect(first.finished(), equals: 11)
    secondRun.yield(21)
    expect(store.valueUpdateCount, equals: 4)
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.finished() }
    expect(store.currentValue, equals: 11)
    expect(store.valueUpdateCount, equals: 2)
    #expect(!store.isLoading)
  }

  @Test
  func `Each of several cancelled runs rolls back its own yields`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.query(), initialValue: 0)
    var fetches: [Task<Int, any Error>] = []
    for number in 0..<3 {
      fetches.append(Task { try await store.fetch() })
      try await script.next().yield(number)
    }
    expect(store.currentValue, equals: 2)
    fetches[2].cancel()
    await #expect(throws: CancellationError.self) { try await fetches[2].finished() }
    expect(store.currentValue, equals: 1)
    expect(store.valueUpdateCount, equals: 2)
    fetches[0].cancel()
    await #expect(throws: CancellationError.self) { try await fetches[0].finished() }
    expect(store.currentValue, equals: 1)
    expect(store.valueUpdateCount, equals: 1)
    #expect(store.isLoading)
    fetches[1].cancel()
    await #expect(throws: CancellationError.self) { try await fetches[1].finished() }
    expect(store.currentValue, equals: 0)
    expect(store.valueUpdateCount, equals: 0)
    #expect(!store.isLoading)
    #expect(store.status.isIdle)
  }

  @Test
  func `A task that is cancelled before it is run leaves no trace`() async throws {
    let script = IntScript(default: .value(1))
    let store = IntStore.detached(query: script.query())
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    let task = store.fetchTask()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.runIfNeeded() }
    expect(script.runCount, equals: 0)
    expect(recorder.digests, equals: [.state(nil)])
  }

  @Test
  func `A task shows in the state from the moment it is run, and cancelling it ends it`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.query())
    let task = store.runTask()
    _ = store.fetchTask()
    #expect(!store.isLoading)
    let fetch = Task.immediate { try await task.runIfNeeded() }
    expect(store.activeTasks.map(\.id), equals: [task.id])
    let run = try await script.next()
    expect(run.context.operationRunningTaskIdentifier, equals: task.id)
    task.cancel()
    #expect(!store.isLoading)
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    #expect(task.isCancelled)
    #expect(task.isFinished)
    #expect(store.status.isIdle)
  }

  @Test
  func `A caller that is cancelled before it asks gets the failure and changes nothing`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.query(), initialValue: 1)
    let gate = Gate()
    let fetch = Task {
      await gate.waitIgnoringCancellation()
      return try await store.fetch()
    }
    fetch.cancel()
    gate.open()
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    expect(store.currentValue, equals: 1)
    expect(store.valueUpdateCount, equals: 0)
    #expect(!store.isLoading)
  }

  @Test
  func `Cancelling while the run yields on another thread leaves no yield behind`() async throws {
    for _ in 0..<100 {
      let script = IntScript(endsOnCancellation: false)
      let store = IntStore.detached(query: script.query(), initialValue: -1)
      let fetch = Task { try await store.fetch() }
      let run = try await script.next()
      await withDiscardingTaskGroup { group in
        group.addTask { for number in 0..<50 { run.yield(number) } }
        group.addTask { for number in 0..<20 { store.currentValue = 1_000 + number } }
        group.addTask { fetch.cancel() }
      }
      run.succeed(5)
      _ = await withResult { try await fetch.finished() }
      expect(store.currentValue, equals: 1_019)
      expect(store.valueUpdateCount, equals: 20)
      #expect(!store.isLoading)
    }
  }
}

private func withResult<R>(_ body: () async throws -> R) async -> Result<R, any Error> {
  do { return .success(try await body()) } catch { return .failure(error) }
}
