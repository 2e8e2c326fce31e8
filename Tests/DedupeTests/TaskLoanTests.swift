import OperationCore
import OperationDedupe
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// A deduplicated run uses the task of the store's run. Callers see no difference, also when they are cancelled.
@Suite(.timeLimit(.minutes(10)), .warningsAreIssues)
struct TaskLoanTests {
  private let script = IntScript(endsOnCancellation: false)
  private let record = TaskRecord()

  @Test
  func `A run in a store uses one task`() async throws {
    let inner = TaskRecord()
    let store = IntStore.detached(
      query: ConstantQuery().recorded(by: inner).deduplicated().recorded(by: self.record)
    )
    #expect(try await store.fetch() == 1)
    #expect(inner.begun == self.record.begun)
    #expect(inner.begun.count == 1)
  }

  @Test
  func `A run continues for others when the store that lent its task has left`() async throws {
    let query = self.script.query().deduplicated()
    let store = IntStore.detached(query: query.recorded(by: self.record))
    let other = IntStore.detached(query: query)
    let leader = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    let followers = [
      Task.immediate { try await other.fetch() }, Task.immediate { try await OperationRunner(operation: query).run() },
    ]
    leader.cancel()
    await #expect(throws: CancellationError.self) { try await leader.finished() }
    #expect(!run.isCancelled)
    #expect(!store.isLoading)
    #expect(other.isLoading)
    run.yield(2)
    #expect(store.currentValue == nil)
    #expect(other.currentValue == 2)
    run.succeed(3)
    for follower in followers { #expect(try await follower.finished() == 3) }
    #expect(other.currentValue == 3)
    #expect(store.currentValue == nil)
    #expect(store.status.isIdle)
    try await self.record.ended.wait()
    #expect(self.record.endings == ["CancellationError(), cancelled"])
    #expect(self.script.runCount == 1)
  }

  @Test
  func `The run ends for a store that has left, while others wait for it`() async throws {
    let query = self.script.query(path: ["q"]).deduplicated()
    let client = OperationClient()
    let store = client.store(for: query)
    let task = store.fetchTask()
    let next = OperationTask<Int, any Error> { _, _ in 7 }
    next.schedule(after: task)
    let leader = Task.immediate { try await task.runIfNeeded() }
    let run = try await self.script.next()
    let follower = Task.immediate { try await IntStore.detached(query: query).fetch() }
    let events = Log<String>()
    let subscription = store.subscribe(
      with: OperationEventHandler(onRunEnded: { _ in events.append("ended") })
    )
    try await withTimeLimit("the client to cancel its runs") { await client.cancel(matching: []) }
    #expect(events.all == ["ended"])
    await #expect(throws: CancellationError.self) { try await leader.finished() }
    #expect(try await Task { try await next.runIfNeeded() }.finished() == 7)
    #expect(task.isFinished)
    #expect(!run.isCancelled)
    run.succeed(3)
    #expect(try await follower.finished() == 3)
    #expect(events.all == ["ended"])
    subscription.cancel()
  }

  @Test
  func `A caller that is cancelled while awaiting a task leaves at once`() async throws {
    let query = self.script.query().deduplicated()
    let task = IntStore.detached(query: query).fetchTask()
    let leader = Task.immediate { try await task.runIfNeeded() }
    let run = try await self.script.next()
    let follower = Task.immediate { try await IntStore.detached(query: query).fetch() }
    leader.cancel()
    await #expect(throws: CancellationError.self) { try await leader.finished() }
    run.succeed(3)
    #expect(try await follower.finished() == 3)
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
    try await withTimeLimit("the client to cancel its runs") { await client.cancel(matching: []) }
    #expect(run.isCancelled)
    #expect(task.isFinished)
    #expect(store.status.isIdle)
    run.succeed(3)
    try await self.script.noActiveRuns()
    #expect(store.currentValue == nil)
  }

  @Test
  func `A run on an actor lends no task, because others would wait for the actor`() async throws {
    let inner = TaskRecord()
    let query = ConstantQuery().recorded(by: inner).deduplicated()
    let store = IntStore.detached(query: query.onActor(OtherActor()).recorded(by: self.record))
    #expect(try await store.fetch() == 1)
    #expect(inner.begun.count == 1)
    #expect(inner.begun != self.record.begun)
  }

  @Test
  func `A store that has left can join the run again while others wait`() async throws {
    let query = self.script.query().deduplicated()
    let store = IntStore.detached(query: query)
    let other = IntStore.detached(query: query)
    let leader = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    let follower = Task.immediate { try await other.fetch() }
    leader.cancel()
    await #expect(throws: CancellationError.self) { try await leader.finished() }
    let again = Task.immediate { try await store.fetch() }
    follower.cancel()
    await #expect(throws: CancellationError.self) { try await follower.finished() }
    #expect(!run.isCancelled)
    run.succeed(3)
    #expect(try await again.finished() == 3)
    #expect(store.currentValue == 3)
    #expect(self.script.runCount == 1)
  }

  @Test(arguments: [true, false])
  func `The body is cancelled when the store and the others have left, in either order`(
    _ isStoreFirst: Bool
  ) async throws {
    let query = self.script.query().deduplicated()
    let store = IntStore.detached(query: query)
    let leader = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    let follower = Task.immediate { try await OperationRunner(operation: query).run() }
    for caller in isStoreFirst ? [leader, follower] : [follower, leader] {
      #expect(!run.isCancelled)
      caller.cancel()
      await #expect(throws: CancellationError.self) { try await caller.finished() }
    }
    try await run.cancelled()
    run.succeed(1)
    #expect(store.currentValue == nil)
  }

  @Test
  func `Modifiers around the deduplication are cancelled when the run has ended`() async throws {
    let query = self.script.query().deduplicated()
    let store = IntStore.detached(query: query.twice().recorded(by: self.record))
    let leader = Task.immediate { try await store.fetch() }
    let first = try await self.script.next()
    let follower = Task.immediate { try await OperationRunner(operation: query).run() }
    first.yield(7)
    leader.cancel()
    first.succeed(1)
    #expect(try await follower.finished() == 1)
    try await self.record.ended.wait()
    #expect(self.record.endings == ["CancellationError(), cancelled"])
    #expect(self.script.runCount == 1)
  }

  @Test
  func `Each attempt outside of the deduplication borrows the task again`() async throws {
    let inner = TaskRecord()
    let query = self.script.query().recorded(by: inner).deduplicated().twice().recorded(by: self.record)
    let store = IntStore.detached(query: query)
    let leader = Task.immediate { try await store.fetch() }
    try await self.script.next().succeed(1)
    let second = try await self.script.next()
    #expect(inner.begun == self.record.begun + self.record.begun)
    leader.cancel()
    try await second.cancelled()
    second.succeed(2)
    try await self.record.ended.wait()
  }

  @Test
  func `A child task lends no task`() async throws {
    let query = self.script.query().deduplicated()
    let store = IntStore.detached(query: query.inChildTask())
    let leader = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    let follower = Task.immediate { try await OperationRunner(operation: query).run() }
    leader.cancel()
    await #expect(throws: CancellationError.self) { try await leader.finished() }
    #expect(!run.isCancelled)
    run.succeed(3)
    #expect(try await follower.finished() == 3)
  }

  @Test
  func `A cancelled task is not lent`() async throws {
    let store = IntStore.detached(query: self.script.query().deduplicated().cancellingItself())
    let caller = Task { try await store.fetch() }
    await #expect(throws: CancellationError.self) { try await caller.finished() }
    #expect(self.script.runCount == 0)
  }

  @Test
  func `Two deduplications in one task use the task one after the other`() async throws {
    let inner = IntScript(endsOnCancellation: false)
    let innerQuery = inner.query().deduplicated()
    let store = IntStore.detached(query: innerQuery.deduplicated())
    let leader = Task.immediate { try await store.fetch() }
    let run = try await inner.next()
    let follower = Task.immediate { try await OperationRunner(operation: innerQuery).run() }
    leader.cancel()
    await #expect(throws: CancellationError.self) { try await leader.finished() }
    #expect(!run.isCancelled)
    run.succeed(3)
    #expect(try await follower.finished() == 3)
  }

  @Test
  func `The context of an ended run, or of another task, lends no task`() async throws {
    let contexts = Mutex<[OperationContext]>([])
    let store = IntStore.detached(
      query: ConstantQuery().deduplicated().reading { context in contexts.withLock { $0.append(context) } }
    )
    _ = try await store.fetch()
    let context = try #require(contexts.withLock { $0.first })
    let query = self.script.query().deduplicated()
    let caller = Task.immediate { try await OperationRunner(operation: query).run(in: context) }
    let run = try await self.script.next()
    let follower = Task.immediate { try await OperationRunner(operation: query).run() }
    caller.cancel()
    await #expect(throws: CancellationError.self) { try await caller.finished() }
    #expect(!run.isCancelled)
    run.succeed(2)
    #expect(try await follower.finished() == 2)
  }

  @Test
  func `A follower gets the value whenever the store leaves`() async throws {
    for _ in 0..<200 {
      let script = IntScript(default: .suspend, endsOnCancellation: false)
      let query = script.query().deduplicated()
      let store = IntStore.detached(query: query)
      let leader = Task { try await store.fetch() }
      let run = try await script.next()
      let follower = Task.immediate { try await OperationRunner(operation: query).run() }
      await withTaskGroup { group in
        group.addTask { leader.cancel() }
        group.addTask { run.succeed(1) }
      }
      #expect(try await follower.finished() == 1)
      let outcome = await leader.result
      if case .failure(let error) = outcome { #expect(error is CancellationError) }
      #expect(script.runCount == 1)
      #expect(!store.isLoading)
    }
  }
}

/// Records the tasks in which a body runs, and how it ends.
private final class TaskRecord: Sendable {
  private let notes = Mutex<(begun: [Int], endings: [String])>(([], []))
  /// Opened at the first end.
  let ended = Gate()

  var begun: [Int] { self.notes.withLock { $0.begun } }
  var endings: [String] { self.notes.withLock { $0.endings } }

  func noteBegin() {
    let task = withUnsafeCurrentTask { $0?.hashValue ?? 0 }
    self.notes.withLock { $0.begun.append(task) }
  }

  func noteEnd(_ what: Any) {
    let ending = "\(what), \(Task.isCancelled ? "cancelled" : "not cancelled")"
    self.notes.withLock { $0.endings.append(ending) }
    self.ended.open()
  }
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
        do {
          let value = try await run()
          record.noteEnd(value)
          return value
        } catch {
          record.noteEnd(error)
          throw error
        }
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

  fileprivate func cancellingItself() -> ModifiedOperation<Self, ClosureModifier<Self>> {
    self.modifier(
      ClosureModifier { _, run in
        withUnsafeCurrentTask { $0?.cancel() }
        return try await run()
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
