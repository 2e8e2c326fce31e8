import CoreFixtures
import FoundationEssentials
import OperationCore
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// `state.attempt` and `onAttemptFailed`, with a custom modifier: Core has no retry.
@Suite(.bounded, .warningsAreIssues)
struct AttemptTests {
  private let script = IntScript()
  private let clock = ManualClock(date: Date(timeIntervalSinceReferenceDate: 100))

  private var query: some QueryRequest<Int, any Error> {
    self.script.query().modifier(TryingAgain(limit: 5)).manualTime(self.clock)
  }

  @Test
  func `The state has the attempt, its failure and the date of the next`() async throws {
    let store = OperationStore.detached(query: self.query)
    #expect(store.attempt == nil)
    let fetch = Task { try await store.fetch() }
    let first = try await self.script.next()
    expect(store.attempt?.index, equals: 1)
    #expect(store.attempt?.lastFailure == nil)
    expect(store.attempt?.nextBegins, equals: nil)
    first.fail(Refused(code: 1))
    try await self.clock.sleepers(count: 1)
    expect(store.attempt?.index, equals: 1)
    expect(store.attempt?.lastFailure as? Refused, equals: Refused(code: 1))
    expect(store.attempt?.nextBegins, equals: Date(timeIntervalSinceReferenceDate: 103))
    #expect(store.isLoading && !store.isPaused)
    #expect(store.error == nil && store.errorUpdateCount == 0)
    self.clock.advance(by: .seconds(3))
    let second = try await self.script.next()
    expect(store.attempt?.index, equals: 2)
    expect(store.attempt?.lastFailure as? Refused, equals: Refused(code: 1))
    expect(store.attempt?.nextBegins, equals: nil)
    second.succeed(7)
    try await expect(fetch.finished(), equals: 7)
    #expect(store.attempt == nil)
    expect(store.errorUpdateCount, equals: 0)
  }

  @Test
  func `Handlers receive each failed attempt except the last, after the state with it`() async throws {
    let store = OperationStore.detached(query: self.query)
    let received = Mutex<[String]>([])
    let note: @Sendable (String) -> Void = { text in received.withLock { $0.append(text) } }
    var handler = OperationEventHandler<IntState>(
      onStateChanged: { state, context in
        note(
          "state \(state.attempt.map { "\($0.index)\($0.nextBegins == nil ? "" : "…")" } ?? "-") \(context.operationAttempt)"
        )
      },
      onRunStarted: { note("started \($0.operationAttempt)") },
      onRunEnded: { note("ended \($0.operationAttempt)") },
      onResultReceived: { _, context in note("result \(context.operationAttempt)") }
    )
    handler.onAttemptFailed = { attempt, context in note("failed \(attempt.index) \(context.operationAttempt)") }
    let subscription = store.subscribe(with: handler)
    self.script.enqueue(
      .error(Refused()),
      .yield(.success(1), then: .error(Refused())),
      .error(Refused()),
      .value(3)
    )
    let fetch = Task { try await store.fetch() }
    for _ in 0..<3 {
      try await self.clock.sleepers(count: 1)
      self.clock.advance(by: .seconds(3))
    }
    _ = try await fetch.finished()
    subscription.cancel()
    expect(
      received.withLock { $0 },
      equals: [
        "state - 1", "state 1 1", "started 1", "state 1… 1", "failed 1 1", "state 2 2", "state 2 2", "result 2",
        "state 2… 2", "failed 2 2", "state 3 3", "state 3… 3", "failed 3 3", "state 4 4", "state - 4", "result 4",
        "ended 4",
      ]
    )
  }

  @Test
  func `An operation in which nothing tries again has no attempt`() async throws {
    let store = OperationStore.detached(query: self.script.query())
    let fetch = Task { try await store.fetch() }
    let run = try await self.script.next()
    #expect(store.isLoading && store.attempt == nil)
    run.succeed(1)
    _ = try await fetch.finished()
  }

  @Test
  func `The last failure is the result of the run, and no failed attempt`() async throws {
    let failures = Mutex<[Int]>([])
    let handler = QueryEventHandler<IntState>(
      onAttemptFailed: { attempt, _ in failures.withLock { $0.append(attempt.index) } }
    )
    let query = self.script.query().modifier(TryingAgain(limit: 2)).manualTime(self.clock).handleEvents(with: handler)
    let store = OperationStore.detached(query: query)
    self.script.enqueue(.error(Refused()), .error(Refused()), .error(Refused(code: 9)))
    let fetch = Task { try await store.fetch() }
    for _ in 0..<2 {
      try await self.clock.sleepers(count: 1)
      self.clock.advance(by: .seconds(3))
    }
    await #expect(throws: Refused(code: 9)) { try await fetch.finished() }
    expect(failures.withLock { $0 }, equals: [1, 2])
    #expect(store.attempt == nil)
  }

  enum Ending: CaseIterable { case cancelled, reset, lastSubscriberLeft, storeReleased }

  @Test(arguments: Ending.allCases)
  func `The attempt ends with its run`(_ ending: Ending) async throws {
    var store: OperationStore<IntState>? = .detached(
      query: self.query.enableAutomaticRunning(onlyWhen: .always(ending == .lastSubscriberLeft))
    )
    self.script.enqueue(.yield(.success(3), then: .error(Refused())))
    let recorder = IntRecorder()
    var subscription: OperationSubscription? = store?.subscribe(with: recorder.handler)
    let fetch = ending == .lastSubscriberLeft ? nil : Task { [store] in try await store?.fetch() }
    try await self.clock.sleepers(count: 1)
    expect(store?.attempt?.index, equals: 1)
    expect(store?.currentValue, equals: 3)
    switch ending {
    case .cancelled: fetch?.cancel()
    case .reset: store?.resetState()
    case .lastSubscriberLeft: subscription = nil
    case .storeReleased:
      store = nil
      fetch?.cancel()
    }
    _ = await fetch?.result
    try await self.clock.noSleepers()
    if let store {
      await store.settled()
      #expect(store.attempt == nil)
      expect(StateFacts(store.state), equals: StateFacts(IntState()))
    }
    _ = subscription
  }

  @Test
  func `States with a default, opaque states, stores and snapshots have the attempt`() async throws {
    let client = OperationClient()
    let operation = self.query.defaultValue(5)
    let store = client.store(for: operation)
    let failures = Mutex<[Int]>([])
    let failed = Gate()
    let opaque = OpaqueOperationStore(erasing: store)
    let subscription = opaque.subscribe(
      with: OpaqueOperationEventHandler(
        onAttemptFailed: { attempt, _ in
          failures.withLock { $0.append(attempt.index) }
          failed.open()
        }
      )
    )
    self.script.enqueue(.error(Refused(code: 4)))
    let fetch = Task { try await store.fetch() }
    try await failed.wait()
    expect(store.state.attempt?.index, equals: 1)
    expect(opaque.attempt?.index, equals: 1)
    expect(opaque.state.attempt?.lastFailure as? Refused, equals: Refused(code: 4))
    #expect(!opaque.isPaused && !opaque.state.isPaused && !store.state.isPaused)
    expect(failures.withLock { $0 }, equals: [1])
    let snapshot = client.snapshot()
    let attempt = try #require(snapshot.stores.first?.attempt)
    expect(attempt.index, equals: 1)
    expect(attempt.lastFailure, equals: "Refused(code: 4)")
    expect(attempt.nextBegins, equals: Date(timeIntervalSinceReferenceDate: 103))
    #expect(snapshot.description.contains("loading, attempt 1"))
    fetch.cancel()
    _ = await fetch.result
    expect(client.snapshot().stores.first?.attempt, equals: nil)
    subscription.cancel()
  }

  @Test
  func `Handlers for the base state of a default value receive failed attempts`() async throws {
    let failures = Mutex<[Int]>([])
    let handler = OperationEventHandler<IntState>(
      onAttemptFailed: { attempt, _ in failures.withLock { $0.append(attempt.index) } }
    )
    let store = OperationStore.detached(query: self.query.handleEvents(with: handler).defaultValue(1))
    self.script.enqueue(.error(Refused()))
    let fetch = Task { try await store.fetch() }
    try await self.clock.sleepers(count: 1)
    expect(failures.withLock { $0 }, equals: [1])
    fetch.cancel()
    _ = await fetch.result
  }

  @Test
  func `The state of several runs has the newest attempt, and each task has its own`() async throws {
    let store = OperationStore.detached(query: self.query)
    self.script.enqueue(.error(Refused(code: 1)), .error(Refused(code: 2)))
    let first = Task { try await store.fetch() }
    try await self.clock.sleepers(count: 1)
    let second = Task { try await store.fetch() }
    try await self.clock.sleepers(count: 2)
    expect(store.attempt?.lastFailure as? Refused, equals: Refused(code: 2))
    expect(store.state.activeTasks.map { ($0.attempt?.lastFailure as? Refused)?.code }, equals: [1, 2])
    second.cancel()
    _ = await second.result
    expect(store.attempt?.lastFailure as? Refused, equals: Refused(code: 1))
    first.cancel()
    _ = await first.result
    #expect(store.attempt == nil)
  }

  @Test
  func `The state below an optimistic update has the attempt, and a rollback of another run keeps it`() async throws {
    let store = OperationStore.detached(query: self.query)
    let yielding = Task { try await store.fetch() }
    let yieldingRun = try await self.script.next()
    yieldingRun.yield(1)
    self.script.enqueue(.error(Refused()))
    let failing = Task { try await store.fetch() }
    try await self.clock.sleepers(count: 1)
    let id = StateLayerIdentifier()
    store.addLayer(id) { $0 = 50 }
    expect(store.attempt?.index, equals: 1)
    self.clock.advance(by: .seconds(3))
    let run = try await self.script.next()
    expect(store.attempt?.index, equals: 2)
    expect(store.currentValue, equals: 50)
    yielding.cancel()
    _ = await yielding.result
    expect(store.attempt?.index, equals: 2)
    store.removeLayer(id)
    expect(store.currentValue, equals: nil)
    expect(store.attempt?.index, equals: 2)
    run.succeed(4)
    try await expect(failing.finished(), equals: 4)
  }

  @Test
  func `A custom state need not show attempts`() async throws {
    let script = OperationScript<String, any Error>()
    let plain = OperationStore<LogState>.detached(
      operation: OwnRequest(script: script, clock: self.clock).modifier(TryingAgain(limit: 1)),
      initialState: LogState()
    )
    script.enqueue(.error(Refused()), .value("a"))
    let run = Task { try await plain.run() }
    try await self.clock.sleepers(count: 1)
    #expect(plain.state.attempt == nil && !plain.state.isPaused)
    self.clock.advance(by: .seconds(3))
    try await expect(run.finished(), equals: "a")
  }

  @Test
  func `A store whose context is replaced by that of a run still shows attempts`() async throws {
    let store = OperationStore.detached(query: self.query)
    store.context = store.runTask().context
    let fetch = Task { try await store.fetch() }
    let run = try await self.script.next()
    expect(store.attempt?.index, equals: 1)
    run.succeed(1)
    _ = try await fetch.finished()
  }

  @Test
  func `An operation that runs in another store is no attempt of the outer one`() async throws {
    let inner = IntScript()
    let innerStore = OperationStore.detached(query: inner.query())
    let outer = QueryOperation<Int, any Error>("outer") { context in try await innerStore.fetch(using: context) }
    let store = OperationStore.detached(query: outer.modifier(TryingAgain(limit: 1)).manualTime(self.clock))
    let fetch = Task { try await store.fetch() }
    let run = try await inner.next()
    expect(store.attempt?.index, equals: 1)
    #expect(innerStore.attempt == nil)
    run.succeed(1)
    _ = try await fetch.finished()
  }

  @Test
  func `The errors of attempts are released with no lock held, and with their run`() async throws {
    let tracker = LifetimeTracker()
    let store = OperationStore.detached(query: self.query)
    for code in 0..<3 {
      self.script.enqueue(.error(ReleasingError(code: code, token: tracker.token(), store: store)))
    }
    let fetch = Task { try await store.fetch() }
    for _ in 0..<3 {
      try await self.clock.sleepers(count: 1)
      self.clock.advance(by: .seconds(3))
    }
    try await self.script.next().succeed(2)
    _ = try await fetch.finished()
    try await tracker.noneAlive()
  }

  @Test
  func `A delay of any length is reported`() async throws {
    let script = IntScript(default: .error(Refused()))
    for delay in [Duration.seconds(Int64.max), .seconds(-5), .zero] {
      let query = script.query().modifier(TryingAgain(limit: 1, delay: delay, waits: false))
      let store = OperationStore.detached(query: query.clock(.timeFreeze(Date(timeIntervalSinceReferenceDate: 0))))
      let dates = Mutex<[Date?]>([])
      let subscription = store.subscribe(
        with: QueryEventHandler(onAttemptFailed: { attempt, _ in dates.withLock { $0.append(attempt.nextBegins) } })
      )
      _ = try? await store.fetch()
      subscription.cancel()
      let seconds = delay < .seconds(1) ? 0 : 3_153_600_000.0
      expect(dates.withLock { $0 }, equals: [Date(timeIntervalSinceReferenceDate: seconds)])
    }
  }
}

/// An error that uses the store when it is released, as the error of a user may.
private struct ReleasingError: Error {
  final class Box: Sendable {
    let store: OperationStore<IntState>
    let token: LifetimeTracker.Token

    init(store: OperationStore<IntState>, token: LifetimeTracker.Token) {
      self.store = store
      self.token = token
    }

    deinit { _ = self.store.state.isLoading }
  }

  let code: Int
  let box: Box

  init(code: Int, token: LifetimeTracker.Token, store: OperationStore<IntState>) {
    self.code = code
    self.box = Box(store: store, token: token)
  }
}

/// A request of a custom kind, whose state shows no attempts.
private struct OwnRequest: StatefulOperationRequest {
  typealias State = LogState

  let script: OperationScript<String, any Error>
  let clock: ManualClock

  var path: OperationPath { ["own"] }

  func setup(context: inout OperationContext) {
    context.use(self.clock)
  }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String {
    try await self.script.run(in: context, with: continuation)
  }
}

/// A custom modifier that makes several attempts.
struct TryingAgain<Operation: OperationRequest>: OperationModifier {
  let limit: Int
  var delay = Duration.seconds(3)
  var waits = true

  func setup(context: inout OperationContext, using operation: Operation) {
    context.operationMakesAttempts = true
    operation.setup(context: &context)
  }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    var context = context
    while true {
      do throws(Operation.Failure) {
        return try await operation.run(isolation: isolation, in: context, with: continuation)
      } catch {
        if context.operationAttempt > self.limit || Task.isCancelled { throw error }
        context.attemptFailed(with: error, nextAfter: self.delay)
        if self.waits { try? await context.operationDeadlines.sleep(for: self.delay) }
        guard await context.pauseBeforeNextAttempt() else { throw error }
        context.beginNextAttempt(after: error)
      }
    }
  }
}
