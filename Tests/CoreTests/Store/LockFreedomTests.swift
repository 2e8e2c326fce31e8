import CoreFixtures
import Foundation
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// User code is never called with a lock held: another thread can always use the store.
@Suite(.bounded, .warningsAreIssues)
struct LockFreedomTests {
  @Test
  func `Handlers of every event`() async throws {
    let script = IntScript(default: .yield(.success(1), then: .value(2)))
    let store = IntStore.detached(query: script.query())
    let probe = Probe(store)
    let handler = QueryEventHandler<IntState>(
      onStateChanged: { _, _ in probe.use() },
      onFetchingStarted: { _ in probe.use() },
      onFetchingEnded: { _ in probe.use() },
      onResultReceived: { _, _ in probe.use() }
    )
    let ended = Gate()
    try await offThePool {
      let subscription = store.subscribe(with: handler)
      // Begins on this thread, and ends on it.
      Task.immediate {
        try await store.fetch(handler: handler)
        ended.open()
      }
      store.currentValue = 4
      store.resetState()
      subscription.cancel()
    }
    try await ended.wait()
    expect(probe.failures, equals: 0)
    #expect(probe.uses >= 16)
  }

  @Test
  func `The clock, the staleness rule and the run specification`() async throws {
    let probe = Probe(nil)
    let query = IntScript(default: .value(1)).query()
      .clock(
        .custom { @Sendable in
          probe.use()
          return .distantPast
        }
      )
      .staleWhen { _, _ in
        probe.use()
        return true
      }
      .enableAutomaticRunning(onlyWhen: ProbingSpecification(probe: probe))
    let store = IntStore.detached(query: query)
    probe.store.value = store
    let recorder = IntRecorder()
    try await offThePool {
      let subscription = store.subscribe(with: recorder.handler)
      store.currentValue = 3
      subscription.cancel()
    }
    expect(recorder.startedRunCount, equals: 1)
    probe.store.value = nil
    expect(probe.failures, equals: 0)
    #expect(probe.uses >= 4)
  }

  @Test
  func `The deinitializer of a value that is replaced`() async throws {
    let (store, probe) = self.storeOfCallback()
    try await offThePool {
      store.currentValue = nil
    }
    expect(probe.uses, equals: 1)
    expect(probe.failures, equals: 0)
  }

  @Test
  func `The deinitializer of a value that is reset`() async throws {
    let (store, probe) = self.storeOfCallback()
    try await offThePool {
      store.resetState()
    }
    expect(probe.uses, equals: 1)
    expect(probe.failures, equals: 0)
  }

  @Test
  func `The deinitializer of a value that a subscriber has received`() async throws {
    let (store, probe) = self.storeOfCallback()
    try await offThePool {
      let subscription = store.subscribe(with: QueryEventHandler { _, _ in })
      store.setResult(to: .failure(Refused()))
      store.withExclusiveAccess { store in
        store.currentValue = nil
        store.setResult(to: .failure(Refused()))
      }
      subscription.cancel()
    }
    expect(probe.uses, equals: 1)
    expect(probe.failures, equals: 0)
  }

  @Test
  func `The deinitializer of a value that a committed layer replaces during exclusive access`() async throws {
    let (store, probe) = self.storeOfCallback()
    let layer = StateLayerIdentifier()
    store.addLayer(layer) { $0 = nil }
    try await offThePool {
      store.withExclusiveAccess { store in OpaqueOperationStore(erasing: store).commitLayer(layer) }
    }
    #expect(store.currentValue == nil)
    expect(probe.uses, equals: 1)
    expect(probe.failures, equals: 0)
  }

  @Test
  func `The deinitializer of a value in a context`() async throws {
    let store = IntStore.detached(query: IntScript().query())
    let probe = Probe(store)
    store.context[CallbackKey.self] = ReleaseCallback { probe.use() }
    try await offThePool {
      store.context = OperationContext()
    }
    expect(probe.uses, equals: 1)
    expect(probe.failures, equals: 0)
  }

  @Test
  func `The deinitializer of a value that a handler captures`() async throws {
    let store = IntStore.detached(query: IntScript().query())
    let probe = Probe(store)
    try await offThePool {
      let callback = ReleaseCallback { probe.use() }
      let subscription = store.subscribe(with: QueryEventHandler { _, _ in withExtendedLifetime(callback) {} })
      _ = consume callback
      subscription.cancel()
    }
    expect(probe.uses, equals: 1)
    expect(probe.failures, equals: 0)
  }

  @Test
  func `The deinitializer of a value that a run's handler captures, when another thread delivers its events`()
    async throws
  {
    let store = IntStore.detached(query: IntScript(default: .value(2)).query())
    let probe = Probe(store)
    let isInside = Gate()
    let mayLeave = DispatchSemaphore(value: 0)
    let subscription = store.subscribe(
      with: QueryEventHandler { state, _ in
        guard state.currentValue == 1, !isInside.isOpen else { return }
        isInside.open()
        _ = mayLeave.waitForSignal()
      }
    )
    defer { subscription.cancel() }
    async let delivery: Void = offThePool { store.currentValue = 1 }
    try await isInside.wait()
    let calls = Counter()
    do {
      let callback = ReleaseCallback { probe.use() }
      let handler = QueryEventHandler<IntState>(
        onFetchingEnded: { _ in withExtendedLifetime(callback) { _ = calls.increment() } }
      )
      try await store.fetch(handler: handler)
    }
    expect(calls.value, equals: 0)
    mayLeave.signal()
    try await delivery
    expect(calls.value, equals: 1)
    expect(probe.uses, equals: 1)
    expect(probe.failures, equals: 0)
  }

  private func storeOfCallback() -> (OperationStore<QueryState<ReleaseCallback, any Error>>, Probe) {
    let store = OperationStore<QueryState<ReleaseCallback, any Error>>.detached(
      query: OperationScript<ReleaseCallback, any Error>().query()
    )
    let probe = Probe(nil)
    store.currentValue = ReleaseCallback { probe.note(onAnotherThread { _ = store.subscriberCount }) }
    return (store, probe)
  }
}

private enum CallbackKey: OperationContext.Key {
  static let defaultValue: ReleaseCallback? = nil
}

/// Uses a store from another thread, and counts the uses that do not end.
private final class Probe: Sendable {
  let store: Box<IntStore?>
  private let counts = Box((uses: 0, failures: 0))

  init(_ store: IntStore?) {
    self.store = Box(store)
  }

  var uses: Int { self.counts.value.uses }
  var failures: Int { self.counts.value.failures }

  func use() {
    guard let store = self.store.value else { return }
    self.note(
      onAnotherThread {
        _ = store.state
        _ = store.subscriberCount
        store.withExclusiveAccess { _ in }
      }
    )
  }

  func note(_ isDone: Bool) {
    let (uses, failures) = self.counts.value
    self.counts.value = (uses + 1, failures + (isDone ? 0 : 1))
  }
}

private struct ProbingSpecification: OperationRunSpecification, Sendable {
  let probe: Probe

  func isSatisfied(in context: OperationContext) -> Bool {
    self.probe.use()
    return true
  }
}
