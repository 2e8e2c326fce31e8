import OperationBatching
import OperationCore
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct PrimingTests {
  private let asked = Log<[Int]>()

  private func batcher(maximumPrimedKeys: Int = 1_000) -> OperationBatcher<Int, String> {
    let asked = self.asked
    return OperationBatcher(maximumSize: 1, maximumPrimedKeys: maximumPrimedKeys) { keys, _ in
      asked.append(keys)
      return Dictionary(uniqueKeysWithValues: keys.map { ($0, .success("asked \($0)")) })
    }
  }

  private func context(scope: String) -> OperationContext {
    var context = OperationContext()
    context.operationBatchScope = scope
    return context
  }

  @Test func `A primed value is not asked for until it is cleared`() async throws {
    let batcher = self.batcher()
    batcher.prime(1, with: "primed")
    try await expect(batcher.load(1), equals: "primed")
    try await expect(batcher.load(1), equals: "primed")
    try await expect(batcher.load(2), equals: "asked 2")
    batcher.prime(1, with: "newer")
    try await expect(batcher.load(1), equals: "newer")
    batcher.clear(1)
    try await expect(batcher.load(1), equals: "asked 1")
    expect(self.asked.all, equals: [[2], [1]])
  }

  @Test func `A primed failure is thrown, and all answers can be cleared`() async throws {
    let batcher = self.batcher()
    batcher.prime(1, withFailure: Refused(code: 404))
    batcher.prime(2, with: "primed")
    await #expect(throws: Refused(code: 404)) { try await batcher.load(1) }
    batcher.clearAll()
    try await expect(batcher.load(1), equals: "asked 1")
    try await expect(batcher.load(2), equals: "asked 2")
    expect(batcher.snapshot().primedKeys, equals: 0)
  }

  @Test func `Scopes do not see each other's answers`() async throws {
    let batcher = self.batcher()
    batcher.prime(1, with: "blob", in: self.context(scope: "blob"))
    try await expect(batcher.load(1), equals: "asked 1")
    try await expect(batcher.load(1, in: self.context(scope: "other")), equals: "asked 1")
    try await expect(batcher.load(1, in: self.context(scope: "blob")), equals: "blob")
    batcher.clear(1)
    try await expect(batcher.load(1, in: self.context(scope: "blob")), equals: "blob")
    batcher.clear(1, in: self.context(scope: "blob"))
    try await expect(batcher.load(1, in: self.context(scope: "blob")), equals: "asked 1")
  }

  @Test func `A cancelled caller gets no primed value`() async throws {
    let batcher = self.batcher()
    batcher.prime(1, with: "primed")
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await batcher.load(1)
    }
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func `The answers that were primed first are dropped above the maximum, and order is bounded`() async throws {
    let batcher = self.batcher(maximumPrimedKeys: 3)
    for key in 0..<3 { batcher.prime(key, with: "primed") }
    // Primed anew, it is the newest.
    for _ in 0..<1_000 { batcher.prime(0, with: "newer") }
    batcher.prime(3, with: "primed")
    try await expect(batcher.load(1), equals: "asked 1")
    try await expect(batcher.load(0), equals: "newer")
    try await expect(batcher.load(2), equals: "primed")
    try await expect(batcher.load(3), equals: "primed")
    for key in 10..<10_000 { batcher.prime(key, with: "primed") }
    expect(batcher.snapshot().primedKeys, equals: 3)
    try await expect(batcher.load(9_999), equals: "primed")
    try await expect(batcher.load(0), equals: "asked 0")
  }

  @Test(arguments: 0..<20) func `Random answers are those of the model`(seed: Int) async throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let batcher = self.batcher(maximumPrimedKeys: 5)
    var model: [(key: Int, value: String)] = []
    for step in 0..<500 {
      let key = Int.random(in: 0..<10, using: &random)
      switch Int.random(in: 0..<6, using: &random) {
      case 0..<3:
        batcher.prime(key, with: "\(step)")
        model.removeAll { $0.key == key }
        model.append((key, "\(step)"))
        if model.count > 5 { model.removeFirst() }
      case 3:
        batcher.clear(key)
        model.removeAll { $0.key == key }
      case 4 where step % 50 == 0:
        batcher.clearAll()
        model = []
      default:
        let value = model.first { $0.key == key }?.value ?? "asked \(key)"
        try await expect(batcher.load(key), equals: value)
      }
      expect(batcher.snapshot().primedKeys, equals: model.count)
    }
  }

  @Test func `What is dropped, replaced and cleared is released`() {
    let tracker = LifetimeTracker()
    let batcher = OperationBatcher<Int, LifetimeTracker.Token>(maximumPrimedKeys: 2) { _, _ in [:] }
    for key in 0..<5 { batcher.prime(key, with: tracker.token()) }
    expect(tracker.aliveCount, equals: 2)
    batcher.prime(4, with: tracker.token())
    batcher.clear(3)
    expect(tracker.aliveCount, equals: 1)
    batcher.clearAll()
    expect(tracker.aliveCount, equals: 0)
  }
}
