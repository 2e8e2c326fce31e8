import OperationCore
import OperationDedupe
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// In a store, the store decides who shares a run, and the run has one task.
@Suite(.bounded, .warningsAreIssues)
struct SharingInStoresTests {
  private let script = IntScript(endsOnCancellation: false)
  private let record = TaskRecord()

  @Test
  func `A run in a store uses one task`() async throws {
    let inner = TaskRecord()
    let store = IntStore.detached(
      query: ConstantQuery().recorded(by: inner).deduplicated().recorded(by: self.record)
    )
    try await expect(store.fetch(), equals: 1)
    expect(inner.begun, equals: self.record.begun)
    expect(inner.begun.count, equals: 1)
  }

  @Test
  func `A run in a store on an actor uses one task`() async throws {
    let inner = TaskRecord()
    let query = ConstantQuery().recorded(by: inner).deduplicated()
    let store = IntStore.detached(query: query.onActor(OtherActor()).recorded(by: self.record))
    try await expect(store.fetch(), equals: 1)
    expect(inner.begun, equals: self.record.begun)
    expect(inner.begun.count, equals: 1)
  }

  @Test
  func `Each attempt outside of the deduplication uses the task of the run`() async throws {
    let inner = TaskRecord()
    let query = self.script.query().recorded(by: inner).deduplicated().twice().recorded(by: self.record)
    let store = IntStore.detached(query: query)
    let fetch = Task.immediate { try await store.fetch() }
    try await self.script.next().succeed(1)
    try await self.script.next().succeed(2)
    try await expect(fetch.finished(), equals: 2)
    expect(inner.begun, equals: self.record.begun + self.record.begun)
  }

  @Test
  func `Stores share runs neither with each other nor with runners`() async throws {
    let query = self.script.query().deduplicated()
    let stores = [IntStore.detached(query: query), IntStore.detached(query: query)]
    var fetches: [Task<Int, any Error>] = []
    for store in stores {
      for _ in 0..<2 { fetches.append(Task.immediate { try await store.fetch() }) }
    }
    for _ in 0..<2 { fetches.append(Task.immediate { try await OperationRunner(operation: query).run() }) }
    for number in 1...3 { try await self.script.next().succeed(number) }
    var values: [Int] = []
    for fetch in fetches { values.append(try await fetch.finished()) }
    expect(values, equals: [1, 1, 2, 2, 3, 3])
    expect(self.script.runCount, equals: 3)
  }

  @Test
  func `Tasks of one store that run at once share the work of the first`() async throws {
    let store = IntStore.detached(query: self.script.query().deduplicated())
    let tasks = (0..<3).map { _ in store.fetchTask() }
    let callers = tasks.map { task in Task.immediate { try await task.runIfNeeded() } }
    let run = try await self.script.next()
    run.yield(1)
    expect(store.currentValue, equals: 1)
    run.succeed(2)
    for caller in callers { try await expect(caller.finished(), equals: 2) }
    for task in tasks { #expect(task.isFinished) }
    #expect(!store.isLoading)
    expect(self.script.runCount, equals: 1)
  }

  @Test
  func `A task does the work itself when the task whose work it shares is cancelled`() async throws {
    let store = IntStore.detached(query: self.script.query().deduplicated())
    let (first, second) = (store.fetchTask(), store.fetchTask())
    let leader = Task.immediate { try await first.runIfNeeded() }
    let cancelled = try await self.script.next()
    let follower = Task.immediate { try await second.runIfNeeded() }
    first.cancel()
    await #expect(throws: CancellationError.self) { try await leader.finished() }
    try await cancelled.cancelled()
    let run = try await self.script.next()
    cancelled.succeed(1)
    run.succeed(2)
    try await expect(follower.finished(), equals: 2)
    expect(store.currentValue, equals: 2)
  }

  @Test
  func `Tasks, callers and subscribers that begin and leave at any time share runs`() async throws {
    for seed in 0..<60 {
      var random = SeededGenerator(seed: UInt64(seed))
      let script = IntScript(default: .suspend)
      let store = IntStore.detached(
        query: script.query().deduplicated().enableAutomaticRunning(onlyWhen: .always(true))
      )
      var callers: [Task<Int, any Error>] = []
      var subscriptions: [OperationSubscription] = []
      for _ in 0..<20 {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: callers.append(Task { try await store.fetch() })
        case 1: callers.append(Task.immediate { try await store.fetch() })
        case 2:
          let task = store.fetchTask()
          callers.append(Task { try await task.runIfNeeded() })
        case 3: subscriptions.append(store.subscribe(with: OperationEventHandler()))
        case 4: callers.randomElement(using: &random)?.cancel()
        default: subscriptions.randomElement(using: &random)?.cancel()
        }
      }
      // One caller stays, so that there is a run to end.
      callers.append(Task { try await store.fetch() })
      let ending = Task {
        while true { try await script.next().succeed(1) }
      }
      for caller in callers {
        do { try await expect(caller.finished(), equals: 1) } catch { #expect(error is CancellationError) }
      }
      for subscription in subscriptions { subscription.cancel() }
      ending.cancel()
      _ = await ending.result
    }
  }

  @Test
  func `A caller that is cancelled while awaiting a task leaves at once`() async throws {
    let store = IntStore.detached(query: self.script.query().deduplicated())
    let task = store.fetchTask()
    let leader = Task.immediate { try await task.runIfNeeded() }
    let run = try await self.script.next()
    let follower = Task.immediate { try await task.runIfNeeded() }
    leader.cancel()
    await #expect(throws: CancellationError.self) { try await leader.finished() }
    #expect(!run.isCancelled)
    run.succeed(3)
    try await expect(follower.finished(), equals: 3)
  }

  @Test
  func `A body that does not end when it is cancelled delays no caller`() async throws {
    let client = OperationClient()
    let store = client.store(for: self.script.query(path: ["q"]).deduplicated())
    let task = store.fetchTask()
    let caller = Task.immediate { try await task.runIfNeeded() }
    let run = try await self.script.next()
    caller.cancel()
    await #expect(throws: CancellationError.self) { try await caller.finished() }
    #expect(run.isCancelled)
    #expect(store.status.isIdle)
    #expect(!store.isLoading)
    // The client waits for the work.
    let cancelling = Task.immediate { await client.cancel(matching: []) }
    run.succeed(3)
    try await withTimeLimit("the client to cancel its runs") { await cancelling.value }
    #expect(task.isFinished)
    expect(store.currentValue, equals: nil)
  }

  @Test
  func `A store whose callers have left runs again, while the work of the first run goes on`() async throws {
    let store = IntStore.detached(query: self.script.query().deduplicated())
    let first = Task.immediate { try await store.fetch() }
    let left = try await self.script.next()
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.finished() }
    let second = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    left.yield(1)
    left.succeed(2)
    run.succeed(3)
    try await expect(second.finished(), equals: 3)
    expect(store.currentValue, equals: 3)
    expect(store.valueUpdateCount, equals: 1)
  }

  @Test
  func `Callers share a run whose operation is deduplicated in a child task`() async throws {
    let store = IntStore.detached(query: self.script.query().deduplicated().inChildTask())
    let leader = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    let follower = Task.immediate { try await store.fetch() }
    leader.cancel()
    await #expect(throws: CancellationError.self) { try await leader.finished() }
    #expect(!run.isCancelled)
    run.succeed(3)
    try await expect(follower.finished(), equals: 3)
    expect(self.script.runCount, equals: 1)
  }

  @Test
  func `Of two deduplications in one operation, the inner one decides`() async throws {
    let query = self.script.query().deduplicated().deduplicated { _, _ in false }
    let store = IntStore.detached(query: query)
    let fetches = [
      Task.immediate { try await store.fetch() }, Task.immediate { try await store.fetch() },
      Task.immediate { try await OperationRunner(operation: query).run() },
      Task.immediate { try await OperationRunner(operation: query).run() },
    ]
    for number in 1...2 { try await self.script.next().succeed(number) }
    var values: [Int] = []
    for fetch in fetches { values.append(try await fetch.finished()) }
    expect(values, equals: [1, 1, 2, 2])
  }

  @Test
  func `Two attempts at once outside of the deduplication both run`() async throws {
    let store = IntStore.detached(query: self.script.query().deduplicated().twiceAtOnce())
    let fetch = Task.immediate { try await store.fetch() }
    let runs = [try await self.script.next(), try await self.script.next()]
    for run in runs { run.succeed(4) }
    try await expect(fetch.finished(), equals: 8)
  }

  @Test
  func `Runners share a run, also with the context of an ended run of a store`() async throws {
    let contexts = Mutex<[OperationContext]>([])
    let query = self.script.query().reading { context in contexts.withLock { $0.append(context) } }.deduplicated()
    let store = IntStore.detached(query: query)
    let fetch = Task.immediate { try await store.fetch() }
    try await self.script.next().succeed(1)
    try await expect(fetch.finished(), equals: 1)
    let context = try #require(contexts.withLock { $0.first })
    let callers = [
      Task.immediate { try await OperationRunner(operation: query).run(in: context) },
      Task.immediate { try await OperationRunner(operation: query, initialContext: context).run() },
    ]
    try await self.script.next().succeed(2)
    for caller in callers { try await expect(caller.finished(), equals: 2) }
    expect(self.script.runCount, equals: 2)
  }

  @Test(arguments: [true, false])
  func `The body is cancelled when all callers have left, in either order`(_ isLeaderFirst: Bool) async throws {
    let store = IntStore.detached(query: self.script.query().deduplicated())
    let leader = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    let follower = Task.immediate { try await store.fetch() }
    for caller in isLeaderFirst ? [leader, follower] : [follower, leader] {
      #expect(!run.isCancelled)
      caller.cancel()
      await #expect(throws: CancellationError.self) { try await caller.finished() }
    }
    try await run.cancelled()
    run.succeed(1)
    expect(store.currentValue, equals: nil)
  }
}

/// Records the tasks in which a body runs.
private final class TaskRecord: Sendable {
  private let tasks = Log<Int>()

  var begun: [Int] { self.tasks.all }

  func noteBegin() { self.tasks.append(withUnsafeCurrentTask { $0?.hashValue ?? 0 }) }
}

private struct ConstantQuery: QueryRequest, Hashable {
  typealias State = IntState

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    1
  }
}

private actor OtherActor {}

private struct OnActor<Operation: OperationRequest & Sendable>: OperationModifier where Operation.Value: Sendable {
  let actor: any Actor

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    try await operation.run(isolation: self.actor, in: context, with: continuation)
  }
}

/// Runs an operation through a closure.
private struct ClosureModifier<Operation: OperationRequest & Sendable>: OperationModifier
where Operation.Value: Sendable, Operation.Failure == any Error {
  typealias Run = @Sendable () async throws -> Operation.Value

  let body: @Sendable (OperationContext, Run) async throws -> Operation.Value

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, any Error>
  ) async throws -> Operation.Value {
    try await self.body(context) { try await operation.run(isolation: nil, in: context, with: continuation) }
  }
}

extension QueryRequest where Self: Sendable, Value: Sendable, Failure == any Error {
  fileprivate func recorded(by record: TaskRecord) -> ModifiedOperation<Self, ClosureModifier<Self>> {
    self.modifier(
      ClosureModifier { _, run in
        record.noteBegin()
        return try await run()
      }
    )
  }

  fileprivate func onActor(_ actor: any Actor) -> ModifiedOperation<Self, OnActor<Self>> {
    self.modifier(OnActor(actor: actor))
  }

  /// Runs once more after the first run has succeeded.
  fileprivate func twice() -> ModifiedOperation<Self, ClosureModifier<Self>> {
    self.modifier(
      ClosureModifier { _, run in
        _ = try await run()
        return try await run()
      }
    )
  }

  fileprivate func inChildTask() -> ModifiedOperation<Self, ClosureModifier<Self>> {
    self.modifier(
      ClosureModifier { _, run in
        async let value = run()
        return try await value
      }
    )
  }

  /// Runs twice at once. The value is the sum.
  fileprivate func twiceAtOnce() -> ModifiedOperation<Self, ClosureModifier<Self>> where Value == Int {
    self.modifier(
      ClosureModifier { _, run in
        async let first = run()
        async let second = run()
        return try await first + second
      }
    )
  }

  fileprivate func reading(
    _ read: @escaping @Sendable (OperationContext) -> Void
  ) -> ModifiedOperation<Self, ClosureModifier<Self>> {
    self.modifier(
      ClosureModifier { context, run in
        read(context)
        return try await run()
      }
    )
  }
}
