import OperationBatching
import OperationCore
import OperationDedupe
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Requests that wait for what waits for their batch.
@Suite(.bounded, .warningsAreIssues)
struct BatchCycleTests {
  private typealias Batcher = OperationBatcher<Int, String>

  private typealias Store = OperationStore<QueryState<String, any Error>>

  private let clock = ManualClock()
  private let recorder = WarningRecorder()

  private var context: OperationContext {
    var context = OperationContext()
    context.use(self.clock)
    return context
  }

  private func load(_ key: Int, of batcher: Batcher) -> Task<String, any Error> {
    Task.immediate { [context = self.context] in try await batcher.load(key, in: context) }
  }

  private func endWindow() {
    self.clock.advance(by: .milliseconds(2))
  }

  @Test func `A request that fetches what waits for its batch fails with the names of the cycle`() async throws {
    let (fetched, recorder) = (Box<Store?>(nil), self.recorder)
    let batcher = Batcher(name: "authors") { _, _ in
      let text = try await recorder.recording { try await fetched.value?.fetch() ?? "" }
      return [1: .success(text)]
    }
    let client = OperationClient(defaultContext: self.context)
    let query = QueryOperation("posts") { context in try await batcher.load(1, in: context) }
    let store = client.store(for: query.deduplicated())
    fetched.value = store
    defer { fetched.value = nil }
    let fetch = Task.immediate { try await store.fetch() }
    self.endWindow()
    let error = await #expect(throws: OperationCycleError.self) {
      try await withTimeLimit("the cycle to end") { try await fetch.value }
    }
    let names = try #require(error?.operationNames)
    #expect(names.count == 3 && names[0] == names[2] && names[1] == "a batch of authors")
    #expect(names[0].contains("posts"))
    expect(self.recorder.warnings.map(\.code), equals: [.taskCycle])
    expect(self.recorder.warnings.first?.message.contains("a batch of authors"), equals: true)
  }

  @Test func `A request fetches a query whose call has left its batch`() async throws {
    let (fetched, left, joined) = (Box<Store?>(nil), Gate(), Gate())
    let batcher = Batcher(name: "authors") { _, _ in
      defer { joined.open() }
      let handler = QueryEventHandler<QueryState<String, any Error>>(onFetchingStarted: { _ in joined.open() })
      return [1: .success(try await fetched.value?.fetch(handler: handler) ?? "")]
    }
    let client = OperationClient(defaultContext: self.context)
    let query = QueryOperation<String, any Error>("posts") { context in
      await withTaskGroup { group in
        group.addImmediateTask { _ = try? await batcher.load(1, in: context) }
        group.cancelAll()
      }
      left.open()
      try await joined.wait()
      return "posts"
    }
    let store = client.store(for: query.deduplicated())
    fetched.value = store
    defer { fetched.value = nil }
    let load = self.load(1, of: batcher)
    let fetch = Task.immediate { try await store.fetch() }
    try await left.wait()
    self.endWindow()
    try await expect(load.value, equals: "posts")
    try await expect(fetch.value, equals: "posts")
  }

  @Test(arguments: [1, 100])
  func `A request that loads from its own batcher fails where one batch may be under way`(_ size: Int) async throws {
    let (itself, recorder, context) = (Box<Batcher?>(nil), self.recorder, self.context)
    let batcher = Batcher(name: "authors", maximumSize: size, maximumConcurrentBatches: 1) { keys, _ in
      guard keys == [1], let batcher = itself.value else { return [:] }
      return [1: .success(try await recorder.recording { try await batcher.load(2, in: context) })]
    }
    itself.value = batcher
    defer { itself.value = nil }
    let task = self.load(1, of: batcher)
    self.endWindow()
    let error = await #expect(throws: OperationCycleError.self) {
      try await withTimeLimit("the cycle to end") { try await task.value }
    }
    expect(error?.operationNames, equals: ["a batch of authors", "a batch of authors"])
    expect(self.recorder.warnings.map(\.code), equals: [.taskCycle])
    expect(batcher.snapshot().openBatches + batcher.snapshot().readyBatches, equals: 0)
  }

  @Test(arguments: [[1], [1, 2]])
  func `A request that loads its own keys, alone or all at once, fails after a few batches`(keys: [Int]) async throws {
    let (itself, recorder, context, asked) = (Box<Batcher?>(nil), self.recorder, self.context, Log<[Int]>())
    let batcher = Batcher(name: "authors", maximumSize: keys.count) { keys, _ in
      asked.append(keys)
      guard let batcher = itself.value else { return [:] }
      return await withTaskGroup { group in
        for key in keys {
          group.addTask {
            await recorder.recording {
              do { return (key, Result<String, any Error>.success(try await batcher.load(key, in: context))) } catch {
                return (key, .failure(error))
              }
            }
          }
        }
        return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
      }
    }
    itself.value = batcher
    defer { itself.value = nil }
    let tasks = keys.map { self.load($0, of: batcher) }
    for task in tasks {
      let error = await #expect(throws: OperationCycleError.self) {
        try await withTimeLimit("the cycle to end") { try await task.value }
      }
      expect(error?.operationNames, equals: ["a batch of authors", "a batch of authors", "a batch of authors"])
    }
    expect(asked.count, equals: 2)
    expect(self.recorder.warnings.map(\.code), equals: keys.map { _ in .taskCycle })
    expect(batcher.snapshot().openBatches + batcher.snapshot().readyBatches, equals: 0)
  }

  @Test func `Two batchers that load each other's keys end with the names of both`() async throws {
    let (second, recorder, context) = (Box<Batcher?>(nil), self.recorder, self.context)
    let first = Box<Batcher?>(nil)
    first.value = Batcher(name: "authors", maximumSize: 1) { keys, _ in
      [keys[0]: .success(try await second.value?.load(keys[0], in: context) ?? "")]
    }
    second.value = Batcher(name: "posts", maximumSize: 1) { keys, _ in
      let text = try await recorder.recording { try await first.value?.load(keys[0], in: context) }
      return [keys[0]: .success(text ?? "")]
    }
    defer { (first.value, second.value) = (nil, nil) }
    let task = self.load(1, of: try #require(first.value))
    let error = await #expect(throws: OperationCycleError.self) {
      try await withTimeLimit("the cycle to end") { try await task.value }
    }
    expect(error?.operationNames.contains("a batch of posts"), equals: true)
  }

  @Test func `A request may load other keys of its batcher, and those of its own batch once`() async throws {
    let (itself, context) = (Box<Batcher?>(nil), self.context)
    let batcher = Batcher(name: "factorials", maximumSize: 1) { keys, _ in
      guard let key = keys.first, key > 0, let batcher = itself.value else { return [0: .success("1")] }
      let below = try await batcher.load(key - 1, in: context)
      return [key: .success("\((Int(below) ?? 0) * key)")]
    }
    itself.value = batcher
    defer { itself.value = nil }
    let task = self.load(5, of: batcher)
    try await expect(withTimeLimit("the product") { try await task.value }, equals: "120")
  }

  @Test func `A cycle through a query and the only batch that may be under way is found`() async throws {
    let (fetched, recorder) = (Box<Store?>(nil), self.recorder)
    let batcher = Batcher(name: "authors", maximumSize: 1, maximumConcurrentBatches: 1) { _, _ in
      [1: .success(try await fetched.value?.fetch() ?? "")]
    }
    let client = OperationClient(defaultContext: self.context)
    let query = QueryOperation("posts") { context in
      try await recorder.recording { try await batcher.load(2, in: context) }
    }
    fetched.value = client.store(for: query.deduplicated())
    defer { fetched.value = nil }
    let task = self.load(1, of: batcher)
    let error = await #expect(throws: OperationCycleError.self) {
      try await withTimeLimit("the cycle to end") { try await task.value }
    }
    let names = try #require(error?.operationNames)
    #expect(names.first == "a batch of authors" && names.last == names.first)
    #expect(names.contains { $0.contains("posts") })
    expect(self.recorder.warnings.map(\.code), equals: [.taskCycle])
  }

  @Test func `All batches that may be under way have to wait before it is a cycle`() async throws {
    let (itself, recorder, context) = (Box<Batcher?>(nil), self.recorder, self.context)
    let batcher = Batcher(name: "authors", maximumSize: 1, maximumConcurrentBatches: 2) { keys, _ in
      guard let batcher = itself.value else { return [:] }
      do {
        let text = try await recorder.recording { try await batcher.load(keys[0] + 1, in: context) }
        return [keys[0]: .success(text)]
      } catch is OperationCycleError {
        return [keys[0]: .success("the cycle was closed by \(keys[0])")]
      }
    }
    itself.value = batcher
    defer { itself.value = nil }
    let task = self.load(1, of: batcher)
    let text = try await withTimeLimit("the cycle to end") { try await task.value }
    expect(text, equals: "the cycle was closed by 2")
    expect(self.recorder.warnings.map(\.code), equals: [.taskCycle])
  }

  @Test func `A batch that waits while another one may end is no cycle`() async throws {
    let (itself, context) = (Box<Batcher?>(nil), self.context)
    let gate = Gate()
    let batcher = Batcher(name: "authors", maximumSize: 1, maximumConcurrentBatches: 2) { keys, _ in
      if keys == [1] { try await gate.wait() }
      guard keys == [2], let batcher = itself.value else { return [keys[0]: .success("\(keys[0])")] }
      return [2: .success(try await batcher.load(3, in: context))]
    }
    itself.value = batcher
    defer { itself.value = nil }
    let (first, second) = (self.load(1, of: batcher), self.load(2, of: batcher))
    gate.open()
    try await expect(first.value, equals: "1")
    try await expect(withTimeLimit("the batch to be sent") { try await second.value }, equals: "3")
  }

  @Test func `The other callers of the batch are answered`() async throws {
    let (itself, recorder, context) = (Box<Batcher?>(nil), self.recorder, self.context)
    let (gate, asked) = (Gate(), Log<[Int]>())
    let batcher = Batcher(name: "authors", maximumConcurrentBatches: 1) { keys, _ in
      asked.append(keys)
      guard keys == [1], let batcher = itself.value else { return [keys[0]: .success("\(keys[0])")] }
      try await gate.wait()
      return [1: .success(try await recorder.recording { try await batcher.load(2, in: context) })]
    }
    itself.value = batcher
    defer { itself.value = nil }
    let first = self.load(1, of: batcher)
    self.endWindow()
    let other = self.load(9, of: batcher)
    gate.open()
    await #expect(throws: OperationCycleError.self) {
      try await withTimeLimit("the cycle to end") { try await first.value }
    }
    self.endWindow()
    try await expect(withTimeLimit("the other caller to be answered") { try await other.value }, equals: "9")
    expect(asked.all, equals: [[1], [9]])
    expect(self.recorder.warnings.map(\.code), equals: [.taskCycle])
  }

  @Test func `A query whose batch has failed so can be fetched again`() async throws {
    let (fetched, recorder) = (Box<Store?>(nil), self.recorder)
    let closesCycle = Atomic(true)
    let batcher = Batcher(name: "authors", maximumSize: 1) { _, _ in
      guard closesCycle.exchange(false, ordering: .relaxed) else { return [1: .success("one")] }
      return [1: .success(try await recorder.recording { try await fetched.value?.fetch() ?? "" })]
    }
    let query = QueryOperation("posts") { context in try await batcher.load(1, in: context) }
    let store = OperationClient(defaultContext: self.context).store(for: query.deduplicated())
    fetched.value = store
    defer { fetched.value = nil }
    await #expect(throws: OperationCycleError.self) { try await store.fetch() }
    try await expect(store.fetch(), equals: "one")
  }

  /// Batchers whose requests load random keys of each other, with few batches at once: each load ends.
  @Test(arguments: 0..<100)
  func `No load hangs, whatever requests wait for`(seed: Int) async throws {
    let recorder = self.recorder
    var random = SeededGenerator(seed: UInt64(seed))
    let keys = 0..<6
    let itself = Box<[Batcher]>([])
    let calls = keys.map { _ in
      (0..<Int.random(in: 0...2, using: &random)).map { _ in
        (batcher: Int.random(in: 0..<3, using: &random), key: Int.random(in: keys, using: &random))
      }
    }
    itself.value = (0..<3).map { number in
      Batcher(
        name: "\(number)",
        maximumSize: Int.random(in: 1...3, using: &random),
        window: .zero,
        maximumConcurrentBatches: Int.random(in: 1...3, using: &random)
      ) { asked, _ in
        for key in asked {
          for call in calls[key] {
            _ = try await recorder.recording { try await itself.value[call.batcher].load(call.key) }
          }
        }
        return Dictionary(uniqueKeysWithValues: asked.map { ($0, .success("\($0)")) })
      }
    }
    defer { itself.value = [] }
    let batchers = itself.value
    let tasks = keys.flatMap { key in batchers.map { batcher in Task { try await batcher.load(key) } } }
    for task in tasks {
      do {
        _ = try await withTimeLimit("a load of seed \(seed) to end") { try await task.value }
      } catch is OperationCycleError {
        #expect(recorder.warnings.contains { $0.code == .taskCycle })
      }
    }
  }
}
