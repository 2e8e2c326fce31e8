import OperationCore
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct WritingTests {
  @Test func `The newest value is written a moment after the first change`() async throws {
    let storage = TestStorage()
    let program = Program(storage)
    let store = program.store()
    store.currentValue = "a"
    program.clock.advance(by: .milliseconds(50))
    store.currentValue = "b"
    program.clock.advance(by: .milliseconds(49))
    #expect(storage.batches.isEmpty)
    program.clock.advance(by: .milliseconds(1))
    try await storage.written.arrivals(count: 1)
    expect(storage.batches.map(\.count), equals: [1])
    expect(program.restarted().store().currentValue, equals: "b")
    try await program.clock.noSleepers()
  }

  @Test func `Only stores that have changed are written, in the order of their changes`() async throws {
    let storage = TestStorage()
    let program = Program(storage)
    let stores = (0..<10).map { program.store(Script(), $0) }
    for number in [7, 2, 5, 7] { stores[number].currentValue = "\(number)" }
    await program.client.persistence.flush()
    expect(storage.batches.map { $0.map(\.key) }, equals: [[2, 5, 7].map { "value/stext/i\($0)/=text=" }])
    stores[2].currentValue = "again"
    await program.client.persistence.flush()
    expect(storage.batches.last?.map(\.key), equals: ["value/stext/i2/=text="])
  }

  @Test func `More values than a batch may have are written in two, in the order of their changes`() async throws {
    let storage = TestStorage()
    let program = Program(storage)
    let numbers = (0..<4_100).map { $0 * 7_919 % 4_100 }
    for number in numbers { program.store(Script(), number).currentValue = "\(number)" }
    #expect(await program.client.persistence.flush())
    expect(storage.batches.map(\.count), equals: [4_096, 4])
    expect(storage.batches.flatMap { $0.map(\.key) }, equals: numbers.map { "value/stext/i\($0)/=text=" })
    #expect(storage.hasWritten(numbers.map { "\($0)" }))
    let restarted = program.restarted()
    await expect(restarted.client.restore(), equals: 4_100)
    for number in [0, 1, numbers[4_095], numbers[4_096], 4_099] {
      expect(restarted.store(Script(), number).currentValue, equals: "\(number)")
    }
    expect(program.clock.sleeperCount(), equals: 0)
  }

  @Test func `A run that changes no value writes nothing`() async throws {
    let storage = TestStorage()
    let program = Program(storage)
    let script = Script(default: .error(Refused()))
    let store = program.store(script)
    _ = try? await store.fetch()
    let task = Task.immediate { try await store.fetch() }
    script.enqueue(.suspend)
    let second = Task.immediate { try await store.fetch() }
    second.cancel()
    _ = try? await second.value
    _ = try? await task.value
    #expect(await program.client.persistence.flush())
    #expect(storage.batches.isEmpty)
    expect(program.clock.sleeperCount(), equals: 0)
  }

  @Test func `What a cancelled run has yielded is not stored in the end`() async throws {
    let program = Program()
    let script = Script()
    let store = program.store(script)
    store.currentValue = "kept"
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await script.next()
    run.yield("taken back")
    await program.client.persistence.flush()
    expect(program.restarted().store().currentValue, equals: "taken back")
    fetch.cancel()
    _ = try? await fetch.value
    await program.client.persistence.flush()
    expect(store.currentValue, equals: "kept")
    expect(program.restarted().store().currentValue, equals: "kept")
  }

  @Test func `An optimistic update is not written`() async throws {
    let program = Program()
    let store = program.store()
    store.currentValue = "server"
    let layer = StateLayerIdentifier()
    store.addLayer(layer) { $0 = "hoped for" }
    expect(store.currentValue, equals: "hoped for")
    await program.client.persistence.flush()
    expect(program.restarted().store().currentValue, equals: "server")
    store.currentValue = "server 2"
    expect(store.currentValue, equals: "hoped for")
    await program.client.persistence.flush()
    expect(program.restarted().store().currentValue, equals: "server 2")
    store.removeLayer(layer)
  }

  @Test func `An update that has become part of the value is written`() async throws {
    let program = Program()
    let store = program.store()
    store.currentValue = "server"
    await program.client.persistence.flush()
    let layer = StateLayerIdentifier()
    store.addLayer(layer) { $0 = "hoped for" }
    OpaqueOperationStore(erasing: store).commitLayer(layer)
    await program.client.persistence.flush()
    expect(program.restarted().store().currentValue, equals: "hoped for")
  }

  @Test func `A value of a released store is written, and a new store finds it before`() async throws {
    let storage = TestStorage()
    let program = Program(storage)
    program.store().currentValue = "last words"
    program.client.clearStores()
    expect(program.restarted().store().currentValue, equals: "last words")
    #expect(storage.batches.isEmpty)
    program.clock.advance(by: .seconds(1))
    try await storage.written.arrivals(count: 1)
    expect(program.restarted().store().currentValue, equals: "last words")
  }

  @Test func `Excluded values are not stored, and remove the one before`() async throws {
    let program = Program()
    func store(_ program: Program, excluding text: String) -> TextStore {
      program.client.store(
        for: Script().query(path: ["secret"]).persisted(as: "text", excluding: .where { $0 == text })
      )
    }
    let first = store(program, excluding: "secret")
    first.currentValue = "public"
    await program.client.persistence.flush()
    try await expect(program.storage.keys().count, equals: 1)
    first.currentValue = "secret"
    await program.client.persistence.flush()
    #expect(try await program.storage.keys().isEmpty)
    first.currentValue = "public"
    await program.client.persistence.flush()
    // The rule has changed since.
    let restarted = program.restarted()
    expect(store(restarted, excluding: "public").currentValue, equals: nil)
    await restarted.client.persistence.flush()
    #expect(try await program.storage.keys().isEmpty)
  }

  @Test func `A failed write is reported, and made later with the newest values`() async throws {
    let storage = TestStorage()
    let program = Program(storage)
    let (first, second) = (program.store(Script(), 1), program.store(Script(), 2))
    (first.currentValue, second.currentValue) = ("a", "b")
    storage.failToWrite(true)
    await expectWarning(.storageFailed) {
      #expect(await !program.client.persistence.flush())
    }
    first.currentValue = "c"
    storage.failToWrite(false)
    program.clock.advance(by: .seconds(2))
    try await storage.written.arrivals(count: 2)
    #expect(await program.client.persistence.flush())
    expect(program.restarted().store(Script(), 1).currentValue, equals: "c")
    expect(program.restarted().store(Script(), 2).currentValue, equals: "b")
    #expect(await program.client.persistence.flush())
    try await program.clock.noSleepers()
  }

  @Test func `When a full batch fails, so does the next one, and the newest values are written later, in order`()
    async throws
  {
    let storage = TestStorage(writes: false)
    let program = Program(storage)
    let stores = (0..<4_100).map { program.store(Script(), $0) }
    for (number, store) in stores.enumerated() { store.currentValue = "\(number)" }
    try await expectWarning(.storageFailed) {
      let flush = Task { await program.client.persistence.flush() }
      try await storage.writing.arrivals(count: 1)
      stores[0].currentValue = "newer"
      stores[4_099].currentValue = "newer"
      storage.failToWrite(true)
      storage.writing.open()
      #expect(await !flush.value)
    }
    #expect(storage.batches.isEmpty)
    storage.failToWrite(false)
    #expect(await program.client.persistence.flush())
    let order = Array(1...4_098) + [0, 4_099]
    expect(storage.batches.flatMap { $0.map(\.key) }, equals: order.map { "value/stext/i\($0)/=text=" })
    #expect(storage.hasWritten((1...4_098).map { "\($0)" } + ["newer", "newer"]))
    let restarted = program.restarted()
    await expect(restarted.client.restore(), equals: 4_100)
    for number in [0, 4_099] { expect(restarted.store(Script(), number).currentValue, equals: "newer") }
    for number in [1, 4_095, 4_096, 4_098] {
      expect(
        restarted.store(Script(), number).currentValue,
        equals: "\(number)"
      )
    }
    try await program.clock.noSleepers()
  }

  @Test func `A value that cannot be encoded does not block others`() async throws {
    let program = Program()
    let query = OperationScript<Unencodable, any Error>().query(path: ["bad"]).persisted(as: "bad")
    await expectWarning(.valueNotEncoded) {
      program.client.store(for: query).currentValue = Unencodable()
      program.store().currentValue = "good"
      #expect(await !program.client.persistence.flush())
    }
    #expect(await program.client.persistence.flush())
    expect(program.restarted().store().currentValue, equals: "good")
  }

  @Test func `A cancelled flush returns, and the values are written`() async throws {
    let storage = TestStorage(writes: false)
    let program = Program(storage)
    program.store().currentValue = "a"
    let flush = Task.immediate { await program.client.persistence.flush() }
    try await storage.writing.arrivals(count: 1)
    flush.cancel()
    #expect(await !flush.value)
    storage.writing.open()
    #expect(await program.client.persistence.flush())
    expect(program.restarted().store().currentValue, equals: "a")
  }

  @Test func `Changes during a write are in the next one`() async throws {
    let storage = TestStorage(writes: false)
    let program = Program(storage)
    let store = program.store()
    store.currentValue = "a"
    let first = Task.immediate { await program.client.persistence.flush() }
    try await storage.writing.arrivals(count: 1)
    store.currentValue = "b"
    store.currentValue = "c"
    expect(program.restarted().store().currentValue, equals: "c")
    let second = Task.immediate { await program.client.persistence.flush() }
    storage.writing.open()
    #expect(await first.value)
    #expect(await second.value)
    expect(storage.batches.count, equals: 2)
    expect(program.restarted().store().currentValue, equals: "c")
  }
}

private struct Unencodable: Codable, Sendable {
  init() {}
  init(from decoder: any Decoder) throws {}

  func encode(to encoder: any Encoder) throws { throw Broken() }
}

extension TestStorage {
  /// Whether these texts were written, in this order.
  fileprivate func hasWritten(_ texts: [String]) -> Bool {
    let changes = self.batches.flatMap { $0 }
    return changes.count == texts.count
      && zip(changes, texts).allSatisfy { change, text in
        guard case .put(_, let bytes) = change else { return false }
        return String(decoding: bytes, as: UTF8.self).contains("\"value\":\"\(text)\"")
      }
  }
}
