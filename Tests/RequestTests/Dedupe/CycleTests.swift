import OperationCore
import OperationDedupe
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Queries that fetch each other, and the actors that they run on.
@Suite(.bounded, .warningsAreIssues)
struct CycleTests {
  private let client = OperationClient()

  @Test(arguments: [1, 2, 3])
  func `Queries that fetch each other in a cycle fail, and the cycle is reported with their names`(
    length: Int
  ) async throws {
    let names = (1...length).map { "Fetching \($0)" }
    let queries = Queries(client: self.client, length: length)
    let recorder = WarningRecorder()
    let error = await recorder.recording {
      await #expect(throws: OperationCycleError.self) {
        try await withTimeLimit("a cycle to fail") { try await queries.store(1).fetch() }
      }
    }
    expect(recorder.warnings.map(\.code), equals: [.taskCycle])
    expect(error?.operationNames, equals: names + [names[0]])
    for name in names { expect(recorder.warnings.first?.message.contains(name), equals: true) }
  }

  @Test(arguments: [1, 2, 3], [true, false])
  func `Queries that fetch each other in child tasks fail, and the cycle is reported`(
    length: Int,
    usesGroup: Bool
  ) async throws {
    let stores = Mutex<[IntStore]>([])
    defer { stores.withLock { $0 = [] } }
    let other = IntStore.detached(query: QueryOperation("other") { _ in 7 }.deduplicated())
    for number in 0..<length {
      let query = QueryOperation<Int, any Error>("child \(number)") { _ in
        let next = stores.withLock { $0[(number + 1) % length] }
        if usesGroup {
          return try await withThrowingTaskGroup { group in
            group.addTask { try await other.fetch() }
            group.addTask { try await next.fetch() }
            group.addTask { try await other.fetch() }
            return try await group.reduce(0, +)
          }
        }
        async let first = other.fetch()
        async let value = next.fetch()
        async let last = other.fetch()
        return try await first + value + last
      }
      stores.withLock { $0.append(IntStore.detached(query: query.deduplicated())) }
    }
    let recorder = WarningRecorder()
    let error = await recorder.recording {
      await #expect(throws: OperationCycleError.self) {
        try await withTimeLimit("a cycle to fail") { try await stores.withLock { $0[0] }.fetch() }
      }
    }
    expect(recorder.warnings.map(\.code), equals: [.taskCycle])
    expect(error.map { Set($0.operationNames) }, equals: Set((0..<length).map { "child \($0)" }))
  }

  @Test
  func `A task that a body makes and does not await may fetch the query itself`() async throws {
    let itself = Mutex<IntStore?>(nil)
    let inner = Mutex<Task<Int, any Error>?>(nil)
    let (began, gate) = (Gate(), Gate())
    let query = QueryOperation<Int, any Error>("detaches") { _ in
      let store = itself.withLock { $0 }
      let task = Task {
        // A child of a task that nobody waits for.
        async let value = store?.fetch() ?? 0
        began.open()
        return try await value
      }
      inner.withLock { $0 = task }
      try await gate.wait()
      return 1
    }
    let store = IntStore.detached(query: query.deduplicated())
    itself.withLock { $0 = store }
    defer { itself.withLock { $0 = nil } }
    let fetch = Task { try await store.fetch() }
    try await began.wait()
    gate.open()
    try await expect(fetch.value, equals: 1)
    let task = try #require(inner.withLock { $0 })
    try await expect(task.value, equals: 1)
  }

  @Test
  func `A query that cannot fail and fetches itself has a run of its own, which is reported once`() async throws {
    let query = SelfFetchingQuery(client: self.client, fetchesItself: Atomic(true)).deduplicated()
    let recorder = WarningRecorder()
    let value = await recorder.recording {
      try? await withTimeLimit("the query to end") { await self.client.store(for: query).fetch() }
    }
    expect(value, equals: 2)
    expect(recorder.warnings.map(\.code), equals: [.taskCycle])
  }

  @Test(arguments: [true, false])
  func `A query that runs itself with the context of its run fails`(_ hasRunner: Bool) async throws {
    let query = SelfRunningQuery(hasRunner: hasRunner)
    let deduplicated = query.deduplicated()
    query.itself.withLock { $0 = deduplicated }
    defer { query.itself.withLock { $0 = nil } }
    let recorder = WarningRecorder()
    _ = await recorder.recording {
      await #expect(throws: OperationCycleError.self) {
        try await withTimeLimit("the query to end") { try await IntStore.detached(query: deduplicated).fetch() }
      }
    }
    expect(recorder.warnings.map(\.code), equals: [.taskCycle])
  }

  @Test
  func `A query that awaits a task of its own store fails`() async throws {
    let itself = Mutex<IntStore?>(nil)
    let store = IntStore.detached(
      query: QueryOperation("awaits itself") { _ in
        guard let store = itself.withLock({ $0 }) else { return 1 }
        return try await store.fetchTask().runIfNeeded()
      }.deduplicated()
    )
    itself.withLock { $0 = store }
    defer { itself.withLock { $0 = nil } }
    let recorder = WarningRecorder()
    _ = await recorder.recording {
      await #expect(throws: OperationCycleError.self) {
        try await withTimeLimit("the query to end") { try await store.fetch() }
      }
    }
    expect(recorder.warnings.map(\.code), equals: [.taskCycle])
  }

  @Test
  func `Two queries that are fetched at once and fetch each other end`() async throws {
    for _ in 0..<200 {
      let queries = Queries(client: OperationClient(), length: 2)
      let recorder = WarningRecorder()
      let tasks = recorder.recording {
        [1, 2].map { number in Task { try await queries.store(number).fetch() } }
      }
      for task in tasks {
        await #expect(throws: OperationCycleError.self) { try await task.finished() }
      }
    }
  }

  @Test
  func `A task that the body creates, and does not await, joins the run`() async throws {
    let script = IntScript()
    let made = Mutex<Task<Int, any Error>?>(nil)
    let joined = Gate()
    let client = self.client
    let query = script.query(path: ["made"]).deduplicated().handleEvents(
      with: QueryEventHandler<IntState>(onResultReceived: { _, context in
        guard context.operationResultUpdateReason == .yieldedResult else { return }
        guard let store = client.stores(matching: ["made"], of: IntState.self).first else { return }
        // A handler that joins receives the start at once.
        let handler = QueryEventHandler<IntState>(onFetchingStarted: { _ in joined.open() })
        made.withLock { $0 = Task { try await store.fetch(handler: handler) } }
      })
    )
    let store = client.store(for: query)
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await script.next()
    run.yield(1)
    let task = try #require(made.withLock { $0 })
    try await joined.wait()
    run.succeed(2)
    try await expect(task.finished(), equals: 2)
    try await expect(fetch.finished(), equals: 2)
    expect(script.runCount, equals: 1)
  }

  @Test
  func `A run does not join one that was scheduled after it`() async throws {
    let script = IntScript(default: .value(2))
    let store = IntStore.detached(query: script.query().deduplicated())
    let later = store.fetchTask()
    let laterIsThere = Gate()
    let earlier = OperationTask<Int, any Error> { _, _ in
      try await laterIsThere.wait()
      return try await store.fetch()
    }
    later.schedule(after: earlier)
    let laterRun = Task.immediate { try await later.runIfNeeded() }
    let earlierRun = Task.immediate { try await earlier.runIfNeeded() }
    #expect(store.isLoading)
    laterIsThere.open()
    try await expect(earlierRun.finished(), equals: 2)
    try await expect(laterRun.finished(), equals: 2)
    expect(script.runCount, equals: 2)
  }

  @Test @MainActor
  func `A deduplicated runner keeps its actor`() async throws {
    let runner = OperationRunner(operation: IsolationQuery().deduplicated())
    #expect(try await runner.run() === MainActor.shared)
    #expect(try await runner.run(isolation: nil) == nil)
  }
}

/// Queries of which each fetches the next, and the last one the first.
private struct Queries {
  let client: OperationClient
  let length: Int

  func store(_ number: Int) -> IntStore {
    self.client.store(for: FetchingQuery(queries: self, number: number).deduplicated())
  }
}

private struct FetchingQuery: QueryRequest {
  let queries: Queries
  let number: Int

  var path: OperationPath { ["asking", self.number] }

  var operationName: String { "Fetching \(self.number)" }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    try await self.queries.store(self.number % self.queries.length + 1).fetch()
  }
}

private final class SelfRunningQuery: QueryRequest {
  let hasRunner: Bool
  let itself = Mutex<ModifiedOperation<SelfRunningQuery, Deduplication<SelfRunningQuery>>?>(nil)

  init(hasRunner: Bool) {
    self.hasRunner = hasRunner
  }

  var path: OperationPath { ["running itself"] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    guard let itself = self.itself.withLock({ $0 }) else { return 1 }
    if self.hasRunner { return try await OperationRunner(operation: itself, initialContext: context).run() }
    return try await itself.run(isolation: isolation, in: context, with: continuation)
  }
}

private final class SelfFetchingQuery: QueryRequest {
  typealias State = QueryState<Int, Never>

  let client: OperationClient
  let fetchesItself: Atomic<Bool>

  init(client: OperationClient, fetchesItself: consuming Atomic<Bool>) {
    self.client = client
    self.fetchesItself = fetchesItself
  }

  var path: OperationPath { ["asking itself"] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, Never>
  ) async -> Int {
    guard self.fetchesItself.exchange(false, ordering: .relaxed) else { return 1 }
    return await self.client.store(for: self.deduplicated()).fetch() + 1
  }
}

private struct IsolationQuery: OperationRequest, Sendable {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<(any Actor)?, any Error>
  ) async throws -> (any Actor)? {
    isolation
  }
}
