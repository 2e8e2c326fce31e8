import CoreFixtures
import FoundationEssentials
import OperationCore
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// A state and a request kind that a user writes, with nothing but the core.
@Suite(.bounded, .warningsAreIssues)
struct OwnStateTests {
  private let script = OperationScript<String, any Error>()

  private func store() -> OperationStore<LogState> {
    .detached(operation: LineRequest(script: self.script), initialState: LogState())
  }

  @Test
  func `Its store runs, subscribes and resets`() async throws {
    let store = self.store()
    let recorder = EventRecorder<LogState>()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    self.script.enqueue(.value("a"), .yield(.success("b"), then: .value("c")), .error(Refused()))
    try await expect(store.run(), equals: "a")
    try await store.run()
    await #expect(throws: Refused()) { try await store.run() }
    expect(store.currentValue, equals: ["a", "b", "c"])
    expect(store.lineCount, equals: 3)
    #expect(store.status.isFailure)
    expect(recorder.values, equals: ["a", "b", "c"])
    store.currentValue = ["z"]
    expect(store.status.resultValue, equals: ["z"])
    store.resetState()
    expect(store.currentValue, equals: [])
    #expect(store.status.isIdle)
  }

  @Test
  func `The stamp of its value is kept beside it`() async throws {
    let controller = SettingController()
    let store = OperationStore<LogState>.detached(
      operation: LineRequest(script: self.script).stale(after: .seconds(60)).controlled(by: controller),
      initialState: LogState()
    )
    expect(store.valueStamp, equals: ValueStamp(.initial))
    self.script.enqueue(.value("a"), .yield(.success("b"), then: .error(Refused())))
    try await store.run()
    #expect(store.valueStamp == ValueStamp(.final) && !store.isStale)
    await #expect(throws: Refused()) { try await store.run() }
    #expect(store.valueStamp == ValueStamp(.partial) && store.isStale)
    controller.set(["z"])
    #expect(store.valueStamp == ValueStamp(.set) && !store.isStale)
    store.resetState()
    #expect(store.valueStamp == ValueStamp(.initial) && store.isStale)
  }

  @Test
  func `A cancelled run takes its yields away and leaves the others`() async throws {
    let store = self.store()
    let first = Task { try await store.run() }
    let firstRun = try await self.script.next()
    firstRun.yield("first 1")
    let second = Task { try await store.run() }
    let secondRun = try await self.script.next()
    secondRun.yield("second 1")
    let third = Task { try await store.run() }
    let thirdRun = try await self.script.next()
    secondRun.yield("second 2")
    firstRun.yield("first 2")
    secondRun.succeed("second 3")
    _ = try await second.finished()
    thirdRun.succeed("third")
    _ = try await third.finished()
    expect(store.lineCount, equals: 7 - 1)
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.finished() }
    expect(store.currentValue, equals: ["second 1", "second 2", "second 3", "third"])
    expect(store.valueUpdateCount, equals: 4)
  }

  @Test
  func `A value that is set replaces earlier ones, also when a run is rolled back`() async throws {
    let store = self.store()
    let fetch = Task { try await store.run() }
    let run = try await self.script.next()
    run.yield("x")
    store.currentValue = ["mine"]
    run.yield("y")
    expect(store.currentValue, equals: ["mine", "y"])
    fetch.cancel()
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    expect(store.currentValue, equals: ["mine"])
  }

  @Test
  func `A client keeps it, and erases it`() async throws {
    let client = OperationClient()
    self.script.enqueue(.value("a"), .value("b"))
    let request = LineRequest(script: self.script)
    let store = client.store(for: request, initialState: LogState())
    await client.prefetch(for: request, initialState: LogState())
    expect(client.store(with: ["lines"])?.currentValue as? [String], equals: ["a"])
    #expect(client.stores(of: LogState.self)[["lines"]] === store)
    let opaque = OpaqueOperationStore(erasing: store)
    try await opaque.run()
    expect(store.currentValue, equals: ["a", "b"])
  }

  @Test
  func `Modifiers, controllers and polling take it as it is`() async throws {
    let clock = ManualClock()
    let controller = HandingController<LogState>()
    defer { controller.drop() }
    let request = LineRequest(script: self.script)
      .rerun(every: .seconds(5))
      .controlled(by: controller)
      .stale(after: .seconds(60))
      .manualTime(clock)
    let store = OperationStore.detached(operation: request, initialState: LogState())
    let recorder = EventRecorder<LogState>()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    clock.advance(by: .seconds(5))
    try await self.script.next().succeed("polled")
    try await recorder.first { $0.digest == .ended }
    #expect(!store.isStale)
    controller.controls.yield(["yielded"])
    expect(store.currentValue, equals: ["yielded"])
  }

  @Test
  func `A task that the state puts in the place of another has no effect`() async throws {
    var state = LogState()
    state.replacesTasks = true
    let request = LineRequest(script: self.script)
    let store = OperationStore<LogState>.detached(operation: request, initialState: state)
    self.script.enqueue(.value("a"))
    try await expect(store.run(), equals: "a")
    expect(store.currentValue, equals: ["a"])
    #expect(!store.isLoading)
  }

  @Test
  func `A state may schedule a task after others`() async throws {
    let script = IntScript()
    let store = OperationStore<QueueState>.detached(
      operation: QueuedRequest(script: script),
      initialState: QueueState()
    )
    let first = Task { try await store.run() }
    let firstRun = try await script.next()
    let second = Task.immediate { try await store.run() }
    #expect(store.isLoading)
    expect(script.runCount, equals: 1)
    firstRun.succeed(1)
    try await expect(first.finished(), equals: 1)
    try await script.next().succeed(2)
    try await expect(second.finished(), equals: 2)
    expect(store.currentValue, equals: 2)
  }
}

/// A request whose results are lines of a log.
private struct LineRequest: StatefulOperationRequest {
  typealias State = LogState

  let script: OperationScript<String, any Error>

  var path: OperationPath { ["lines"] }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String {
    try await self.script.run(in: context, with: continuation)
  }
}

/// Lets a test set a value as a controller.
private final class SettingController: OperationController, Sendable {
  private let controls = Mutex<OperationControls<LogState>?>(nil)

  func control(with controls: OperationControls<LogState>) -> OperationSubscription {
    self.controls.withLock { $0 = controls }
    return .empty
  }

  func set(_ lines: [String]) {
    self.controls.withLock { $0 }?.yield(lines)
  }
}

/// A state that adds up what runs report.
struct LogState: OperationState, Sendable {
  typealias StateValue = [String]
  typealias OperationValue = String
  typealias Failure = any Error

  private(set) var currentValue: [String] = []
  var initialValue: [String] { [] }
  private(set) var valueUpdateCount = 0
  private(set) var valueLastUpdatedAt: Date?
  private(set) var error: (any Error)?
  private(set) var errorUpdateCount = 0
  private(set) var errorLastUpdatedAt: Date?
  private var tasks: [OperationTaskIdentifier] = []
  var replacesTasks = false

  var isLoading: Bool { !self.tasks.isEmpty }
  var lineCount: Int { self.currentValue.count }

  mutating func scheduleFetchTask(_ task: inout OperationTask<String, any Error>) {
    self.tasks.append(task.id)
    if self.replacesTasks { task = task.map { "replaced \($0)" } }
  }

  mutating func reset(using context: OperationContext) -> ResetEffect {
    self = LogState()
    return ResetEffect()
  }

  mutating func update(with result: Result<[String], any Error>, using context: OperationContext) {
    switch result {
    case .success(let lines):
      self.currentValue = lines
      self.noteValue(context)
    case .failure(let error): self.note(error, context)
    }
  }

  mutating func update(with result: Result<String, any Error>, for task: OperationTask<String, any Error>) {
    switch result {
    case .success(let line):
      self.currentValue.append(line)
      self.noteValue(task.context)
    case .failure(let error): self.note(error, task.context)
    }
  }

  mutating func finishFetchTask(_ task: OperationTask<String, any Error>) {
    self.tasks.removeAll { $0 == task.id }
  }

  private mutating func noteValue(_ context: OperationContext) {
    self.valueUpdateCount += 1
    self.valueLastUpdatedAt = context.operationClock.now()
    self.error = nil
  }

  private mutating func note(_ error: any Error, _ context: OperationContext) {
    self.error = error
    self.errorUpdateCount += 1
    self.errorLastUpdatedAt = context.operationClock.now()
  }
}

private struct QueuedRequest: StatefulOperationRequest {
  typealias State = QueueState

  let script: IntScript

  var path: OperationPath { ["queued"] }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    try await self.script.run(in: context, with: continuation)
  }
}

/// A state whose tasks run one after another.
private struct QueueState: OperationState, Sendable {
  private var base = IntState()
  private var last: OperationTask<Int, any Error>?

  var currentValue: Int { self.base.currentValue ?? 0 }
  var initialValue: Int { 0 }
  var valueUpdateCount: Int { self.base.valueUpdateCount }
  var valueLastUpdatedAt: Date? { self.base.valueLastUpdatedAt }
  var isLoading: Bool { self.base.isLoading }
  var error: (any Error)? { self.base.error }
  var errorUpdateCount: Int { self.base.errorUpdateCount }
  var errorLastUpdatedAt: Date? { self.base.errorLastUpdatedAt }

  mutating func scheduleFetchTask(_ task: inout OperationTask<Int, any Error>) {
    if let last = self.last { task.schedule(after: last) }
    self.last = task
    self.base.scheduleFetchTask(&task)
  }

  mutating func reset(using context: OperationContext) -> ResetEffect {
    ResetEffect(tasksToCancel: self.base.reset(using: context).tasksToCancel)
  }

  mutating func update(with result: Result<Int, any Error>, using context: OperationContext) {
    self.base.update(with: result.map { $0 }, using: context)
  }

  mutating func update(with result: Result<Int, any Error>, for task: OperationTask<Int, any Error>) {
    self.base.update(with: result, for: task)
  }

  mutating func finishFetchTask(_ task: OperationTask<Int, any Error>) {
    self.base.finishFetchTask(task)
    if self.last?.id == task.id { self.last = nil }
  }
}
