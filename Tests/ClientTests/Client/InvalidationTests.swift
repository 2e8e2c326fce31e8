import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// `invalidate`: stale whatever the rule says, and run again where there are subscribers.
@Suite(.bounded, .warningsAreIssues)
struct InvalidationTests {
  private let client = OperationClient()
  private let script = IntScript()

  private func store(_ path: OperationPath = ["q"]) -> IntStore {
    self.client.store(for: self.script.automaticQuery(path: path).stale(after: .seconds(1_000_000)))
  }

  @Test
  func `A fresh value is stale after an invalidation, until a fetch has succeeded`() async throws {
    let store = self.store()
    self.script.enqueue(.value(1), .error(Refused()), .value(2))
    try await store.fetch()
    #expect(!store.isStale)
    await self.client.invalidate(matching: ["q"]).settled()
    #expect(store.isStale)
    expect(self.script.runCount, equals: 1)
    await #expect(throws: Refused()) { try await store.fetch() }
    #expect(store.isStale)
    try await store.fetch()
    #expect(!store.isStale)
  }

  @Test
  func `A value that is set answers an invalidation`() {
    let store = self.store()
    store.currentValue = 1
    self.invalidateNow()
    #expect(store.isStale)
    store.currentValue = 2
    #expect(!store.isStale)
  }

  @Test
  func `Only stores that match are invalidated`() {
    let inside = self.store(["a", 1])
    let outside = self.store(["b", 1])
    inside.currentValue = 1
    outside.currentValue = 1
    self.invalidateNow(["a"])
    #expect(inside.isStale)
    #expect(!outside.isStale)
  }

  @Test
  func `Stores with subscribers run again, others when the next one subscribes`() async throws {
    let watched = self.store([1])
    let unwatched = self.store([2])
    watched.currentValue = 1
    unwatched.currentValue = 1
    let recorder = IntRecorder()
    let subscription = watched.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    expect(self.script.runCount, equals: 0)
    self.invalidateNow()
    let run = try await self.script.next()
    expect(self.script.runCount, equals: 1)
    expect(watched.currentValue, equals: 1)
    run.succeed(2)
    try await recorder.first { $0.digest == .ended }
    #expect(!watched.isStale)
    let late = unwatched.subscribe(with: IntRecorder().handler)
    defer { late.cancel() }
    try await self.script.next().succeed(3)
  }

  @Test
  func `The async form returns when the runs have settled`() async throws {
    let stores = (0..<3).map { self.store([$0]) }
    for store in stores { store.currentValue = 0 }
    let subscriptions = stores.map { $0.subscribe(with: IntRecorder().handler) }
    defer { OperationSubscription.combined(subscriptions).cancel() }
    let returned = Gate()
    let invalidation = Task {
      await self.client.invalidate().settled()
      returned.open()
    }
    var runs: [ScriptedRun<Int, any Error>] = []
    for _ in 0..<3 { runs.append(try await self.script.next()) }
    runs[0].succeed(1)
    runs[1].fail(Refused())
    #expect(!returned.isOpen)
    runs[2].succeed(3)
    try await invalidation.finished()
    for store in stores { #expect(!store.isLoading) }
    expect(stores.count { $0.error is Refused }, equals: 1)
    expect(stores.count { $0.isStale }, equals: 1)
  }

  @Test(arguments: 0..<20)
  func `A run from before an invalidation does not answer it: the store runs again after it`(_: Int) async throws {
    let store = self.store()
    let subscription = store.subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    let old = try await self.script.next()
    let invalidation = Task.immediate { await self.client.invalidate().settled() }
    old.succeed(1)
    let new = try await self.script.next()
    expect(store.currentValue, equals: 1)
    #expect(store.isStale)
    new.succeed(2)
    try await invalidation.finished()
    expect(store.currentValue, equals: 2)
    #expect(!store.isStale)
    #expect(!store.isLoading)
    expect(self.script.runCount, equals: 2)
  }

  @Test
  func `The async form during a run waits for the rerun after it`() async throws {
    for number in 0..<50 {
      let store = self.store([number])
      let subscription = store.subscribe(with: IntRecorder().handler)
      defer { subscription.cancel() }
      let old = try await self.script.next()
      let invalidation = Task.immediate {
        await self.client.invalidate(matching: [number]).settled()
        return store.currentValue
      }
      self.script.enqueue(.value(2))
      old.succeed(1)
      try await expect(invalidation.finished(), equals: 2)
    }
  }

  @Test
  func `Invalidations of a run under way add up to one rerun`() async throws {
    let store = self.store()
    let subscription = store.subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    let old = try await self.script.next()
    self.invalidateNow()
    self.invalidateNow()
    let last = Task.immediate { await self.client.invalidate().settled() }
    old.succeed(1)
    let new = try await self.script.next()
    new.succeed(2)
    try await last.finished()
    expect(self.script.runCount, equals: 2)
    #expect(!store.isStale)
  }

  @Test
  func `A run that fails after an invalidation leaves the store stale`() async throws {
    let store = self.store()
    store.currentValue = 1
    let subscription = store.subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    let invalidation = Task.immediate { await self.client.invalidate().settled() }
    try await self.script.next().fail(Refused())
    try await invalidation.finished()
    #expect(store.isStale)
    expect(store.currentValue, equals: 1)
  }

  @Test
  func `A cancelled waiter leaves, and the rerun goes on`() async throws {
    let store = self.store()
    store.currentValue = 1
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    let invalidation = Task.immediate { await self.client.invalidate().settled() }
    let run = try await self.script.next()
    invalidation.cancel()
    try await invalidation.finished()
    #expect(!run.isCancelled)
    run.succeed(2)
    try await recorder.first { $0.digest == .ended }
    expect(store.currentValue, equals: 2)
  }

  @Test
  func `A handler may invalidate`() async throws {
    let store = self.store()
    store.currentValue = 0
    self.script.enqueue(.value(2))
    let recorder = IntRecorder()
    let subscription = store.subscribe(
      with: QueryEventHandler { state, _ in
        if state.currentValue == 1, !state.isLoading, state.valueUpdateCount == 2 { self.invalidateNow() }
      }
    )
    let other = store.subscribe(with: recorder.handler)
    defer { OperationSubscription.combined(subscription, other).cancel() }
    store.currentValue = 1
    try await recorder.first { $0.digest == .ended }
    expect(recorder.digests.suffix(5), equals: [.state(1, isLoading: true), .started, .state(2), .returned(2), .ended])
  }

  private func invalidateNow(_ path: OperationPath = []) {
    self.client.invalidate(matching: path)
  }
}
