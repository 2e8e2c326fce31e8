import OperationCore
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Invalidations of values that lie in a storage, and have no store.
@Suite(.bounded, .warningsAreIssues) struct StoredInvalidationTests {
  private let disk = Disk()

  /// A value that a program has stored and then ended.
  private func storeValues(_ numbers: Int...) async throws {
    let program = try await self.disk.start()
    for number in numbers { program.store(Script(), number).currentValue = "old \(number)" }
    await program.client.persistence.flush()
  }

  @Test(arguments: [false, true])
  func `The next start invalidates before it makes the store`(readsAhead: Bool) async throws {
    try await self.storeValues(1, 2)
    let program = try await self.disk.start()
    if readsAhead { await program.client.restore() }
    program.client.invalidate(matching: ["text", 1])
    #expect(program.store(Script(), 1).isInvalidated)
    expect(program.store(Script(), 1).currentValue, equals: "old 1")
    #expect(!program.store(Script(), 2).isStale)
  }

  @Test func `A start after the one that has invalidated knows it, and each later one`() async throws {
    try await self.storeValues(1, 2)
    let second = try await self.disk.start()
    _ = second.store(Script(), 2)
    second.client.invalidate(matching: ["text", 1])
    await second.client.persistence.flush()
    for _ in 0..<3 {
      let later = try await self.disk.start()
      #expect(later.store(Script(), 1).isInvalidated)
      #expect(!later.store(Script(), 2).isStale)
    }
  }

  @Test func `A start that makes no store invalidates, too`() async throws {
    try await self.storeValues(1, 2)
    let second = try await self.disk.start()
    second.client.invalidate(matching: ["text", 1])
    await second.client.flush()
    let later = try await self.disk.start()
    #expect(later.store(Script(), 1).isInvalidated)
    #expect(!later.store(Script(), 2).isStale)
  }

  @Test func `A value that was fetched after the invalidation is fresh, in each later start`() async throws {
    try await self.storeValues(1)
    let second = try await self.disk.start()
    second.client.invalidate(matching: ["text"])
    second.store(Script(), 1).currentValue = "new"
    await second.client.persistence.flush()
    for _ in 0..<3 {
      let later = try await self.disk.start()
      expect(later.store(Script(), 1).currentValue, equals: "new")
      #expect(!later.store(Script(), 1).isStale)
      // One that has nothing to do with it.
      later.client.invalidate(matching: ["other"])
      await later.client.persistence.flush()
    }
  }

  @Test func `After a removal of all, an invalidation concerns what another process has stored since`() async throws {
    let base = InMemoryStorage()
    let (first, second) = (Program(SharedStorage(base)), Program(SharedStorage(base)))
    try await first.client.persistence.removeAll()
    for number in 1...2 { second.store(Script(), number).currentValue = "old" }
    #expect(await second.client.persistence.flush())
    first.client.invalidate(matching: ["text", 1])
    #expect(await first.client.persistence.flush())
    let later = Program(SharedStorage(base))
    await expect(later.client.restore(), equals: 2)
    #expect(later.store(Script(), 1).isInvalidated && !later.store(Script(), 2).isInvalidated)
  }

  @Test func `A value that was dropped as idle is invalidated in its storage`() async throws {
    let program = try await self.disk.start()
    program.store(Script(), 1).currentValue = "old"
    program.store(Script(), 2).currentValue = "old"
    await program.client.persistence.flush()
    program.client.dropStores()
    program.client.invalidate(matching: ["text", 1])
    #expect(program.store(Script(), 1).isInvalidated)
    #expect(!program.store(Script(), 2).isStale)
    program.store(Script(), 1).currentValue = "new"
    await program.client.persistence.flush()
    program.client.dropStores()
    expect(program.store(Script(), 1).currentValue, equals: "new")
    #expect(!program.store(Script(), 1).isStale)
  }

  @Test func `A run that began before the invalidation, and ends after its store is gone, stores a stale value`()
    async throws
  {
    let program = try await self.disk.start()
    let script = Script()
    let store = program.store(script, 1)
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await script.next()
    program.client.invalidate(matching: ["text", 1])
    run.succeed("old")
    _ = try await fetch.value
    await program.client.persistence.flush()
    #expect(try await self.disk.start().store(Script(), 1).isInvalidated)
  }

  @Test func `Another client on the storage invalidates its values`() async throws {
    let first = try await self.disk.start()
    let second = Program(first.storage)
    first.store(Script(), 1).currentValue = "old"
    await first.client.persistence.flush()
    first.client.dropStores()
    _ = second.store(Script(), 2)
    second.client.invalidate(matching: ["text", 1])
    #expect(first.store(Script(), 1).isInvalidated)
  }

  @Test func `Without an invalidation nothing is stored beside the values, and their form is that of before`()
    async throws
  {
    try await self.storeValues(1)
    let entries = try await self.disk.start().storage.entries(withPrefix: "")
    expect(entries.map(\.key), equals: ["value/stext/i1/=text="])
    expect(entries.first.map { String(decoding: $0.value, as: UTF8.self).hasPrefix("value1 1 0\n") }, equals: true)
  }

  @Test func `Removing all values removes the invalidations`() async throws {
    try await self.storeValues(1)
    let program = try await self.disk.start()
    _ = program.store(Script(), 1)
    program.client.invalidate(matching: ["text"])
    await program.client.persistence.flush()
    #expect(try await !program.storage.keys("epoch/").isEmpty)
    program.client.clearStores()
    try await program.client.persistence.removeAll()
    #expect(try await program.storage.keys().isEmpty)
    program.store(Script(), 1).currentValue = "new"
    await program.client.persistence.flush()
    try await expect(program.storage.keys(), equals: ["value/stext/i1/=text="])
    #expect(try await !self.disk.start().store(Script(), 1).isStale)
  }

  @Test func `Ten thousand subjects are remembered, and more as an invalidation of everything older`() async throws {
    try await self.storeValues(1)
    let program = try await self.disk.start()
    _ = program.store(Script(), 1)
    for number in 0..<10_500 { program.client.invalidate(matching: ["other", number]) }
    program.store(Script(), 3).currentValue = "new"
    await program.client.persistence.flush()
    #expect(try await self.disk.start().storage.keys("epoch/").count < 10_010)
    let next = try await self.disk.start()
    #expect(next.store(Script(), 1).isStale)
    #expect(!next.store(Script(), 3).isStale)
  }

  @Test func `Of more than sixty-four starts the oldest are forgotten, and nothing becomes fresh by that`() async throws
  {
    try await self.storeValues(1, 2)
    for start in 0..<80 {
      let program = try await self.disk.start()
      _ = program.store(Script(), 4)
      program.client.invalidate(matching: ["text", start == 0 ? 1 : 99])
      if start == 79 { program.store(Script(), 3).currentValue = "new" }
      await program.client.persistence.flush()
    }
    let last = try await self.disk.start()
    #expect(last.store(Script(), 1).isStale)
    #expect(!last.store(Script(), 3).isStale)
    #expect(try await self.disk.start().storage.keys("epoch/").count < 200)
  }

  @Test func `A damaged entry invalidates, and one of an unknown form does no harm`() async throws {
    try await self.storeValues(1, 2)
    let program = try await self.disk.start()
    try await program.storage.apply([
      .put(key: "epoch/abc/pstext/i1/", value: [255, 0]), .put(key: "epoch/=abc", value: [7]),
      .put(key: "epoch/later", value: [1]), .put(key: "epoch/abc/qwhat", value: Array("5".utf8)),
    ])
    #expect(program.store(Script(), 1).isInvalidated)
    #expect(!program.store(Script(), 2).isStale)
  }

  @Test func `An invalidation of a handed-over value reaches it before its store is made`() throws {
    func store(in client: OperationClient, _ number: Int) -> TextStore {
      client.store(
        for: Script().query(path: ["text", number]).stale(after: .seconds(60)).disableAutomaticRunning()
          .hydratable(as: "text")
      )
    }
    let (server, reader) = (OperationClient(), OperationClient())
    for number in 1...3 { store(in: server, number).currentValue = "old" }
    let page = server.dehydrate()
    reader.hydrate(page)
    reader.invalidate(matching: ["text", 1])
    #expect(store(in: reader, 1).isInvalidated)
    #expect(!store(in: reader, 2).isStale)
    // From before an invalidation, as far as is known.
    reader.invalidate(matching: ["text", 3])
    let epoch = InvalidationEpoch.latest
    reader.hydrate(page)
    #expect(store(in: reader, 3).isInvalidated)
    reader.clearStores()
    reader.hydrate(page, seen: epoch)
    #expect(!store(in: reader, 3).isStale)
  }
}

/// A storage that outlives the process: each start has one of its own with what the last has left.
private final class Disk: Sendable {
  private let last = Locked(InMemoryStorage())

  func start() async throws -> Program {
    let next = InMemoryStorage()
    let entries = try await self.last.withLock { $0 }.entries(withPrefix: "")
    try await next.apply(entries.map { .put(key: $0.key, value: $0.value) })
    self.last.withLock { $0 = next }
    return Program(next)
  }
}

extension OperationClient {
  /// Drops the stores as a cache does with idle ones: their values stay in the storage.
  fileprivate func dropStores() {
    for store in self.stores() { self.clearStore(with: store.path) }
  }
}
