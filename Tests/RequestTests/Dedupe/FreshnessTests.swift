import OperationCore
import OperationDedupe
import OperationTesting
import TestFixtures
import Testing

/// A call after an invalidation does not join a run that started before it.
@Suite(.bounded, .warningsAreIssues)
struct FreshnessTests {
  private let client = OperationClient()
  private let script = IntScript()

  private func store() -> IntStore { self.client.store(for: self.query) }

  private var query: some QueryRequest<Int, any Error> {
    self.script.query(path: ["q"]).deduplicated().stale(after: .seconds(1_000_000))
      .enableAutomaticRunning(onlyWhen: .always(true))
  }

  /// Starts a run that has read the old data, and invalidates the store during the run.
  private func invalidateDuringRun(
    of store: IntStore
  ) async throws -> (Task<Int, any Error>, ScriptedRun<Int, any Error>) {
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    self.client.invalidate(matching: ["q"])
    return (fetch, run)
  }

  @Test
  func `A fetch after an invalidation starts a new run, and its value stays`() async throws {
    let store = self.store()
    let (oldFetch, old) = try await self.invalidateDuringRun(of: store)
    let newFetch = Task.immediate { try await store.fetch() }
    let new = try await self.script.next()
    new.succeed(2)
    try await expect(newFetch.finished(), equals: 2)
    #expect(!store.isStale)
    old.yield(10)
    old.succeed(1)
    try await expect(oldFetch.finished(), equals: 1)
    expect(store.currentValue, equals: 2)
    #expect(!store.isStale)
  }

  @Test
  func `A task that is run after an invalidation does not share the earlier run`() async throws {
    let store = self.store()
    let (oldFetch, old) = try await self.invalidateDuringRun(of: store)
    let newFetch = Task.immediate { try await store.fetchTask().runIfNeeded() }
    let new = try await self.script.next()
    old.succeed(1)
    new.succeed(2)
    try await expect(oldFetch.finished(), equals: 1)
    try await expect(newFetch.finished(), equals: 2)
    expect(store.currentValue, equals: 2)
    #expect(!store.isStale)
  }

  @Test
  func `Tasks that start after the same invalidation share a run`() async throws {
    let store = self.store()
    self.client.invalidate(matching: ["q"])
    let first = Task.immediate { try await store.fetchTask().runIfNeeded() }
    let run = try await self.script.next()
    let second = Task.immediate { try await store.fetchTask().runIfNeeded() }
    run.succeed(1)
    try await expect(first.finished(), equals: 1)
    try await expect(second.finished(), equals: 1)
    expect(self.script.runCount, equals: 1)
  }

  @Test
  func `ensureValue after an invalidation does not return the value of the earlier run`() async throws {
    let store = self.store()
    let (oldFetch, old) = try await self.invalidateDuringRun(of: store)
    let value = Task.immediate { try await self.client.ensureValue(for: self.query) }
    let new = try await self.script.next()
    old.succeed(1)
    _ = try await oldFetch.finished()
    new.succeed(2)
    try await expect(value.finished(), equals: 2)
  }

  @Test
  func `A subscription after an invalidation causes a rerun when the earlier run has ended`() async throws {
    let store = self.store()
    let prefetch = Task.immediate { await self.client.prefetch(for: self.query) }
    let old = try await self.script.next()
    self.client.invalidate(matching: ["q"])
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    old.succeed(1)
    try await prefetch.finished()
    try await self.script.next().succeed(2)
    try await recorder.firstState { $0.currentValue == 2 && !$0.isLoading }
    #expect(!store.isStale)
  }

  @Test
  func `A cancelled earlier run does not delay the rerun`() async throws {
    let script = IntScript(endsOnCancellation: false)
    let store = self.client.store(
      for: script.query(path: ["r"]).stale(after: .seconds(1_000_000)).enableAutomaticRunning(onlyWhen: .always(true))
    )
    let fetch = Task.immediate { try await store.fetch() }
    let old = try await script.next()
    self.client.invalidate(matching: ["r"])
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    expect(script.runCount, equals: 1)
    fetch.cancel()
    let new = try await script.next()
    new.succeed(2)
    old.succeed(1)
    _ = try? await fetch.finished()
    try await recorder.firstState { $0.currentValue == 2 && !$0.isLoading }
    #expect(!store.isStale)
  }
}
