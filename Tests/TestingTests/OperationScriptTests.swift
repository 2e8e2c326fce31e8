import OperationCore
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .issuesAreExpected) struct OperationScriptTests {
  @Test func `A script plays the enqueued outcomes and then the default`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(9))
    let runner = OperationRunner(operation: script.operation())
    script.enqueue(.value(1), .error(Refused()))
    script.enqueue([.yield(.success(2), then: .value(3))])
    try await expect(runner.run(), equals: 1)
    await #expect(throws: Refused.self) { try await runner.run() }
    let yields = Log<String>()
    try await expect(runner.run(with: .init { result, _ in yields.append("\(result)") }), equals: 3)
    expect(yields.all, equals: ["success(2)"])
    try await expect(runner.run(), equals: 9)
    expect(script.runCount, equals: 4)
    expect(script.activeRunCount, equals: 0)
    expect(script.setupCount, equals: 1)
  }

  @Test func `A script returns its runs in order`() async throws {
    let script = OperationScript<String, Never>()
    let runner = OperationRunner(operation: script.operation())
    async let first = runner.run()
    let firstRun = try await script.next()
    async let second = runner.run()
    let secondRun = try await script.next()
    expect(firstRun.number, equals: 1)
    expect(secondRun.number, equals: 2)
    expect(script.activeRunCount, equals: 2)
    secondRun.succeed("b")
    await expect(second, equals: "b")
    firstRun.succeed("a")
    firstRun.succeed("c")
    await expect(first, equals: "a")
    #expect(firstRun.isFinished)
    try await script.noActiveRuns()
  }

  @Test func `A waiting call gets the next run`() async throws {
    let script = OperationScript<Int, any Error>()
    let waiting = (0..<3).map { _ in Task { try await script.next() } }
    let runner = OperationRunner(operation: script.operation())
    let runs = (0..<3).map { _ in Task { try await runner.run() } }
    var numbers: Set<Int> = []
    for task in waiting {
      let run = try await task.value
      numbers.insert(run.number)
      run.succeed(run.number)
    }
    expect(numbers, equals: [1, 2, 3])
    var values: Set<Int> = []
    for run in runs { values.insert(try await run.value) }
    expect(values, equals: [1, 2, 3])
  }

  @Test func `A cancelled run ends by itself`() async throws {
    let script = OperationScript<Int, any Error>()
    let task = Task { try await OperationRunner(operation: script.operation()).run() }
    let run = try await script.next()
    #expect(!run.isCancelled)
    task.cancel()
    try await run.cancelled()
    #expect(run.isCancelled)
    await #expect(throws: CancellationError.self) { try await task.value }
    run.succeed(1)
  }

  @Test func `A run that ignores its cancellation goes on`() async throws {
    let script = OperationScript<Int, any Error>(endsOnCancellation: false)
    let task = Task { try await OperationRunner(operation: script.operation()).run() }
    let run = try await script.next()
    task.cancel()
    try await run.cancelled()
    #expect(!run.isFinished)
    run.succeed(1)
    try await expect(task.value, equals: 1)
  }

  @Test func `A run whose failure type cannot represent a cancellation waits for the test`() async throws {
    let script = OperationScript<Int, Refused>()
    let task = Task { try await OperationRunner(operation: script.operation()).run() }
    let run = try await script.next()
    task.cancel()
    try await run.cancelled()
    run.fail(Refused())
    await #expect(throws: Refused.self) { try await task.value }
  }

  @Test func `A run has its context and yields`() async throws {
    let script = OperationScript<Int, any Error>()
    let store = OperationStore.detached(query: script.query(path: ["scripted", 1]))
    expect(store.path, equals: ["scripted", 1])
    expect(script.query().path, equals: script.query().path)
    #expect(script.query().path != OperationScript<Int, any Error>().query().path)
    let fetch = Task { try await store.fetch() }
    let run = try await script.next()
    expect(run.context.operationRunningTaskIdentifier, equals: store.activeTasks.first?.id)
    run.yield(1)
    expect(store.currentValue, equals: 1)
    run.yield(error: Refused())
    #expect(store.error is Refused)
    run.succeed(2)
    try await expect(fetch.value, equals: 2)
  }

  @Test func `A run that is taken after its end shows its end`() async throws {
    let script = OperationScript<Int, any Error>()
    let lifetimes = LifetimeTracker()
    do {
      let store = OperationStore.detached(
        query: script.query().handleEvents(with: holding(lifetimes.token()))
      )
      let fetch = Task { try await store.fetch() }
      try await script.runs(count: 1)
      fetch.cancel()
      await #expect(throws: CancellationError.self) { try await fetch.value }
    }
    // The script retains the run, but not the store, which retains the script.
    try await lifetimes.noneAlive()
    let run = try await script.next()
    #expect(run.isCancelled)
    #expect(run.isFinished)
    expect(run.context.operationRunningTaskIdentifier, equals: nil)
    run.yield(1)
  }

  private func holding(_ token: LifetimeTracker.Token) -> QueryEventHandler<QueryState<Int, any Error>> {
    QueryEventHandler(onFetchingStarted: { _ in token.touch() })
  }

  @Test func `A wait that times out has a message`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(1))
    try await OperationRunner(operation: script.operation()).run()
    let next = await recordedIssues {
      await #expect(throws: WaitTimedOut.self) { try await script.next(within: .zero) }
    }
    expect(next.count, equals: 1)
    expect(
      next.first?.contains("to begin and suspend; 1 have begun, 1 have ended, 0 outcomes are enqueued"),
      equals: true
    )
    let runs = await recordedIssues {
      await #expect(throws: WaitTimedOut.self) { try await script.runs(count: 2, within: .zero) }
    }
    expect(runs.count, equals: 1)
    expect(runs.first?.contains("at least 2 runs of a scripted operation to begin"), equals: true)
    script.enqueue(.suspend)
    let task = Task { try await OperationRunner(operation: script.operation()).run() }
    let run = try await script.next()
    let cancelled = await recordedIssues {
      await #expect(throws: WaitTimedOut.self) { try await run.cancelled(within: .zero) }
    }
    expect(cancelled, equals: ["Waited 0.0 seconds for run 2 of a scripted operation to be cancelled; it goes on."])
    let ended = await recordedIssues {
      await #expect(throws: WaitTimedOut.self) { try await script.noActiveRuns(within: .zero) }
    }
    expect(ended.count, equals: 1)
    expect(ended.first?.contains("all runs of a scripted operation to end"), equals: true)
    run.succeed(1)
    try await expect(task.value, equals: 1)
  }
}
