import OperationCore
import OperationHooks
import OperationTesting
import Synchronization
import Testing

/// A queue of an author's own, whose cycles are found.
@Suite(.timeLimit(.minutes(10)), .warningsAreIssues)
struct TurnstileTests {
  private let turnstile = Turnstile("the turnstile")
  private let gate = Gate()

  private func store(
    _ number: Int,
    _ body: @escaping @Sendable () async throws -> Void = {}
  ) -> OperationStore<QueryState<Int, any Error>> {
    let query = QueryOperation<Int, any Error>("passer", number) { _ in
      try await body()
      return number
    }
    return .detached(query: query.queued(at: self.turnstile))
  }

  @Test
  func `Runs pass one at a time, in the order of the calls`() async throws {
    let gate = self.gate
    let first = self.store(0) { try await gate.wait() }
    let log = Mutex<[Int]>([])
    let others = (1...5).map { number in self.store(number) { log.withLock { $0.append(number) } } }
    let calls = ([first] + others).map { store in Task.immediate { try await store.fetch() } }
    #expect(self.turnstile.count == 6)
    #expect(log.withLock { $0 } == [])
    gate.open()
    for call in calls { _ = try await call.value }
    #expect(log.withLock { $0 } == [1, 2, 3, 4, 5])
    #expect(self.turnstile.count == 0)
  }

  @Test
  func `A run that is cancelled while it waits gives its place up`() async throws {
    let gate = self.gate
    let (first, second, third) = (self.store(0) { try await gate.wait() }, self.store(1), self.store(2))
    let calls = [first, second, third].map { store in Task.immediate { try await store.fetch() } }
    calls[1].cancel()
    await #expect(throws: CancellationError.self) { try await calls[1].value }
    #expect(self.turnstile.count == 2)
    gate.open()
    #expect(try await calls[2].value == 2)
    #expect(try await calls[0].value == 0)
    #expect(self.turnstile.count == 0)
  }

  @Test
  func `A run that is cancelled after it has got the turn keeps the turn until it leaves`() async throws {
    let executor = HeldExecutor()
    let (gate, isInside, mayLeave) = (self.gate, Gate(), Gate())
    let inside = Mutex((now: 0, most: 0))
    @Sendable func enter() { inside.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) } }
    let first = self.store(0) { try await gate.wait() }
    let query = QueryOperation<Int, any Error>("passer", 1) { _ in
      enter()
      defer { inside.withLock { $0.now -= 1 } }
      isInside.open()
      // Not in this task, which is cancelled.
      await Task { try? await mayLeave.wait() }.value
      return 1
    }
    let second = OperationStore.detached(
      query: query.queued(at: self.turnstile).context { $0.operationTaskConfiguration.executorPreference = executor }
    )
    let third = self.store(2) {
      enter()
      inside.withLock { $0.now -= 1 }
    }
    let calls = [first, second].map { store in Task.immediate { try await store.fetch() } }
    await executor.idle()
    let last = Task.immediate { try await third.fetch() }
    executor.hold()
    gate.open()
    #expect(try await calls[0].value == 0)
    // It has the turn, and does not go on yet.
    calls[1].cancel()
    #expect(self.turnstile.count == 2)
    executor.release()
    try await isInside.wait()
    #expect(self.turnstile.count == 2)
    mayLeave.open()
    #expect(try await last.value == 2)
    await executor.idle()
    _ = await calls[1].result
    #expect(inside.withLock { $0.most } == 1)
    #expect(self.turnstile.count == 0)
  }

  @Test
  func `A run that waits outside of the turnstile takes no place`() async throws {
    let outer = QueryOperation<Int, any Error>("gated") { _ in 0 }.queued(at: self.turnstile)
    let first = OperationStore.detached(query: outer.modifier(Gated(gate: self.gate)))
    let waiting = Task.immediate { try await first.fetch() }
    try #require(self.turnstile.count == 0)
    #expect(try await self.store(1).fetch() == 1)
    self.gate.open()
    #expect(try await waiting.value == 0)
    #expect(self.turnstile.count == 0)
  }

  @Test
  func `A run that waits for itself fails, and its cycle is reported`() async throws {
    let inner = self.store(1)
    let outer = self.store(0) { _ = try await inner.fetch() }
    let cycle = await expectWarning(.taskCycle) {
      await #expect(throws: OperationCycleError.self) { try await outer.fetch() }
    }
    #expect(cycle?.operationNames.first == "the turnstile")
    #expect(cycle?.operationNames.last == "the turnstile")
    #expect(self.turnstile.count == 0)
    // Nothing is left of it.
    #expect(try await inner.fetch() == 1)
  }

  @Test
  func `It keeps the rules of queues`() async throws {
    try await checkWaitNode { work in
      let turnstile = Turnstile("the turnstile")
      return (turnstile, QueryOperation("passer", body: work).queued(at: turnstile))
    }
  }

  @Test
  func `It keeps the rules of modifiers but one, as its runs wait for each other`() async throws {
    try await checkModifier(except: [.independence]) { $0.queued(at: Turnstile("the turnstile")) }
  }
}

/// A modifier whose runs wait.
private struct Gated<Operation: OperationRequest>: OperationModifier where Operation.Failure == any Error {
  let gate: Gate

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws -> Operation.Value {
    try await self.gate.wait()
    return try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}

/// Runs its jobs on the default executor, and holds them back on request.
private final class HeldExecutor: TaskExecutor {
  private struct State {
    var isHeld = false
    var held: [UnownedJob] = []
    var running = 0
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isHeld = self.state.withLock { state in
      if state.isHeld { state.held.append(job) } else { state.running += 1 }
      return state.isHeld
    }
    if !isHeld { self.run(job) }
  }

  func hold() { self.state.withLock { $0.isHeld = true } }

  func release() {
    let held = self.state.withLock { state in
      state.isHeld = false
      state.running += state.held.count
      defer { state.held = [] }
      return state.held
    }
    for job in held { self.run(job) }
  }

  /// Waits until no job runs: what has run on the executor is suspended.
  func idle() async {
    await withCheckedContinuation { waiter in
      let isIdle = self.state.withLock { state in
        if state.running > 0 { state.waiters.append(waiter) }
        return state.running == 0
      }
      if isIdle { waiter.resume() }
    }
  }

  private func run(_ job: UnownedJob) {
    let executor = self.asUnownedTaskExecutor()
    Task.detached {
      job.runSynchronously(on: executor)
      let waiters = self.state.withLock { state in
        state.running -= 1
        defer { if state.running == 0 { state.waiters = [] } }
        return state.running == 0 ? state.waiters : []
      }
      for waiter in waiters { waiter.resume() }
    }
  }
}
