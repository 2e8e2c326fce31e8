import CoreFixtures
import Foundation
import OperationCore
import OperationEvents
import OperationPausing
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// `store.inspect()`, with what an author of a tool has: the public interface.
@Suite(.bounded, .warningsAreIssues)
struct InspectionTests {
  private let posts = PostFixture()

  @Test
  func `It has what a store is, and its runs`() async throws {
    let store = self.posts.client.store(for: self.posts.freshQuery)
    store.currentValue = 1
    self.posts.clock.advance(by: .seconds(61))
    let events = self.posts.client.events
    let subscription = store.subscribe(named: "PostView")
    let run = try await self.posts.script.next()
    self.posts.clock.advance(by: .seconds(3))
    let inspection = store.inspect()
    #expect(inspection.path == ["posts", 1] && inspection.operationName == "GetPost")
    #expect(inspection.operationType == GetPost.self && inspection.modifiers.count > 1)
    expect(inspection.modifiers.first, equals: OpaqueOperationStore(erasing: store).inspect().modifiers.first)
    #expect(inspection.date == self.posts.clock.now() && inspection.elapsed == .seconds(64))
    #expect(inspection.isInClient && !inspection.wasRemovedFromClient && !inspection.isRestoring)
    #expect(inspection.state.isLoading && inspection.confirmedState.valueUpdateCount == 1)
    #expect(inspection.staleness == store.staleness && inspection.staleness.isStale)
    #expect(inspection.invalidations == (0, 0) && !inspection.needsRerun)
    #expect(inspection.layers.isEmpty && inspection.subscribers == ["PostView"])
    #expect(inspection.automaticRuns == .allowed && inspection.nextPoll == nil && inspection.evictionDate == nil)
    let inspected = try #require(inspection.runs.first)
    #expect(inspection.runs.count == 1 && inspected.phase == .started && inspected.cause.kind == .subscriber)
    expect(inspected.id, equals: inspected.context.operationRunningTaskIdentifier)
    #expect(inspected.start?.elapsed == .seconds(61) && inspected.attempt == nil && inspected.waits.isEmpty)
    #expect(inspected.callerCount == 0 && inspected.isForSubscribers && inspected.isCurrent)
    run.succeed(2)
    subscription.cancel()
    withExtendedLifetime(events) {}
  }

  @Test
  func `A run from before an invalidation is not current, and another one follows`() async throws {
    let store = self.posts.client.store(for: self.posts.freshQuery)
    let subscription = store.subscribe(named: "PostView")
    let fetch = Task.immediate { try await store.fetch() }
    let runs = [try await self.posts.script.next(), try await self.posts.script.next()]
    expect(store.inspect().runs.map(\.callerCount), equals: [0, 1])
    expect(store.inspect().runs.map(\.isForSubscribers), equals: [true, false])
    self.posts.client.invalidate(matching: ["posts"], isolation: nil)
    let inspection = store.inspect()
    #expect(inspection.runs.map(\.isCurrent) == [false, false] && inspection.needsRerun)
    #expect(inspection.invalidations.all > inspection.invalidations.answered)
    expect(inspection.staleness.since, equals: self.posts.clock.now())
    subscription.cancel()
    for run in runs { run.succeed(1) }
    _ = try await fetch.value
  }

  @Test
  func `Optimistic updates are layers between the two states`() {
    let store = self.posts.client.store(for: self.posts.freshQuery)
    let opaque = OpaqueOperationStore(erasing: store)
    let layers = [StateLayerIdentifier(), StateLayerIdentifier()]
    for (layer, author) in zip(layers, ["AddPost", nil]) {
      #expect(opaque.addLayer(layer, over: QueryState<Int, any Error>.self, by: author) { $0 = ($0 ?? 0) + 1 })
    }
    opaque.removeLayerWithNextRefetch(layers[0])
    let inspection = store.inspect()
    expect(inspection.layers.map(\.author), equals: ["AddPost", nil])
    expect(inspection.layers.map(\.isCommitted), equals: [true, false])
    expect(OpaqueOperationState(inspection.state).currentValue as? Int, equals: 2)
    expect(inspection.confirmedState.valueUpdateCount, equals: 0)
    expect(inspection.staleness.reason, equals: .rule("it has no value"))
  }

  @Test
  func `A reservation, a start, and a start before a condition are phases`() async throws {
    let light = SwitchSpecification(false)
    let store = self.posts.client.store(for: self.posts.query.rerunOnChange(of: light))
    var reserved: StoreInspection?
    let subscription = store.withExclusiveAccess { store in
      defer { reserved = store.inspect() }
      return store.subscribe(named: "PostView")
    }
    #expect(reserved?.runs.map(\.phase) == [.reserved] && reserved?.runs.first?.cause.kind == .subscriber)
    #expect(reserved?.runs.first?.start == nil && reserved?.runs.first?.isCurrent == true)
    let run = try await self.posts.script.next()
    expect(store.inspect().runs.map(\.phase), equals: [.started])
    light.set(true)
    expect(store.inspect().runs.map(\.phase), equals: [.premature])
    run.succeed(1)
    try await store.settledRuns()
    #expect(store.inspect().runs.isEmpty)
    subscription.cancel()
  }

  @Test
  func `Whether it runs by itself`() {
    let query = GetPost(script: self.posts.script).manualTime(self.posts.clock)
    func automaticRuns(_ query: some QueryRequest<Int, any Error>) -> StoreInspection.AutomaticRuns {
      OperationStore.detached(query: query).inspect().automaticRuns
    }
    expect(automaticRuns(query), equals: .disabled)
    expect(automaticRuns(query.enableAutomaticRunning(onlyWhen: .always(true))), equals: .allowed)
    let light = DescribedSwitch(false)
    expect(automaticRuns(query.enableAutomaticRunning(onlyWhen: light)), equals: .waiting(for: "the light is green"))
    light.set(true)
    expect(automaticRuns(query.enableAutomaticRunning(onlyWhen: light)), equals: .allowed)
    let store = self.posts.client.store(for: self.posts.query)
    self.posts.client.stopAutomaticRuns()
    expect(store.inspect().automaticRuns, equals: .stopped)
  }

  @Test
  func `A store that its client has no longer`() {
    let detached = OperationStore.detached(query: self.posts.query).inspect()
    #expect(!detached.isInClient && !detached.wasRemovedFromClient)
    let store = self.posts.client.store(for: self.posts.query)
    self.posts.client.clearStores()
    #expect(!store.inspect().isInClient && store.inspect().wasRemovedFromClient)
    #expect(
      store.explanationText.hasPrefix("GetPost at [\"posts\", 1]\nIts client no longer has it.\nIt has never run.")
    )
    #expect(store.explain().isRemoved && !store.explanationText.contains("evicted"))
  }

  // MARK: - One reading

  @Test
  func `A rule that changes the store while it is asked changes nothing in the inspection`() {
    let reference = Mutex<StoreReference?>(nil)
    let query = self.posts.query.staleWhen { state, _ in
      reference.withLock { $0 }?.store?.uncheckedSetCurrentValue(2)
      return state.currentValue == 1
    }
    let store = OperationStore.detached(query: query)
    store.currentValue = 1
    reference.withLock { $0 = OpaqueOperationStore(erasing: store).reference }
    let inspection = store.inspect()
    #expect(inspection.state.valueUpdateCount == 1 && inspection.confirmedState.valueUpdateCount == 1)
    #expect(inspection.staleness.isStale && store.currentValue == 2)
  }

  @Test
  func `All code of users is asked with no lock held`() async throws {
    let probe = LockProbe()
    let client = OperationClient(storeCache: probe)
    let query = GetPost(script: self.posts.script).manualTime(self.posts.clock).staleWhen { _, _ in probe.check() }
    let store = client.store(for: query.enableAutomaticRunning(onlyWhen: probe))
    probe.store.withLock { $0 = OpaqueOperationStore(erasing: store).reference }
    let inspection = try await offThePool { store.inspect() }
    #expect(inspection.evictionDate == self.posts.clock.now() && inspection.staleness.isStale)
    #expect(probe.checks.withLock { $0 } == 3 && probe.failures.withLock { $0 } == 0)
  }

  // MARK: - Waits

  @Test
  func `A tool finds out what a store waits for: a condition, a modifier, and the run of another store`() async throws {
    let events = self.posts.client.events
    let (light, gate) = (DescribedSwitch(false), Gate())
    let (client, post) = (self.posts.client, self.posts.query)
    let feed = QueryOperation<Int, any Error>("feed", operationName: "GetFeed") { context in
      let wait = context.beginWait(for: { "a slot of the pool" })
      try await gate.wait()
      context.endWait(wait)
      return try await client.store(for: post).fetch()
    }
    let store = client.store(for: feed.waits(until: light).manualTime(self.posts.clock))
    let fetch = Task.immediate { try await store.fetch() }
    try await store.reached { $0.isPaused }
    self.posts.clock.advance(by: .seconds(5))
    let id = try #require(store.inspect().runs.first?.id)
    let pause = try #require(store.inspect().runs.first?.waits.first)
    #expect(pause.isPause && pause.path == nil && pause.start == .zero)
    expect(
      waits(of: OpaqueOperationStore(erasing: store)),
      equals: ["\(id) has waited 5.0 seconds until the light is green"]
    )
    light.set(true)
    try await gate.arrivals(count: 1)
    self.posts.clock.advance(by: .seconds(2))
    let slot = try #require(store.inspect().runs.first?.waits.first)
    #expect(!slot.isPause && slot.path == nil && slot.start == .seconds(5) && slot.id > pause.id)
    expect(
      waits(of: OpaqueOperationStore(erasing: store)),
      equals: ["\(id) has waited 2.0 seconds for a slot of the pool"]
    )
    gate.open()
    let run = try await self.posts.script.next()
    expect(
      waits(of: OpaqueOperationStore(erasing: store)),
      equals: ["\(id) has waited 0.0 seconds for GetPost at [\"posts\", 1]"]
    )
    expect(store.inspect().runs.flatMap(\.waits).map(\.path), equals: [["posts", 1]])
    run.succeed(1)
    _ = try await fetch.finished()
    #expect(waits(of: OpaqueOperationStore(erasing: store)).isEmpty)
    withExtendedLifetime(events) {}
  }

  // MARK: - Polls and evictions

  @Test
  func `The next poll is the first whose condition holds`() async throws {
    let (fast, slow) = (SwitchSpecification(true), SwitchSpecification(true))
    let query = self.posts.freshQuery.rerun(every: .seconds(10), onlyWhen: fast)
      .rerun(every: .seconds(60), onlyWhen: slow)
    let store = OperationStore.detached(query: query)
    store.currentValue = 1
    let subscription = store.subscribe(named: "PostView")
    self.posts.clock.advance(by: .seconds(7))
    expect(store.inspect().nextPoll, equals: .seconds(10))
    fast.set(false)
    expect(store.inspect().nextPoll, equals: .seconds(60))
    #expect(store.explanationText.contains("\nNext: it polls in 53 s"))
    slow.set(false)
    expect(store.inspect().nextPoll, equals: nil)
    #expect(!store.explanationText.contains("polls"))
    fast.set(true)
    #expect(store.explanationText.contains("\nNext: it polls in 3 s"))
    subscription.cancel()
    expect(store.inspect().nextPoll, equals: nil)
  }

  @Test
  func `A store that may not run by itself does not poll`() {
    let light = SwitchSpecification(true)
    let query = GetPost(script: self.posts.script).manualTime(self.posts.clock).stale(after: .seconds(60))
    let waiting = query.enableAutomaticRunning(onlyWhen: light).rerun(every: .seconds(10))
    let store = OperationStore.detached(query: waiting)
    store.currentValue = 1
    let subscription = store.subscribe(named: "PostView")
    expect(store.inspect().nextPoll, equals: .seconds(10))
    light.set(false)
    #expect(store.inspect().nextPoll == nil && !store.explanationText.contains("polls in"))
    // Without a setting, controllers rerun an operation that does not run by itself otherwise.
    let plain = OperationStore.detached(query: query.rerun(every: .seconds(10)))
    plain.currentValue = 1
    let other = plain.subscribe(named: "PostView")
    expect(
      plain.explain().automaticRunObstacle,
      equals: "A new subscriber does not run it: automatic running is not enabled."
    )
    #expect(plain.explanationText.contains("\nNext: it polls in 10 s"))
    subscription.cancel()
    other.cancel()
  }

  @Test
  func `A cache says when it evicts an idle store, and one that does not know says nothing`() {
    var context = OperationContext()
    context.use(self.posts.clock)
    let cache = OperationClient.DefaultStoreCache()
    for (client, isKnown) in [
      (OperationClient(defaultContext: context, storeCache: cache), true),
      (OperationClient(defaultContext: context, storeCache: Forwarding(cache: cache, knows: true)), true),
      (OperationClient(defaultContext: context, storeCache: Forwarding(cache: cache, knows: false)), false),
    ] {
      let store = client.store(for: GetPost(script: self.posts.script).cacheTime(.seconds(90)))
      let end = self.posts.clock.now().addingTimeInterval(90)
      self.posts.clock.advance(by: .seconds(30))
      expect(store.inspect().evictionDate, equals: (isKnown ? end : nil))
      expect(store.explanationText.contains("it is evicted in 1 min"), equals: isKnown)
      client.clearStores()
      expect(store.inspect().evictionDate, equals: nil)
    }
  }
}

/// What the runs of a store wait for, and for how long: the sample of the guide "See what happens".
private func waits(of store: OpaqueOperationStore) -> [String] {
  let inspection = store.inspect()
  return inspection.runs.flatMap { run in
    run.waits.map { wait in
      let age = wait.start.map { " \(inspection.elapsed - $0)" } ?? ""
      return "\(run.id) has waited\(age) \(wait.isPause ? "until" : "for") \(wait.subject())"
    }
  }
}

/// A cache that passes all on to another one.
private struct Forwarding: OperationClient.StoreCache {
  let cache: OperationClient.DefaultStoreCache
  let knows: Bool

  func storeDidBecomeIdle(_ store: OperationClient.IdleStore) { self.cache.storeDidBecomeIdle(store) }

  func storeDidBecomeActive(_ id: OperationClient.IdleStore.ID) { self.cache.storeDidBecomeActive(id) }

  func evictionDate(of store: OperationClient.IdleStore) -> Date? {
    self.knows ? self.cache.evictionDate(of: store) : nil
  }
}

/// A cache and a condition that use the store on another thread while they are asked.
private final class LockProbe: OperationClient.StoreCache, OperationRunSpecification {
  let store = Mutex<StoreReference?>(nil)
  let checks = Mutex(0)
  let failures = Mutex(0)

  /// Returns true once another thread has used the store.
  func check() -> Bool {
    guard let reference = self.store.withLock({ $0 }) else { return true }
    self.checks.withLock { $0 += 1 }
    if !onAnotherThread({ _ = reference.store?.state }) { self.failures.withLock { $0 += 1 } }
    return true
  }

  func storeDidBecomeIdle(_ store: OperationClient.IdleStore) {}

  func storeDidBecomeActive(_ id: OperationClient.IdleStore.ID) {}

  func evictionDate(of store: OperationClient.IdleStore) -> Date? {
    _ = self.check()
    return store.context.operationClock.now()
  }

  func isSatisfied(in context: OperationContext) -> Bool { self.check() }
}

extension OperationStore {
  /// Waits until no run is under way.
  fileprivate func settledRuns() async throws {
    try await withTimeLimit("the runs to end") { await OpaqueOperationStore(erasing: self).settled() }
  }
}
