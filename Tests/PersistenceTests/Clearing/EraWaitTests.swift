import OperationCore
import OperationTesting
import TestFixtures
import Testing

@testable import OperationPersistence

/// A process that reads the storage for the first time after another one has removed all values.
@Suite(.bounded, .warningsAreIssues) struct EraWaitTests {
  private let clock = ManualClock()
  private let base = InMemoryStorage()
  private let (first, second): (Program, Program)
  private let storage: SharedStorage
  /// Opens when the second process may read the storage for the first time.
  private let gate: Gate

  init() {
    self.storage = SharedStorage(self.base)
    self.first = Program(SharedStorage(self.base), clock: self.clock)
    self.second = Program(self.storage, clock: self.clock)
    self.gate = self.storage.holdNextReading(of: "epoch/", begun: false)
  }

  /// Lets the second process read the storage for the first time, and waits until it has.
  private func readStorage() async throws {
    self.gate.open()
    try await StateWriters.writer(for: self.storage).loadInvalidations()
  }

  /// The stored values, as text.
  private func values() async throws -> [String] {
    try await self.base.entries(withPrefix: "value/").map { String(decoding: $0.value, as: UTF8.self) }
  }

  private func hasStored(_ text: String) async throws -> Bool {
    _ = await self.second.client.persistence.flush()
    return try await self.values().contains { $0.contains(text) }
  }

  @Test func `A body begins when the era is known`() async throws {
    let user = Box("former")
    let query = QueryOperation("text", 1) { _ in "of the \(user.value) user" }
    let store = self.second.client.store(for: query.persisted(as: "text"))
    try await self.gate.arrivals(count: 1)
    let fetch = Task.immediate { try await store.fetch() }
    #expect(store.isLoading)
    try await self.first.client.clearEverything()
    user.value = "next"
    self.gate.open()
    try await expect(fetch.value, equals: "of the next user")
    #expect(try await self.hasStored("of the next user"))
  }

  @Test func `A value whose body has waited too long is not stored if all were removed meanwhile`() async throws {
    let script = Script()
    let store = self.second.store(script)
    try await self.gate.arrivals(count: 1)
    let fetch = Task.immediate { try await store.fetch() }
    self.clock.advance(by: .milliseconds(999))
    expect(script.runCount, equals: 0)
    self.clock.advance(by: .milliseconds(1))
    let run = try await script.next()
    run.yield("half of a secret")
    try await self.first.client.clearEverything()
    try await self.readStorage()
    #expect(try await !self.hasStored("secret"))
    run.yield("more of a secret")
    #expect(try await !self.hasStored("secret"))
    run.succeed("secret")
    try await expect(fetch.value, equals: "secret")
    #expect(try await !self.hasStored("secret"))

    async let next = store.fetch()
    try await script.next().succeed("later")
    try await expect(next, equals: "later")
    #expect(try await self.hasStored("later"))
  }

  @Test func `It is stored if no process has ever removed all values`() async throws {
    let script = Script()
    let store = self.second.store(script)
    try await self.gate.arrivals(count: 1)
    let fetch = Task.immediate { try await store.fetch() }
    self.clock.advance(by: .seconds(1))
    let run = try await script.next()
    try await self.readStorage()
    #expect(try await !self.hasStored("fetched"))
    run.succeed("fetched")
    try await expect(fetch.value, equals: "fetched")
    #expect(try await self.hasStored("fetched"))
  }

  @Test func `What a run yields before the era is known does not keep its result out of the storage`() async throws {
    let script = Script()
    let store = self.second.store(script)
    try await self.gate.arrivals(count: 1)
    let fetch = Task.immediate { try await store.fetch() }
    self.clock.advance(by: .seconds(1))
    let run = try await script.next()
    run.yield("half")
    try await self.readStorage()
    #expect(try await !self.hasStored("half"))
    run.succeed("whole")
    try await expect(fetch.value, equals: "whole")
    #expect(try await self.hasStored("whole"))
  }

  @Test func `Of a storage that does not answer only the first run waits`() async throws {
    let script = Script()
    let store = self.second.store(script)
    try await self.gate.arrivals(count: 1)
    let first = Task.immediate { try await store.fetch() }
    expect(script.runCount, equals: 0)
    self.clock.advance(by: .seconds(1))
    try await script.next().succeed("first")
    try await expect(first.value, equals: "first")
    let second = Task.immediate { try await store.fetch() }
    expect(script.runCount, equals: 2)
    try await script.next().succeed("second")
    try await expect(second.value, equals: "second")
    self.gate.open()
  }

  @Test func `A caller that is cancelled meanwhile does not wait`() async throws {
    let script = Script()
    let store = self.second.store(script)
    try await self.gate.arrivals(count: 1)
    let fetch = Task.immediate { try await store.fetch() }
    fetch.cancel()
    await #expect(throws: CancellationError.self) { try await fetch.value }
    expect(store.currentValue, equals: nil)
    self.gate.open()
  }
}
