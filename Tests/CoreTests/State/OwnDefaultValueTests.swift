import CoreFixtures
import FoundationEssentials
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Default values and statuses of states that a user writes.
@Suite(.bounded, .warningsAreIssues)
struct OwnDefaultValueTests {
  private let script = IntScript()

  @Test
  func `An operation of an own kind shows a default value over the state that it is given`() async throws {
    let request = Measurement(script: self.script).stale(after: .seconds(1)).defaultValue(-1, initialState: Reading())
    let store = OperationStore.detached(operation: request)
    expect(store.currentValue, equals: -1)
    #expect(store.status.isIdle)
    self.script.enqueue(.value(5))
    try await store.run()
    expect(store.currentValue, equals: 5)
    expect(store.status.resultValue, equals: 5)
    expect(OperationClient().store(for: request).currentValue, equals: -1)
  }

  @Test
  func `One that knows its initial state needs no other`() async throws {
    let request = Calibration(script: self.script).context { _ in }.defaultValue(-1)
    let store = OperationClient().store(for: request)
    expect(store.currentValue, equals: -1)
    expect(store.state.base.unit, equals: "lux")
    self.script.enqueue(.value(5))
    try await store.run()
    expect(store.currentValue, equals: 5)
  }

  @Test
  func `A kind with a default value of its own keeps it`() {
    let query: DefaultStateOperation<KnownQuery> = KnownQuery().defaultValue(3)
    expect(query.initialState.currentValue, equals: 3)
  }

  @Test
  func `A state with a missing value has a status`() async throws {
    let store = OperationStore.detached(operation: Measurement(script: self.script), initialState: Reading())
    #expect(store.status.isIdle)
    let run = Task.immediate { try await store.run() }
    #expect(store.status.isLoading)
    try await self.script.next().succeed(1)
    _ = try await run.finished()
    expect(store.status.resultValue, equals: 1)
    store.setResult(to: .failure(Refused()))
    #expect(store.status.resultError is Refused)
    store.currentValue = nil
    #expect(store.status.isIdle)
  }
}

/// A state that leaves its status to the library.
private struct Reading: OperationState, Sendable {
  typealias StateValue = Int?
  typealias OperationValue = Int
  typealias StatusValue = Int
  typealias Failure = any Error

  private var base = IntState()
  var unit = ""

  init(unit: String = "") {
    self.unit = unit
  }

  var currentValue: Int? { self.base.currentValue }
  var initialValue: Int? { self.base.initialValue }
  var valueUpdateCount: Int { self.base.valueUpdateCount }
  var valueLastUpdatedAt: Date? { self.base.valueLastUpdatedAt }
  var isLoading: Bool { self.base.isLoading }
  var error: (any Error)? { self.base.error }
  var errorUpdateCount: Int { self.base.errorUpdateCount }
  var errorLastUpdatedAt: Date? { self.base.errorLastUpdatedAt }

  mutating func scheduleFetchTask(_ task: inout OperationTask<Int, any Error>) { self.base.scheduleFetchTask(&task) }

  mutating func reset(using context: OperationContext) -> ResetEffect {
    ResetEffect(tasksToCancel: self.base.reset(using: context).tasksToCancel)
  }

  mutating func update(with result: Result<Int?, any Error>, using context: OperationContext) {
    self.base.update(with: result, using: context)
  }

  mutating func update(with result: Result<Int, any Error>, for task: OperationTask<Int, any Error>) {
    self.base.update(with: result, for: task)
  }

  mutating func finishFetchTask(_ task: OperationTask<Int, any Error>) { self.base.finishFetchTask(task) }
}

extension Reading: DefaultableOperationState {
  func defaultValue(for value: Int?, using defaultValue: Int) -> Int { value ?? defaultValue }
  func stateValue(for defaultValue: Int) -> Int? { defaultValue }
}

private struct Measurement: StatefulOperationRequest {
  typealias State = Reading

  let script: IntScript

  var path: OperationPath { ["measurement"] }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    try await self.script.run(in: context, with: continuation)
  }
}

private struct Calibration: DefaultStateRequest {
  typealias State = Reading

  let script: IntScript

  var path: OperationPath { ["calibration"] }
  var initialState: Reading { Reading(unit: "lux") }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    try await self.script.run(in: context, with: continuation)
  }
}

private struct KnownQuery: QueryRequest, DefaultStateRequest, Hashable {
  var initialState: IntState { IntState(initialValue: 7) }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    1
  }
}
