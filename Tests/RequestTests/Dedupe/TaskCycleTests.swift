import OperationCore
import OperationDedupe
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Queries that fetch each other in tasks that they make.
@Suite(.bounded, .warningsAreIssues)
struct TaskCycleTests {
  @Test(arguments: [1, 2, 3])
  func `Queries that fetch each other in tasks that they make and await fail, and the cycle is reported`(
    length: Int
  ) async throws {
    let stores = Mutex<[IntStore]>([])
    defer { stores.withLock { $0 = [] } }
    for number in 0..<length {
      let query = QueryOperation<Int, any Error>("maker \(number)") { _ in
        let next = stores.withLock { $0[(number + 1) % length] }
        return try await Task { try await next.fetch() }.value
      }
      stores.withLock { $0.append(IntStore.detached(query: query.deduplicated())) }
    }
    let recorder = WarningRecorder()
    let error = await recorder.recording {
      await #expect(throws: OperationCycleError.self) {
        try await withTimeLimit("a cycle to fail") { try await stores.withLock { $0[0] }.fetch() }
      }
    }
    expect(Set(recorder.warnings.map(\.code)), equals: [.taskCycle])
    expect(error.map { Set($0.operationNames) }, equals: Set((0..<length).map { "maker \($0)" }))
  }

  /// How the query of a ``Maker`` waits for its task.
  enum Awaiting: CaseIterable {
    case value, child, nested
  }

  @Test(arguments: Awaiting.allCases)
  func `A query that awaits a task only after the cycle has closed fails`(_ awaiting: Awaiting) async throws {
    let maker = Maker()
    defer { maker.end() }
    let gate = Gate()
    maker.wait = { task in
      try await gate.wait()
      switch awaiting {
      case .value: return try await task.value
      case .child:
        async let value = task.value
        return try await value
      case .nested: return try await Task { try await task.value }.value
      }
    }
    let recorder = WarningRecorder()
    _ = await recorder.recording {
      await #expect(throws: OperationCycleError.self) {
        try await withTimeLimit("a cycle to fail") {
          async let value = maker.store.fetch()
          // The wait is suspected: nothing awaits the task yet.
          try await maker.clock.sleepers(count: 1)
          gate.open()
          return try await value
        }
      }
    }
    expect(recorder.warnings.map(\.code), equals: [.taskCycle])
    expect(maker.clock.sleeperCount(), equals: 0)
  }

  @Test
  func `A cycle through a task whose end is told by other means is reported after ten seconds`() async throws {
    let maker = Maker()
    defer { maker.end() }
    let made = Box<Task<Int, any Error>?>(nil)
    maker.wait = { task in
      made.value = task
      return try await withCheckedThrowingContinuation { continuation in
        Task.detached { continuation.resume(with: await task.result) }
      }
    }
    let recorder = WarningRecorder()
    try await recorder.recording {
      let fetch = Task { try await maker.store.fetch() }
      try await maker.clock.sleepers(count: 1)
      maker.clock.advance(by: .seconds(9))
      #expect(recorder.warnings.isEmpty)
      maker.clock.advance(by: .seconds(1))
      made.value?.cancel()
      await #expect(throws: CancellationError.self) { try await fetch.finished() }
    }
    expect(recorder.warnings.map(\.code), equals: [.taskCycle])
    let message = try #require(recorder.warnings.first?.message)
    #expect(message.contains("A task that maker has made has waited for 10 seconds"))
    #expect(message.contains("other → maker → other"))
  }

  @Test
  func `A task of a run that only waits for others, and is awaited, closes no cycle`() async throws {
    let other = IntStore.detached(query: QueryOperation("other") { _ in 7 }.deduplicated())
    let query = QueryOperation("maker") { _ in try await Task { try await other.fetch() }.value }
    try await expect(IntStore.detached(query: query.deduplicated()).fetch(), equals: 7)
  }
}

/// A query that makes a task, which fetches another query, which fetches the first.
private final class Maker: Sendable {
  typealias Wait = @Sendable (Task<Int, any Error>) async throws -> Int

  let clock = ManualClock()
  private let stores = Mutex<[IntStore]>([])
  private let storedWait = Mutex<Wait?>(nil)

  init() {
    let maker = QueryOperation<Int, any Error>("maker") { [weak self] _ in
      guard let self, let wait = self.wait else { return 0 }
      let other = self.stores.withLock { $0[1] }
      return try await wait(Task { try await other.fetch() })
    }
    let other = QueryOperation<Int, any Error>("other") { [weak self] _ in try await self?.store.fetch() ?? 0 }
    let queries = [maker, other]
    self.stores.withLock { stores in
      stores = queries.map { IntStore.detached(query: $0.deduplicated().manualTime(self.clock)) }
    }
  }

  var store: IntStore { self.stores.withLock { $0[0] } }

  var wait: Wait? {
    get { self.storedWait.withLock { $0 } }
    set { self.storedWait.withLock { $0 = newValue } }
  }

  func end() {
    self.wait = nil
    self.stores.withLock { $0 = [] }
  }
}
