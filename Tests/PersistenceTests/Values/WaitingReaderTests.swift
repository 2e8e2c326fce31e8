import OperationCore
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Readers that ask while a storage that suspends is being read.
@Suite(.bounded, .warningsAreIssues) struct WaitingReaderTests {
  private let base = InMemoryStorage()
  private let storage: TestStorage
  private let clock = ManualClock()

  init() {
    self.storage = TestStorage(self.base, reads: false)
  }

  private func program() -> Program { Program(self.storage, clock: self.clock) }

  private func query(_ script: Script) -> some QueryRequest<String, any Error> {
    script.query(path: ["text", 1]).stale(after: .seconds(60)).persisted(as: "text")
  }

  private func storeValue() async {
    let program = Program(self.base, clock: self.clock)
    program.client.store(for: self.query(Script())).currentValue = "stored"
    await program.client.persistence.flush()
  }

  @Test func `ensureValue and prefetch take a fresh value that is being read, without a run`() async throws {
    await self.storeValue()
    let (client, script) = (self.program().client, Script())
    let value = Task.immediate { try await client.ensureValue(for: self.query(script)) }
    let prefetch = Task.immediate { await client.prefetch(for: self.query(script)) }
    self.storage.reading.open()
    try await expect(value.value, equals: "stored")
    await prefetch.value
    expect(script.runCount, equals: 0)
  }

  @Test func `A value that turns out to be stale, or is not there, is fetched`() async throws {
    await self.storeValue()
    self.clock.advance(by: .seconds(61))
    let (client, script) = (self.program().client, Script())
    let value = Task.immediate { try await client.ensureValue(for: self.query(script)) }
    let other = script.query(path: ["text", 2]).stale(after: .seconds(60)).persisted(as: "text")
    let missing = Task.immediate { try await client.ensureValue(for: other) }
    expect(script.runCount, equals: 0)
    self.storage.reading.open()
    try await script.next().succeed("new")
    try await script.next().succeed("new")
    try await expect(value.value, equals: "new")
    try await expect(missing.value, equals: "new")
  }

  @Test func `A storage that hangs is waited for as long as the context says`() async throws {
    await self.storeValue()
    let (client, script) = (self.program().client, Script())
    let value = Task.immediate { try await client.ensureValue(for: self.query(script)) }
    expect(script.runCount, equals: 0)
    self.clock.advance(by: .seconds(1))
    try await script.next().succeed("new")
    try await expect(value.value, equals: "new")
    // Nobody waits after that.
    let second = Task.immediate { await client.prefetch(for: self.query(script)) }
    await second.value
    self.storage.reading.open()
  }

  @Test func `A reader that is cancelled does not wait`() async throws {
    await self.storeValue()
    let (client, script) = (self.program().client, Script())
    let prefetch = Task.immediate { await client.prefetch(for: self.query(script)) }
    prefetch.cancel()
    await prefetch.value
    self.storage.reading.open()
  }

  @Test func `fetch begins at once`() async throws {
    await self.storeValue()
    let (client, script) = (self.program().client, Script())
    let store = client.store(for: self.query(script))
    let fetch = Task.immediate { try await store.fetch() }
    try await script.next().succeed("new")
    try await expect(fetch.value, equals: "new")
    self.storage.reading.open()
  }

  @Test func `A store that is released while its value is read lets the reader go on`() async throws {
    await self.storeValue()
    var program: Program? = self.program()
    let script = Script()
    let task = Task.immediate { [client = program!.client] in
      try await client.ensureValue(for: self.query(script))
    }
    program = nil
    self.clock.advance(by: .seconds(1))
    try await script.next().succeed("new")
    try await expect(task.value, equals: "new")
    self.storage.reading.open()
  }
}
