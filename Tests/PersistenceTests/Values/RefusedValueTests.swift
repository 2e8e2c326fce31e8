import OperationCore
import OperationPersistence
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct RefusedValueTests {
  private let storage = LimitedStorage()

  private func number(_ number: Int) -> String { "value/stext/i\(number)/=text=" }

  /// Puts texts, of which those with the given numbers are too large, and expects that the others are stored.
  private func write(_ count: Int, refused: Set<Int>) async throws -> (program: Program, warnings: [OperationWarning]) {
    let program = Program(self.storage)
    let recorder = WarningRecorder()
    await recorder.recording {
      for index in 0..<count { program.store(Script(), index).currentValue = self.text(index, refused.contains(index)) }
      let isWritten = await program.client.persistence.flush()
      expect(isWritten, equals: refused.isEmpty)
    }
    let expected = (0..<count).filter { !refused.contains($0) }.map(self.number).sorted()
    try await expect(self.storage.base.keys(), equals: expected)
    return (program, recorder.warnings)
  }

  private func text(_ number: Int, _ isLarge: Bool) -> String {
    isLarge ? String(repeating: "x", count: 2_000) : "\(number)"
  }

  @Test(arguments: [[0], [0, 1], [0, 99], [50], Array(0..<100)] as [[Int]])
  func `Values that the storage refuses are left out, and the others stored`(refused: [Int]) async throws {
    let (program, warnings) = try await self.write(100, refused: Set(refused))
    expect(warnings.map(\.code), equals: refused.map { _ in .valueNotStored })
    for (warning, number) in zip(warnings, refused) {
      #expect(warning.message.contains("[\"text\", \(number)]") && warning.message.contains("\"text\""))
    }
    // They are left out until they change.
    let count = self.storage.callCount
    #expect(await program.client.persistence.flush())
    program.clock.advance(by: .seconds(1_000))
    expect(self.storage.callCount, equals: count)
    expect(program.clock.sleeperCount(), equals: 0)
    program.store(Script(), refused[0]).currentValue = "small"
    #expect(await program.client.persistence.flush())
    expect(Program(self.storage).store(Script(), refused[0]).currentValue, equals: "small")
  }

  @Test func `One value alone is left out, and what was stored before stays`() async throws {
    let program = Program(self.storage)
    await expectWarning(.valueNotStored) {
      let store = program.store()
      store.currentValue = "before"
      #expect(await program.client.persistence.flush())
      store.currentValue = self.text(0, true)
      #expect(await !program.client.persistence.flush())
    }
    #expect(await program.client.persistence.flush())
    expect(program.restarted().store().currentValue, equals: "before")
  }

  @Test func `Finding a value takes few calls in a large batch, and the batch after it is stored`() async throws {
    let (_, warnings) = try await self.write(4_100, refused: [1_234, 4_098])
    expect(warnings.count, equals: 2)
    // Of each batch, each half and its sibling, the batch itself, and two probes.
    #expect(self.storage.callCount <= 2 * 12 + 3 + 2 * 2 + 3)
  }

  @Test func `A storage that is down is called twice, and everything is stored later`() async throws {
    let program = Program(self.storage)
    let recorder = WarningRecorder()
    self.storage.set(.down)
    await recorder.recording {
      for index in 0..<200 { program.store(Script(), index).currentValue = self.text(index, index == 100) }
      #expect(await !program.client.persistence.flush())
      expect(self.storage.callCount, equals: 2)
      self.storage.set(.limited)
      #expect(await !program.client.persistence.flush())
    }
    expect(recorder.warnings.map(\.code), equals: [.storageFailed, .valueNotStored])
    try await expect(self.storage.base.keys().count, equals: 199)
  }

  @Test func `An error that says that the storage cannot be used is not tested`() async throws {
    let program = Program(self.storage)
    self.storage.set(.closed)
    program.store().currentValue = "a"
    await expectWarning(.storageFailed) { #expect(await !program.client.persistence.flush()) }
    expect(self.storage.callCount, equals: 1)
  }

  @Test func `A storage that goes down while a batch is split keeps what is not written for later`() async throws {
    let program = Program(self.storage)
    for index in 0..<64 { program.store(Script(), index).currentValue = self.text(index, index == 40) }
    // The batch, a probe, the first half.
    self.storage.set(.limited, downAfter: 3)
    let recorder = WarningRecorder()
    try await recorder.recording { () async throws in
      #expect(await !program.client.persistence.flush())
      try await expect(self.storage.base.keys().count, equals: 32)
      #expect(self.storage.callCount < 12)
      self.storage.set(.limited)
      #expect(await !program.client.persistence.flush())
    }
    expect(recorder.warnings.map(\.code), equals: [.storageFailed, .valueNotStored])
    try await expect(self.storage.base.keys().count, equals: 63)
    #expect(await program.client.persistence.flush())
  }

  @Test func `A value for which there is no room is tried again, and others are stored`() async throws {
    let program = Program(self.storage)
    self.storage.set(.full)
    await expectWarning(.storageFailed) {
      for index in 0..<50 { program.store(Script(), index).currentValue = self.text(index, index == 20) }
      #expect(await !program.client.persistence.flush())
    }
    try await expect(self.storage.base.keys().count, equals: 49)
    self.storage.set(.roomy)
    #expect(await program.client.persistence.flush())
    try await expect(self.storage.base.keys().count, equals: 50)
  }

  @Test func `A full storage is not called for each value`() async throws {
    let program = Program(self.storage)
    self.storage.set(.fullForAll)
    await expectWarning(.storageFailed) {
      for index in 0..<300 { program.store(Script(), index).currentValue = self.text(index, false) }
      #expect(await !program.client.persistence.flush())
    }
    #expect(self.storage.callCount < 40)
    self.storage.set(.roomy)
    #expect(await program.client.persistence.flush())
    try await expect(self.storage.base.keys().count, equals: 300)
  }
}

/// A storage that refuses values of more than 1,000 bytes, or fails in other ways.
private final class LimitedStorage: PersistentStorage {
  enum Mode: Sendable { case limited, down, closed, full, fullForAll, roomy }

  private struct State: Sendable {
    var mode = Mode.limited
    var callCount = 0
    var downAfter = Int.max
  }

  let base = InMemoryStorage()
  private let state = Mutex(State())

  var callCount: Int { self.state.withLock { $0.callCount } }

  func set(_ mode: Mode, downAfter: Int = .max) {
    self.state.withLock { ($0.mode, $0.callCount, $0.downAfter) = (mode, 0, downAfter) }
  }

  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    try await self.base.entries(withPrefix: prefix)
  }

  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws {
    let mode = self.state.withLock { state in
      state.callCount += 1
      return state.callCount > state.downAfter ? .down : state.mode
    }
    let sizes = batch.map { change in if case .put(_, let value) = change { value.count } else { 0 } }
    let largest = sizes.max() ?? 0
    switch mode {
    case .limited where largest > 1_000: throw Broken()
    case .down: throw Broken()
    case .closed: throw StorageError.closed("test")
    case .full where largest > 1_000, .fullForAll where largest > 1: throw StorageError(code: .full, message: "full")
    default: try await self.base.apply(batch)
    }
  }

  nonisolated(nonsending) func close() async {}
}
