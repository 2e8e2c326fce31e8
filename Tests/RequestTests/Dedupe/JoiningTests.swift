import OperationCore
import OperationDedupe
import OperationTesting
import TestFixtures
import Testing

/// Callers that join a run, and their cancellation.
@Suite(.bounded, .warningsAreIssues)
struct JoiningTests {
  private let script = IntScript()

  @Test
  func `A handler that joins a run receives its start and its last yield`() async throws {
    let store = IntStore.detached(query: self.script.query().deduplicated())
    let first = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    run.yield(1)
    run.yield(2)
    let recorder = IntRecorder()
    let second = Task.immediate { try await store.fetch(handler: recorder.queryHandler) }
    expect(recorder.digests, equals: [.started, .yielded(2)])
    run.yield(3)
    run.succeed(4)
    _ = try await (first.finished(), second.finished())
    expect(
      recorder.digests,
      equals: [
        .started, .yielded(2), .state(3, isLoading: true), .yielded(3), .state(4), .returned(4), .ended,
      ]
    )
  }

  @Test
  func `A handler that joins a run before its body starts receives the start once`() async throws {
    let store = IntStore.detached(query: self.script.query().deduplicated())
    let gate = Gate()
    let before = OperationTask<Void, any Error> { _, _ in await gate.waitIgnoringCancellation() }
    let task = store.fetchTask()
    task.schedule(after: before)
    let first = Task.immediate { try await task.runIfNeeded() }
    let recorder = IntRecorder()
    let second = Task.immediate { try await store.fetch(handler: recorder.queryHandler) }
    expect(recorder.digests, equals: [])
    gate.open()
    try await self.script.next().succeed(4)
    _ = try await (first.finished(), second.finished())
    expect(recorder.digests, equals: [.started, .state(4), .returned(4), .ended])
  }

  @Test
  func `Concurrent calls from many threads share one run, and all receive its start and end`() async throws {
    for _ in 0..<200 {
      let script = IntScript(default: .suspend)
      let store = IntStore.detached(query: script.query().deduplicated())
      let recorders = (0..<4).map { _ in IntRecorder() }
      let fetches = recorders.map { recorder in Task { try await store.fetch(handler: recorder.queryHandler) } }
      let run = try await script.next()
      for recorder in recorders { try await recorder.first { $0.digest == .started } }
      run.succeed(1)
      for fetch in fetches { try await expect(fetch.finished(), equals: 1) }
      expect(script.runCount, equals: 1)
      for recorder in recorders {
        expect(recorder.digests.filter { $0 == .started || $0 == .ended }, equals: [.started, .ended])
      }
    }
  }

  @Test
  func `cancel returns when the body of a shared run has ended, and its callers may end before`() async throws {
    let script = IntScript(endsOnCancellation: false)
    let client = OperationClient()
    let store = client.store(for: script.query(path: ["q"]).deduplicated())
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await script.next()
    let hasReturned = Gate()
    let cancellation = Task.immediate {
      await client.cancel(matching: ["q"])
      expect(script.activeRunCount, equals: 0)
      hasReturned.open()
    }
    try await run.cancelled()
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    #expect(!hasReturned.isOpen)
    expect(script.activeRunCount, equals: 1)
    run.succeed(1)
    try await cancellation.finished()
    #expect(hasReturned.isOpen)
  }

  @Test
  func `cancel returns when a body in a task of its own has ended`() async throws {
    let script = IntScript(endsOnCancellation: false)
    let client = OperationClient()
    let query = script.query(path: ["q"]).deduplicated().taskConfiguration { $0.priority = .low }
    let store = client.store(for: query)
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await script.next()
    let cancellation = Task.immediate {
      await client.cancel(matching: ["q"])
      expect(script.activeRunCount, equals: 0)
    }
    try await run.cancelled()
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    expect(script.activeRunCount, equals: 1)
    run.succeed(1)
    try await cancellation.finished()
  }

  @Test
  func `cancel leaves the run of another store alone`() async throws {
    let client = OperationClient()
    let query = self.script.query(path: ["q"]).deduplicated()
    let (store, other) = (client.store(for: query), IntStore.detached(query: query))
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    let otherFetch = Task.immediate { try await other.fetch() }
    let otherRun = try await self.script.next()
    let cancellation = Task.immediate { await client.cancel(matching: ["q"]) }
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    run.succeed(1)
    try await cancellation.finished()
    #expect(!otherRun.isCancelled)
    otherRun.succeed(1)
    try await expect(otherFetch.finished(), equals: 1)
  }

  @Test(arguments: Runner.allCases)
  func `A yield for a caller that has left is not reported`(_ kind: Runner) async throws {
    for _ in 0..<300 {
      let script = IntScript(endsOnCancellation: false)
      let fetch = kind(script.query().deduplicated())
      let caller = Task { try await fetch(nil) }
      let run = try await script.next()
      let yields = Task.detached { for number in 0..<20 { run.yield(number) } }
      caller.cancel()
      _ = try? await caller.finished()
      await yields.value
      run.succeed(1)
      try await script.noActiveRuns()
    }
  }
}
