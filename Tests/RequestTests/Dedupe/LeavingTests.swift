import OperationCore
import OperationDedupe
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// A cancelled caller leaves the run, which continues while another caller waits for it.
@Suite(.bounded, .warningsAreIssues)
struct LeavingTests {
  private let script = IntScript()

  @Test(arguments: Runner.allCases)
  func `A cancelled leader leaves at once, and the run continues`(_ kind: Runner) async throws {
    let script = IntScript(endsOnCancellation: false)
    let fetch = kind(script.query().deduplicated())
    let leader = Task { try await fetch(nil) }
    let run = try await script.next()
    let follower = Task.immediate { try await fetch(nil) }
    leader.cancel()
    await #expect(throws: CancellationError.self) { try await leader.finished() }
    #expect(!run.isCancelled)
    run.succeed(3)
    try await expect(follower.finished(), equals: 3)
    expect(script.runCount, equals: 1)
  }

  @Test(arguments: Runner.allCases)
  func `A cancelled follower leaves at once, and the run continues`(_ kind: Runner) async throws {
    let fetch = kind(self.script.query().deduplicated())
    let leader = Task { try await fetch(nil) }
    let run = try await self.script.next()
    let follower = Task.immediate { try await fetch(nil) }
    follower.cancel()
    await #expect(throws: CancellationError.self) { try await follower.finished() }
    #expect(!run.isCancelled)
    run.succeed(3)
    try await expect(leader.finished(), equals: 3)
  }

  @Test(arguments: Runner.allCases)
  func `The run is cancelled when its last waiter leaves, which does not wait for it`(
    _ kind: Runner
  ) async throws {
    let script = IntScript(endsOnCancellation: false)
    let fetch = kind(script.query().deduplicated())
    let leader = Task { try await fetch(nil) }
    let run = try await script.next()
    let follower = Task.immediate { try await fetch(nil) }
    leader.cancel()
    follower.cancel()
    for caller in [leader, follower] {
      await #expect(throws: CancellationError.self) { try await caller.finished() }
    }
    try await run.cancelled()
    run.succeed(1)
    try await script.noActiveRuns()
  }

  @Test
  func `The context of a caller that has left is released while the run continues`() async throws {
    let runner = OperationRunner(operation: self.script.query().deduplicated())
    let leader = Task { try await runner.run() }
    let run = try await self.script.next()
    let released = (0..<3).map { _ in Gate() }
    let followers = released.map { gate in
      var context = OperationContext()
      context[ValueKey.self] = ReleaseCallback { gate.open() }
      return Task.immediate { [context] in try await runner.run(in: context) }
    }
    followers[0].cancel()
    await #expect(throws: CancellationError.self) { try await followers[0].finished() }
    try await released[0].wait()
    run.succeed(3)
    for caller in [leader] + followers[1...] { try await expect(caller.finished(), equals: 3) }
  }

  @Test(arguments: Runner.allCases)
  func `A new caller never joins a cancelled run`(_ kind: Runner) async throws {
    let script = IntScript(endsOnCancellation: false)
    let fetch = kind(script.query().deduplicated())
    let old = Task { try await fetch(nil) }
    let cancelledRun = try await script.next()
    old.cancel()
    try await cancelledRun.cancelled()
    let newCallers = (0..<3).map { _ in Task.immediate { try await fetch(nil) } }
    let fresh = try await script.next()
    expect(script.runCount, equals: 2)
    cancelledRun.yield(66)
    cancelledRun.succeed(77)
    await #expect(throws: CancellationError.self) { try await old.finished() }
    fresh.succeed(2)
    for newCaller in newCallers { try await expect(newCaller.finished(), equals: 2) }
    expect(script.runCount, equals: 2)
  }

  @Test
  func `A store whose callers have all left has its earlier state`() async throws {
    let store = IntStore.detached(query: self.script.query().deduplicated(), initialValue: 1)
    let callers = (0..<3).map { _ in Task.immediate { try await store.fetch() } }
    let run = try await self.script.next()
    run.yield(2)
    store.setResult(to: .failure(Refused(code: 1)))
    expect(store.currentValue, equals: 2)
    for caller in callers { caller.cancel() }
    for caller in callers { await #expect(throws: CancellationError.self) { try await caller.finished() } }
    expect(store.currentValue, equals: 1)
    expect(store.valueUpdateCount, equals: 0)
    expect(store.error as? Refused, equals: Refused(code: 1))
    #expect(!store.isLoading)
  }

  @Test
  func `A caller whose run is cancelled before it waits leaves at once, as the others do`() async throws {
    let script = IntScript(endsOnCancellation: false)
    let store = IntStore.detached(query: script.query().deduplicated())
    let first = Task.immediate { try await store.fetch() }
    let run = try await script.next()
    // The handler is called when its caller has joined, before the caller waits.
    let second = Task.immediate {
      try await store.fetch(handler: QueryEventHandler(onFetchingStarted: { _ in store.resetState() }))
    }
    for caller in [first, second] { await #expect(throws: CancellationError.self) { try await caller.finished() } }
    run.succeed(1)
    try await script.noActiveRuns()
    expect(store.currentValue, equals: nil)
  }

  @Test
  func `Cancelling the client's runs ends the run for all of its callers`() async throws {
    let client = OperationClient()
    let store = client.store(for: self.script.query().deduplicated())
    let callers = (0..<3).map { _ in Task.immediate { try await store.fetch() } }
    let run = try await self.script.next()
    await client.cancel()
    #expect(run.isCancelled)
    for caller in callers { await #expect(throws: CancellationError.self) { try await caller.finished() } }
    #expect(store.status.isIdle)
  }

  @Test(arguments: Runner.allCases)
  func `A caller that is cancelled before its call gets the error, and starts no run for others`(
    _ kind: Runner
  ) async throws {
    let fetch = kind(self.script.query().deduplicated())
    let gate = Gate()
    let caller = Task {
      await gate.waitIgnoringCancellation()
      return try await fetch(nil)
    }
    caller.cancel()
    gate.open()
    await #expect(throws: CancellationError.self) { try await caller.finished() }
    self.script.enqueue(.value(1))
    try await expect(fetch(nil), equals: 1)
  }

  @Test
  func `Runs that are cancelled before they start retain nothing`() async throws {
    let comparisons = Mutex(0)
    let script = IntScript(default: .value(1))
    let query = script.query().deduplicated { _, _ in
      comparisons.withLock { $0 += 1 }
      return false
    }
    let runner = OperationRunner(operation: query)
    for _ in 0..<10 {
      let caller = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await runner.run()
      }
      await #expect(throws: CancellationError.self) { try await caller.finished() }
    }
    comparisons.withLock { $0 = 0 }
    try await expect(runner.run(), equals: 1)
    expect(comparisons.withLock { $0 }, equals: 0)
  }

  @Test(arguments: Runner.allCases)
  func `A call while the last caller leaves gets a value from that run or the next`(_ kind: Runner) async throws {
    for _ in 0..<200 {
      let script = IntScript(default: .suspend)
      let fetch = kind(script.query().deduplicated())
      let leader = Task { try await fetch(nil) }
      let first = try await script.next()
      let newCaller = await withTaskGroup(of: Task<Int, any Error>?.self) { group in
        group.addTask {
          leader.cancel()
          return nil
        }
        group.addTask { Task.immediate { try await fetch(nil) } }
        var newCaller: Task<Int, any Error>?
        for await task in group { newCaller = newCaller ?? task }
        return newCaller
      }
      await #expect(throws: CancellationError.self) { try await leader.finished() }
      first.succeed(1)
      if script.runCount > 1 || first.isCancelled { try await script.next().succeed(2) }
      let value = try await #require(newCaller).finished()
      expect(value, equals: (first.isCancelled ? 2 : 1))
    }
  }
}

private enum ValueKey: OperationContext.Key {
  static var defaultValue: ReleaseCallback? { nil }
}
