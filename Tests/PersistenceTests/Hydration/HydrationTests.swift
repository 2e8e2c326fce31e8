import FoundationEssentials
import OperationCore
import OperationPagination
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Values of one client that another one takes over.
@Suite(.bounded, .warningsAreIssues)
struct HydrationTests {
  private let clock = ManualClock(date: Date(timeIntervalSinceReferenceDate: 1_000))
  private let script = Script()

  /// A client as a process has it, with the clock of all processes.
  private func client() -> OperationClient {
    var context = OperationContext()
    context.use(self.clock)
    context.automaticRunningSpecification = .always(true)
    return OperationClient(defaultContext: context, storeCache: KeepingCache())
  }

  private func store(
    in client: OperationClient,
    _ number: Int = 1,
    version: Int = 1,
    unless isExcluded: (@Sendable (String) -> Bool)? = nil
  ) -> TextStore {
    client.store(
      for: self.script.query(path: ["text", number]).stale(after: .seconds(60))
        .hydratable(as: "text", version: version, excluding: isExcluded.map { .where($0) })
    )
  }

  /// The values after they were encoded and decoded.
  private func handedOver(_ values: DehydratedValues) throws -> DehydratedValues {
    let decoded = try JSONDecoder().decode(DehydratedValues.self, from: JSONEncoder().encode(values))
    expect(decoded, equals: values)
    return decoded
  }

  @Test
  func `A store that is made later begins with the value, its date and its count`() throws {
    let (server, reader) = (self.client(), self.client())
    self.store(in: server).currentValue = "hello"
    self.clock.advance(by: .seconds(50))
    let summary = reader.hydrate(try self.handedOver(server.dehydrate()))
    #expect((summary.keptCount, summary.appliedCount, summary.outdatedCount, summary.droppedCount) == (1, 0, 0, 0))
    let store = self.store(in: reader)
    expect(store.currentValue, equals: "hello")
    expect(store.valueLastUpdatedAt, equals: Date(timeIntervalSinceReferenceDate: 1_000))
    expect(store.valueUpdateCount, equals: 1)
    #expect(!store.isStale)
    self.clock.advance(by: .seconds(10))
    #expect(store.isStale)
  }

  @Test
  func `A fresh value is not fetched for the first subscriber, who sees no other state`() throws {
    let (server, reader) = (self.client(), self.client())
    self.store(in: server).currentValue = "hello"
    reader.hydrate(server.dehydrate())
    let states = Log<String?>()
    let subscription = self.store(in: reader).subscribe { states.append($0.currentValue) }
    expect(states.all, equals: ["hello"])
    expect(self.script.runCount, equals: 0)
    withExtendedLifetime(subscription) {}
  }

  @Test
  func `A store that exists shows the value, and its subscribers are notified`() throws {
    let (server, reader) = (self.client(), self.client())
    self.store(in: server).currentValue = "hello"
    let recorder = TextRecorder()
    let subscription = self.store(in: reader).subscribe(with: recorder.handler)
    let summary = reader.hydrate(server.dehydrate())
    #expect((summary.appliedCount, summary.keptCount) == (1, 0))
    expect(self.store(in: reader).currentValue, equals: "hello")
    expect(recorder.states.last?.currentValue, equals: "hello")
    withExtendedLifetime(subscription) {}
  }

  @Test
  func `The newer value wins: an older own one is replaced, a newer one and one of the same date stay`() throws {
    let (server, reader) = (self.client(), self.client())
    let store = self.store(in: reader)
    store.currentValue = "older"
    let count = store.valueUpdateCount
    self.clock.advance(by: .seconds(1))
    self.store(in: server).currentValue = "hello"
    let values = server.dehydrate()
    expect(reader.hydrate(values).appliedCount, equals: 1)
    expect(store.currentValue, equals: "hello")
    expect(store.valueUpdateCount, equals: count + 1)
    expect(store.valueLastUpdatedAt, equals: Date(timeIntervalSinceReferenceDate: 1_001))
    expect(reader.hydrate(values).outdatedCount, equals: 1)
    store.currentValue = "same date"
    expect(reader.hydrate(values).outdatedCount, equals: 1)
    self.clock.advance(by: .seconds(1))
    store.currentValue = "newer"
    expect(reader.hydrate(values).outdatedCount, equals: 1)
    expect(store.currentValue, equals: "newer")
  }

  @Test
  func `Of two hydrations before the store is made the newer one counts, in any order`() throws {
    let server = self.client()
    self.store(in: server).currentValue = "first"
    let first = server.dehydrate()
    self.clock.advance(by: .seconds(1))
    self.store(in: server).currentValue = "second"
    let second = server.dehydrate()
    for (values, outdated) in [([first, second], 0), ([second, first], 1)] {
      let reader = self.client()
      expect(values.reduce(0) { $0 + reader.hydrate($1).outdatedCount }, equals: outdated)
      expect(self.store(in: reader).currentValue, equals: "second")
    }
  }

  @Test
  func `An error that is older than the value goes, and a later one stays`() {
    let (server, reader) = (self.client(), self.client())
    let store = self.store(in: reader)
    store.currentValue = "old"
    store.setResult(to: .failure(Broken()))
    self.clock.advance(by: .seconds(1))
    self.store(in: server).currentValue = "new"
    let values = server.dehydrate()
    reader.hydrate(values)
    #expect(store.error == nil)
    expect(store.errorUpdateCount, equals: 1)

    let later = self.client()
    let failing = self.store(in: later)
    self.clock.setDate(self.clock.now() - 2)
    failing.currentValue = "old"
    self.clock.advance(by: .seconds(5))
    failing.setResult(to: .failure(Broken()))
    later.hydrate(values)
    expect(failing.currentValue, equals: "new")
    #expect(failing.error is Broken)
  }

  @Test
  func `An invalidated value is stale in the other process, too`() {
    let (server, reader) = (self.client(), self.client())
    self.store(in: server).currentValue = "hello"
    server.invalidate()
    reader.hydrate(server.dehydrate())
    let store = self.store(in: reader)
    expect(store.currentValue, equals: "hello")
    #expect(store.isStale)
  }

  @Test
  func `A value from before an invalidation that is handed over during a run is refreshed`() async throws {
    let (server, reader) = (self.client(), self.client())
    self.store(in: server).currentValue = "old"
    reader.invalidate()
    let store = self.store(in: reader)
    let recorder = TextRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    let run = try await self.script.next()
    reader.hydrate(server.dehydrate())
    expect(store.currentValue, equals: "old")
    run.succeed("of the run")
    try await self.script.next().succeed("new")
    _ = try await recorder.firstState { $0.currentValue == "new" }
    #expect(!store.isStale)
    subscription.cancel()
  }

  @Test
  func `Only values with a name are handed over, and no initial, default, optimistic or excluded ones`() {
    let server = self.client()
    server.store(for: self.script.query(path: ["plain"])).currentValue = "plain"
    _ = server.store(for: self.script.query(path: ["initial"]).hydratable(as: "text"), initialValue: "initial")
    _ = server.store(for: self.script.query(path: ["default"]).hydratable(as: "text").defaultValue("default"))
    self.store(in: server, 1, unless: { $0.hasPrefix("secret") }).currentValue = "secret"
    #expect(server.dehydrate().isEmpty)
    self.store(in: server, 1).currentValue = "open"
    self.store(in: server, 2).currentValue = "other"
    expect(server.dehydrate().count, equals: 2)
    expect(server.dehydrate(matching: ["text", 2]).count, equals: 1)
    expect("\(server.dehydrate())", equals: "DehydratedValues(2 values)")
  }

  @Test
  func `States with default values and pages are handed over`() async throws {
    let (server, reader) = (self.client(), self.client())
    let query = self.script.query(path: ["default"]).hydratable(as: "text").defaultValue("default")
    server.store(for: query).currentValue = "set"
    let feed = Numbers().hydratable(as: "feed")
    try await server.store(for: feed).fetchNextPage()
    try await server.store(for: feed).fetchNextPage()
    let own = reader.store(for: feed)
    self.clock.setDate(self.clock.now() - 1)
    try await own.fetchNextPage()
    self.clock.advance(by: .seconds(1))
    reader.hydrate(try self.handedOver(server.dehydrate()))
    expect(reader.store(for: query).currentValue, equals: "set")
    expect(own.currentValue.map(\.value), equals: [0, 1])
    try await expect(own.fetchNextPage()?.value, equals: 2)
  }

  @Test
  func `A value of another version or in an unknown form is reported, and the store does without`() throws {
    let (server, reader) = (self.client(), self.client())
    self.store(in: server).currentValue = "hello"
    let values = server.dehydrate()
    reader.hydrate(values)
    let recorder = WarningRecorder()
    recorder.recording {
      expect(self.store(in: reader, version: 2).currentValue, equals: nil)
      expect(reader.hydrate(values).droppedCount, equals: 1)
    }
    expect(recorder.warnings.map(\.code), equals: [.storedValueDropped, .storedValueDropped])

    let text = String(decoding: try JSONEncoder().encode(values), as: UTF8.self)
    for damaged in [
      text.replacing("value1", with: "value9"), text.replacing("hello\\\"", with: "hello\\\"\\\""),
      text.replacing("1 0\\n", with: "1 0"),
    ] {
      #expect(damaged != text)
      let other = self.client()
      other.hydrate(try JSONDecoder().decode(DehydratedValues.self, from: Data(damaged.utf8)))
      expectWarning(.storedValueDropped) { expect(self.store(in: other).currentValue, equals: nil) }
    }
  }

  @Test(arguments: ["", "[]", "{}", #"{"format":2,"values":{}}"#, #"{"format":1}"#, #"{"format":1,"values":[1]}"#])
  func `What is no value of this form cannot be decoded`(_ text: String) {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(DehydratedValues.self, from: Data(text.utf8))
    }
  }

  @Test
  func `The encoded form is stable`() throws {
    let server = self.client()
    self.store(in: server).currentValue = "hello"
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let text = String(decoding: try encoder.encode(server.dehydrate()), as: UTF8.self)
    #expect(text.hasPrefix(#"{"format":1,"values":{"value/stext/i1/=text=":{"date":1000,"value":"value1 1 0\n{"#))
  }

  @Test
  func `Values of stores that are cleared or reset are discarded, those of other paths stay`() {
    let (server, reader) = (self.client(), self.client())
    for number in 1...3 { self.store(in: server, number).currentValue = "\(number)" }
    reader.hydrate(server.dehydrate())
    reader.clearStore(with: ["text", 1])
    reader.resetStores(matching: ["text", 2])
    expect(self.store(in: reader, 1).currentValue, equals: nil)
    expect(self.store(in: reader, 2).currentValue, equals: nil)
    expect(self.store(in: reader, 3).currentValue, equals: "3")
    reader.clearStores()
    expect(self.store(in: reader, 3).currentValue, equals: nil)
  }

  @Test
  func `A store that is made again has the value, unless the one before had a newer one`() {
    let (server, reader) = (self.client(), self.client())
    for number in 1...2 { self.store(in: server, number).currentValue = "handed over" }
    self.clock.advance(by: .seconds(1))
    var context = OperationContext()
    context.use(self.clock)
    let evicting = OperationClient(
      defaultContext: context,
      storeCache: OperationClient.DefaultStoreCache(maximumIdleStores: 0)
    )
    evicting.hydrate(server.dehydrate())
    expect(self.store(in: evicting, 1).currentValue, equals: "handed over")
    expect(self.store(in: evicting, 1).currentValue, equals: "handed over")
    self.store(in: evicting, 2).currentValue = "newer"
    expect(self.store(in: evicting, 2).currentValue, equals: nil)
    withExtendedLifetime(reader) {}
  }

  @Test
  func `A run that ends later replaces the value`() async throws {
    let (server, reader) = (self.client(), self.client())
    self.store(in: server).currentValue = "hello"
    let store = self.store(in: reader)
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    reader.hydrate(server.dehydrate())
    expect(store.currentValue, equals: "hello")
    #expect(store.isLoading)
    run.succeed("fetched")
    try await expect(fetch.value, equals: "fetched")
    expect(store.currentValue, equals: "fetched")
  }

  @Test
  func `A cancelled run leaves the value that was handed over while it ran`() async throws {
    let (server, reader) = (self.client(), self.client())
    self.store(in: server).currentValue = "hello"
    self.clock.setDate(self.clock.now() - 1)
    let store = self.store(in: reader)
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    run.yield("yielded")
    reader.hydrate(server.dehydrate())
    expect(store.currentValue, equals: "hello")
    fetch.cancel()
    try await run.cancelled()
    await #expect(throws: CancellationError.self) { try await fetch.value }
    expect(store.currentValue, equals: "hello")
  }

  @Test
  func `A handler may hydrate again, and hydrating nothing does nothing`() {
    let (server, reader) = (self.client(), self.client())
    self.store(in: server).currentValue = "hello"
    let values = server.dehydrate()
    let subscription = self.store(in: reader).subscribe { [unowned reader] _ in reader.hydrate(values) }
    reader.hydrate(values)
    expect(self.store(in: reader).currentValue, equals: "hello")
    expect(reader.hydrate(DehydratedValues()), equals: self.client().hydrate(DehydratedValues()))
    withExtendedLifetime(subscription) {}
  }

  @Test
  func `A path without a key is reported once, and its value is not handed over`() {
    let server = self.client()
    let recorder = WarningRecorder()
    recorder.recording {
      for _ in 0..<2 {
        server.store(for: Script().query().hydratable(as: "text")).currentValue = "hello"
      }
    }
    expect(recorder.warnings.map(\.code), equals: [.unstorablePath])
    #expect(server.dehydrate().isEmpty)
  }

  @Test
  func `A value that cannot be encoded is reported and left out`() {
    let server = self.client()
    let script = OperationScript<Unencodable, any Error>()
    server.store(for: script.query(path: ["u"]).hydratable(as: "u")).currentValue = Unencodable()
    self.store(in: server).currentValue = "hello"
    let values = expectWarning(.valueNotEncoded) { server.dehydrate() }
    expect(values.count, equals: 1)
  }

  @Test
  func `A persisted value is handed over with a name of its own, and what is taken over is stored`() async throws {
    let storage = InMemoryStorage()
    let server = self.client()
    let reader = self.client()
    reader.defaultContext.operationStorage = storage
    let query = self.script.query(path: ["text", 1]).persisted(as: "kept").hydratable(as: "text")
    self.store(in: server).currentValue = "hello"
    reader.hydrate(server.dehydrate())
    expect(reader.store(for: query).currentValue, equals: "hello")
    await reader.flush()
    try await expect(storage.keys("value/"), equals: ["value/stext/i1/=kept="])
  }

  @Test
  func `Many values are handed over, to stores that exist and to others`() throws {
    let count = ModelRuns.isThorough ? 10_000 : 1_000
    let (server, reader) = (self.client(), self.client())
    for number in 0..<count { self.store(in: server, number).currentValue = "\(number)" }
    for number in 0..<count / 2 { _ = self.store(in: reader, number) }
    let summary = reader.hydrate(try self.handedOver(server.dehydrate()))
    #expect((summary.appliedCount, summary.keptCount) == (count / 2, count / 2))
    for number in 0..<count { expect(self.store(in: reader, number).currentValue, equals: "\(number)") }
  }

  @Test
  func `Stores, values and clients are released`() async throws {
    let lifetimes = LifetimeTracker()
    do {
      let (server, reader) = (self.client(), self.client())
      let token = lifetimes.token()
      let query = self.script.query(path: ["text", 1]).context { _ in token.touch() }.hydratable(as: "text")
      for client in [server, reader] { _ = client.store(for: query) }
      server.store(for: query).currentValue = "hello"
      reader.hydrate(server.dehydrate())
      expect(reader.store(for: query).currentValue, equals: "hello")
    }
    try await lifetimes.noneAlive()
  }
}

private struct Unencodable: Codable, Sendable {
  init() {}

  init(from decoder: any Decoder) throws {}

  func encode(to encoder: any Encoder) throws { throw Broken() }
}

/// Pages of one number each.
private struct Numbers: PaginatedRequest, Hashable {
  let initialPageId = 0

  var path: OperationPath { ["numbers"] }

  func pageId(after page: Page<Int, Int>, using paging: Paging<Int, Int>, in context: OperationContext) -> Int? {
    page.id + 1
  }

  func fetchPage(
    isolation: isolated (any Actor)?,
    using paging: Paging<Int, Int>,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    paging.pageId
  }
}
