import Foundation
import OperationCore
import OperationDiskCache
import OperationTesting
import Testing

/// A cache on the disk as a level of a client.
@Suite struct DiskCacheTests {
  private let clock = ManualClock()

  private func directory() -> URL {
    FileManager.default.temporaryDirectory.appending(path: "DiskCacheTests-\(UUID().uuidString)")
  }

  private func client(_ cache: DiskCache) -> OperationClient {
    var context = OperationContext()
    context.use(self.clock)
    let client = OperationClient(defaultContext: context)
    client.add(cache)
    return client
  }

  private func store(
    _ script: OperationScript<String, any Error>,
    in client: OperationClient,
    _ cache: DiskCache
  ) -> OperationStore<QueryState<String, any Error>> {
    client.store(
      for: script.query(path: ["posts", 1]).stale(after: .seconds(60)).kept(in: cache, as: "post") {
        Array($0.utf8)
      } decode: {
        String(decoding: $0, as: UTF8.self)
      }
    )
  }

  @Test func `It keeps the rules of levels`() async throws {
    try await checkValueLevel(
      reopening: { try DiskCache(directory: $0.directory) },
      { try DiskCache(directory: self.directory()) }
    )
  }

  @Test func `A later process begins with the value, and runs once it is too old`() async throws {
    let directory = self.directory()
    let cache = try DiskCache(directory: directory)
    let script = OperationScript<String, any Error>(default: .value("first"))
    let client = self.client(cache)
    #expect(try await self.store(script, in: client, cache).fetch() == "first")
    #expect(await client.flush())
    let later = try DiskCache(directory: directory)
    let laterScript = OperationScript<String, any Error>(default: .value("second"))
    let store = self.store(laterScript, in: self.client(later), later)
    await store.restored()
    #expect(store.currentValue == "first")
    #expect(!store.isStale)
    self.clock.advance(by: .seconds(60))
    #expect(store.isStale)
    #expect(try await store.fetch() == "second")
  }

  @Test func `A value that was invalidated is shown by a later process, and is stale`() async throws {
    let directory = self.directory()
    let cache = try DiskCache(directory: directory)
    let script = OperationScript<String, any Error>(default: .value("first"))
    let client = self.client(cache)
    try await self.store(script, in: client, cache).fetch()
    #expect(await client.flush())
    client.invalidate(matching: ["posts"])
    #expect(await client.flush())
    let later = try DiskCache(directory: directory)
    let store = self.store(script, in: self.client(later), later)
    await store.restored()
    #expect(store.currentValue == "first")
    #expect(store.isStale)
  }

  @Test func `Signing out removes the files of this process and of earlier ones`() async throws {
    let directory = self.directory()
    let cache = try DiskCache(directory: directory)
    let script = OperationScript<String, any Error>(default: .value("Ann's"))
    let client = self.client(cache)
    try await self.store(script, in: client, cache).fetch()
    #expect(await client.flush())
    // A process that has not used the value yet.
    let later = try DiskCache(directory: directory)
    try await self.client(later).clearEverything()
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path()).isEmpty)
    let store = self.store(script, in: self.client(later), later)
    await store.restored()
    #expect(store.currentValue == nil)
  }
}
