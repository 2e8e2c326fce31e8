import OperationCore
import OperationPersistence
import OperationTesting
import SubjectFixtures
import TestFixtures
import Testing

/// A removal of all values that takes long, or that its process does not finish.
@Suite(.bounded, .warningsAreIssues) struct EraEndTests {
  private let clock = ManualClock()
  private let base = InMemoryStorage()

  private func start() -> (program: Program, storage: SharedStorage) {
    let storage = SharedStorage(self.base)
    return (Program(storage, clock: self.clock), storage)
  }

  private func values() async throws -> [String] { try await self.base.keys("value/") }

  /// A process that has stored a value.
  private func startWithValue() async -> (program: Program, storage: SharedStorage) {
    let process = self.start()
    process.program.store().currentValue = "secret"
    #expect(await process.program.client.persistence.flush())
    return process
  }

  /// Begins to remove all values, and waits until nothing but the removal itself is left to do.
  private func beginRemoval(
    _ process: (program: Program, storage: SharedStorage)
  ) async throws -> (Gate, Task<Void, any Error>) {
    let gate = process.storage.holdNextReading(of: "value/", begun: false)
    let removal = Task.immediate { try await process.program.client.clearEverything() }
    try await gate.arrivals(count: 1)
    return (gate, removal)
  }

  @Test func `Of two processes that sign out at once, neither returns while values are stored`() async throws {
    let (first, second) = (await self.startWithValue(), self.start())
    let (gate, removal) = try await self.beginRemoval(first)
    let (secondGate, secondRemoval) = try await self.beginRemoval(second)
    gate.open()
    try await removal.value
    try await expect(self.values(), equals: [])
    first.program.store().currentValue = "of the next user"
    #expect(await first.program.client.persistence.flush())
    secondGate.open()
    try await secondRemoval.value
    // The slower one has found its work done.
    try await expect(self.values().count, equals: 1)
    await expect(self.start().program.client.restore(), equals: 1)
  }

  @Test func `The values of a removal that does not end are shown to no process that has heard of it`() async throws {
    let (first, second) = (await self.startWithValue(), await self.startWithValue())
    let (gate, removal) = try await self.beginRemoval(first)
    second.program.store(Script(), 2).currentValue = "other"
    #expect(await !second.program.client.persistence.flush())
    await expect(second.program.client.restore(), equals: 0)
    try await expect(self.values(), equals: [])
    gate.open()
    try await removal.value
  }

  @Test func `A reader that finds the removal of a later era stores nothing of the era before in it`() async throws {
    let (first, second, third) = (await self.startWithValue(), self.start(), self.start())
    let (gate, removal) = try await self.beginRemoval(first)
    // It has read that the first era is open. Another one begins.
    let reading = second.storage.holdNextReading(of: "value/", begun: false)
    let restoration = Task.immediate { await second.program.client.restore() }
    try await reading.arrivals(count: 1)
    let (laterGate, laterRemoval) = try await self.beginRemoval(third)
    let store = second.program.store(Script(), 3)
    store.currentValue = "before the second removal"
    reading.open()
    await expect(restoration.value, equals: 0)
    try await expect(self.values(), equals: [])
    #expect(await !second.program.client.persistence.flush())
    expect(store.currentValue, equals: nil)
    for gate in [gate, laterGate] { gate.open() }
    for removal in [removal, laterRemoval] { try await removal.value }
    try await expect(self.base.keys(), equals: [])
  }

  @Test func `What a process that was ended has left is not shown to a store that is made alone`() async throws {
    let first = await self.startWithValue()
    let (gate, removal) = try await self.beginRemoval(first)
    // Ended here.
    first.storage.suspend()
    expect(self.start().program.store().currentValue, equals: nil)
    try await expect(self.values(), equals: [])
    gate.open()
    try await removal.value
  }

  @Test func `What a process that was ended has left is removed by one that has heard of it and writes`() async throws {
    let (first, second) = (await self.startWithValue(), self.start())
    let store = second.program.store(Script(), 2)
    let (gate, removal) = try await self.beginRemoval(first)
    // Ended here.
    first.storage.suspend()
    store.currentValue = "secret"
    #expect(await !second.program.client.persistence.flush())
    store.currentValue = "of the next user"
    #expect(await second.program.client.persistence.flush())
    try await expect(self.values().count, equals: 1)
    gate.open()
    try await removal.value
  }

  @Test func `What a process that was ended has left is removed by the next one that reads or writes`() async throws {
    for isReading in [true, false] {
      let first = await self.startWithValue()
      let (gate, removal) = try await self.beginRemoval(first)
      // Ended here.
      first.storage.suspend()
      let next = self.start()
      if isReading {
        await expect(next.program.client.restore(), equals: 0)
      } else {
        next.program.store(Script(), 2).currentValue = "of the next user"
        #expect(await next.program.client.persistence.flush())
      }
      try await expect(self.values().count, equals: isReading ? 0 : 1)
      try await expect(self.base.entries(withPrefix: "epoch/=").map(\.key), equals: ["epoch/=era"])
      gate.open()
      try await removal.value
      await next.program.client.persistence.settled()
      try await next.program.client.clearEverything()
    }
  }

  @Test func `A value that another process removes during the sweep leaves no record of it`() async throws {
    func store(_ process: (program: Program, storage: SharedStorage)) -> TextStore {
      let query = Script().query(path: ["alice"]).persisted(as: "text", maximumAge: .seconds(600))
      return process.program.client.store(for: query)
    }
    let (first, second) = (self.start(), self.start())
    first.program.store().currentValue = "secret"
    #expect(await first.program.client.persistence.flush())
    await first.program.client.persistence.settled()
    // It has no record, and gets one.
    let gate = second.storage.holdNextReading(of: "value/stext")
    _ = store(second)
    try await gate.arrivals(count: 1)
    // Not all values, so that it is of the same era.
    try await first.program.client.persistence.removeAll(matching: ["text"])
    gate.open()
    await second.program.client.persistence.settled()
    try await expect(self.base.keys(), equals: [])
  }
}
