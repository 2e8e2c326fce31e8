import OperationCore
import OperationDedupe
import OperationTesting
import TestFixtures
import Testing

/// Concurrent calls of the same operation share one run.
@Suite(.bounded, .warningsAreIssues)
struct SharingTests {
  private let script = IntScript()

  @Test(arguments: Runner.allCases)
  func `Concurrent calls share one run and its outcome`(_ kind: Runner) async throws {
    let fetch = kind(self.script.query().deduplicated())
    let callers = (0..<5).map { _ in Task.immediate { try await fetch(nil) } }
    let run = try await self.script.next()
    expect(self.script.runCount, equals: 1)
    run.succeed(7)
    for caller in callers { try await expect(caller.finished(), equals: 7) }
    expect(self.script.runCount, equals: 1)
  }

  @Test(arguments: Runner.allCases)
  func `All callers get the error of the run`(_ kind: Runner) async throws {
    let fetch = kind(self.script.query().deduplicated())
    let callers = (0..<5).map { _ in Task.immediate { try await fetch(nil) } }
    try await self.script.next().fail(Refused(code: 4))
    for caller in callers { await #expect(throws: Refused(code: 4)) { try await caller.finished() } }
    expect(self.script.runCount, equals: 1)
  }

  @Test(arguments: Runner.allCases)
  func `Calls one after another share nothing`(_ kind: Runner) async throws {
    let fetch = kind(self.script.query().deduplicated())
    self.script.enqueue(.value(1), .error(Refused()), .value(3))
    try await expect(fetch(nil), equals: 1)
    await #expect(throws: Refused()) { try await fetch(nil) }
    try await expect(fetch(nil), equals: 3)
  }

  @Test
  func `A store has one run for all callers, and all handlers receive its events`() async throws {
    let store = IntStore.detached(query: self.script.query().deduplicated())
    let leader = EventRecorder<IntState>()
    let follower = EventRecorder<IntState>()
    let first = Task { try await store.fetch(handler: leader.queryHandler) }
    let run = try await self.script.next()
    run.yield(1)
    let second = Task.immediate { try await store.fetch(handler: follower.queryHandler) }
    expect(store.activeTasks.count, equals: 1)
    store.currentValue = 50
    run.yield(2)
    run.succeed(3)
    _ = try await (first.finished(), second.finished())
    expect(store.valueUpdateCount, equals: 4)
    expect(
      leader.digests,
      equals: [
        .state(nil, isLoading: true), .started, .state(1, isLoading: true), .yielded(1),
        .state(2, isLoading: true), .yielded(2), .state(3), .returned(3), .ended,
      ]
    )
    expect(
      follower.digests,
      equals: [
        .started, .yielded(1), .state(2, isLoading: true), .yielded(2), .state(3), .returned(3), .ended,
      ]
    )
  }

  @Test
  func `Without a store all callers get the yields, and later callers the last one`() async throws {
    let runner = OperationRunner(operation: self.script.query().deduplicated())
    let results = Log<String>()
    let caller = { @Sendable (name: String) in
      Task.immediate {
        try await runner.run(with: OperationContinuation { result, _ in results.append("\(name) \(result)") })
      }
    }
    let first = caller("first")
    let run = try await self.script.next()
    let second = caller("second")
    run.yield(1)
    let late = caller("late")
    run.yield(error: Refused(code: 2))
    run.succeed(3)
    for task in [first, second, late] { try await expect(task.finished(), equals: 3) }
    let lines = results.all
    let failure = Result<Int, any Error>.failure(Refused(code: 2))
    for name in ["first", "second", "late"] {
      expect(lines.filter { $0.hasPrefix(name) }, equals: ["\(name) success(1)", "\(name) \(failure)"])
    }
  }

  @Test
  func `A caller that has left gets no yields`() async throws {
    let runner = OperationRunner(operation: self.script.query().deduplicated())
    let results = Log<String>()
    let leader = Task {
      try await runner.run(with: OperationContinuation { result, _ in results.append("\(result)") })
    }
    let run = try await self.script.next()
    let follower = Task.immediate { try await runner.run() }
    run.yield(1)
    leader.cancel()
    await #expect(throws: CancellationError.self) { try await leader.finished() }
    run.yield(2)
    run.succeed(3)
    _ = try await follower.finished()
    expect(results.all, equals: ["success(1)"])
  }

  @Test
  func `A task and a fetch of one store share a run`() async throws {
    let store = IntStore.detached(query: self.script.query().deduplicated())
    let fetch = Task { try await store.fetch() }
    let run = try await self.script.next()
    let task = store.fetchTask()
    let other = Task.immediate { try await task.runIfNeeded() }
    run.succeed(4)
    try await expect(fetch.finished(), equals: 4)
    try await expect(other.finished(), equals: 4)
    expect(self.script.runCount, equals: 1)
  }

  @Test
  func `Subscribers and callers share one run, in either order`() async throws {
    let query = self.script.query().deduplicated().enableAutomaticRunning(onlyWhen: .always(true))
    let store = IntStore.detached(query: query)
    let recorder = EventRecorder<IntState>()
    let subscription = store.subscribe(with: recorder.handler)
    let run = try await self.script.next()
    let fetch = Task.immediate { try await store.fetch() }
    subscription.cancel()
    #expect(!run.isCancelled)
    run.succeed(1)
    try await expect(fetch.finished(), equals: 1)
    let second = Task { try await store.fetch() }
    let secondRun = try await self.script.next()
    let again = store.subscribe(with: recorder.handler)
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.finished() }
    #expect(!secondRun.isCancelled)
    secondRun.succeed(2)
    try await recorder.first { $0.digest == .returned(2) }
    again.cancel()
    expect(self.script.runCount, equals: 2)
  }

  @Test
  func `A deduplicated query is a query, inside and outside of other modifiers`() async throws {
    let query = self.script.query(path: ["q"])
      .stale(after: .seconds(1))
      .deduplicated()
      .disableAutomaticRunning()
      .deduplicated()
    let client = OperationClient()
    let store: IntStore = client.store(for: query)
    expect(store.path, equals: ["q"])
    let callers = (0..<2).map { _ in Task.immediate { try await store.fetch() } }
    try await self.script.next().succeed(5)
    for caller in callers { try await expect(caller.finished(), equals: 5) }
    let withDefault = OperationStore.detached(operation: query.defaultValue(0).deduplicated())
    self.script.enqueue(.value(6))
    try await withDefault.fetch()
    expect(withDefault.currentValue, equals: 6)
  }

  @Test(arguments: Runner.allCases)
  func `A late yield is reported, and changes nothing`(_ kind: Runner) async throws {
    let fetch = kind(self.script.query().deduplicated())
    let caller = Task.immediate { try await fetch(nil) }
    let run = try await self.script.next()
    run.succeed(1)
    _ = try await caller.finished()
    expectWarning(.yieldAfterReturn) { run.yield(2) }
  }
}
