import OperationCore
import OperationPersistence
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Passes deadlines on, and calls a closure after one of them is cancelled.
private final class CancelHook: DeadlineSource {
  private let base: ManualClock
  private let action = Mutex<(@Sendable () -> Void)?>(nil)

  init(_ base: ManualClock) {
    self.base = base
  }

  var elapsed: Duration { self.base.elapsed }

  func onNextCancel(_ action: @escaping @Sendable () -> Void) {
    self.action.withLock { $0 = action }
  }

  func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> OperationSubscription {
    let deadline = self.base.schedule(after: duration, action)
    return OperationSubscription {
      deadline.cancel()
      let action = self.action.withLock { action in
        defer { action = nil }
        return action
      }
      action?()
    }
  }
}

/// Evicts idle stores when a test asks for it.
private final class EvictingCache: OperationClient.StoreCache {
  private let idle = Mutex<[OperationClient.IdleStore.ID: OperationClient.IdleStore]>([:])

  func storeDidBecomeIdle(_ store: OperationClient.IdleStore) {
    self.idle.withLock { $0[store.id] = store }
  }

  func storeDidBecomeActive(_ id: OperationClient.IdleStore.ID) {
    self.idle.withLock { $0[id] = nil }
  }

  func evictAll() {
    let stores = self.idle.withLock { idle in
      defer { idle = [:] }
      return idle.values
    }
    for store in stores { store.evict() }
  }
}

/// Answers reads and writes on an actor, after the caller has gone on.
private final class HoppingStorage: PersistentStorage {
  private actor Hop { func pass() {} }

  let base = InMemoryStorage()
  private let hop = Hop()

  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    await self.hop.pass()
    return try await self.base.entries(withPrefix: prefix)
  }

  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws {
    await self.hop.pass()
    try await self.base.apply(batch)
  }

  nonisolated(nonsending) func close() async {}
}

@Suite(.bounded, .warningsAreIssues) struct ReleasingTests {
  private let clock = ManualClock()

  private func client(_ storage: any PersistentStorage, _ cache: EvictingCache, _ hook: CancelHook) -> OperationClient {
    var context = OperationContext()
    context.use(self.clock)
    context.operationDeadlines = hook
    context.operationStorage = storage
    return OperationClient(defaultContext: context, storeCache: cache)
  }

  private func query() -> some QueryRequest<String, any Error> {
    Script().query(path: ["text", 1]).persisted(as: "text")
  }

  @Test(arguments: [false, true])
  func `A value set before its store goes is stored, if the stored value arrives at that moment`(
    evicts: Bool
  ) async throws {
    let storage = TestStorage(reads: false)
    let (cache, hook, isReleased) = (EvictingCache(), CancelHook(self.clock), Gate())
    let client = self.client(storage, cache, hook)
    client.store(for: self.query()).currentValue = "set"
    // Restoring ends with the cancellation of its deadline.
    hook.onNextCancel {
      if evicts { cache.evictAll() } else { client.clearStores() }
      isReleased.open()
    }
    storage.reading.open()
    try await isReleased.wait()
    #expect(client.stores(matching: []).isEmpty)
    #expect(await client.persistence.flush())
    try await expect(storage.base.keys(), equals: ["value/stext/i1/=text="])
    expect(Program(storage.base).store().currentValue, equals: "set")
  }

  @Test func `Values set before hundreds of clears and evictions are stored`() async throws {
    let storage = HoppingStorage()
    let (cache, hook) = (EvictingCache(), CancelHook(self.clock))
    let client = self.client(storage, cache, hook)
    for number in 0..<ModelRuns.count(800, parts: 3) {
      client.store(for: self.query()).currentValue = "\(number)"
      if number % 2 == 0 { cache.evictAll() } else { client.clearStores() }
      #expect(await client.persistence.flush())
      let bytes = try await storage.base.entries(withPrefix: "value/").first?.value ?? []
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(text.contains("\"\(number)\""))
    }
  }

  @Test func `A stored value stays when its store goes while it arrives`() async throws {
    let base = InMemoryStorage()
    let first = Program(base)
    first.store().currentValue = "stored"
    #expect(await first.client.persistence.flush())
    let storage = HoppingStorage()
    try await storage.base.apply(base.entries(withPrefix: "").map { .put(key: $0.key, value: $0.value) })
    let program = Program(storage, clock: self.clock)
    for _ in 0..<ModelRuns.count(800, parts: 5) {
      _ = program.store()
      program.client.clearStores()
    }
    #expect(await program.client.persistence.flush())
    expect(Program(storage.base).store().currentValue, equals: "stored")
  }

  @Test func `A stored value that is dropped does not remove a newer one of another store`() async throws {
    let key = "value/stext/i1/=text="
    let storage = TestStorage(InMemoryStorage(entries: [StorageEntry(key: key, value: [1])]), reads: false)
    let program = Program(storage, clock: self.clock)
    let first = program.store()
    program.client.clearStores()
    let second = program.store()
    second.currentValue = "newer"
    #expect(await program.client.persistence.flush())
    storage.reading.open()
    try await self.clock.noSleepers(.deadline, afterAdvancing: .milliseconds(100))
    #expect(await program.client.persistence.flush())
    expect(Program(storage.base).store().currentValue, equals: "newer")
    _ = first
  }
}
