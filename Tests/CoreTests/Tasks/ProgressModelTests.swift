import CoreFixtures
import FoundationEssentials
import OperationPausing
import OperationTesting
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

/// Attempts and pauses against a model, over random schedules.
@Suite(.bounded, .warningsAreIssues)
struct ProgressModelTests {
  @Test(arguments: 0..<40)
  func `The state shows what the model expects, whatever happens in whatever order`(seed: UInt64) async throws {
    let model = ProgressModel(seed: seed)
    for _ in 0..<60 {
      try await model.step()
      model.check()
    }
    try await model.endAll()
    model.check()
    model.checkUnreported()
    expect(model.condition.observerCount, equals: 0)
    expect(model.clock.sleeperCount(), equals: 0)
    expect(StateFacts(model.store.state).isLoading, equals: false)
  }
}

/// A model of the runs of a store, which also performs random steps on the store.
private final class ProgressModel {
  enum Phase: Equatable {
    case paused
    case running
    case waiting
  }

  struct Run {
    let id: OperationTaskIdentifier
    var callers: [Task<Int, any Error>]
    var phase: Phase
    var index = 1
    var lastFailure: Int?
    /// The number of invalidations before the run began.
    let invalidations: Int
    /// Whether the state no longer shows the run, because a newer one has answered an invalidation.
    var isHidden = false
    /// The body that the test drives; nil unless the run is running.
    var body: ScriptedRun<Int, any Error>?
  }

  static let limit = 3

  let condition = SwitchSpecification(true)
  let clock = ManualClock(date: Date(timeIntervalSinceReferenceDate: 0))
  let store: IntStore
  private let script = IntScript()
  /// The values that were yielded or returned, and the attempts in which they were, according to the events.
  private let reported = Receiver<(value: Int, attempt: Int)>()
  /// Values of hidden runs, which have no events.
  private var unreported: Set<Int> = []
  private let subscription: OperationSubscription
  private var runs: [Run] = []
  private var isOn = true
  private var invalidations = 0
  private var answeredInvalidations = 0
  private var nextCode = 0
  private var generator: SeededGenerator

  init(seed: UInt64) {
    self.generator = SeededGenerator(seed: seed)
    // A late value would be fetched again for the subscriber.
    let query = self.script.query().disableAutomaticRunning().waits(until: self.condition)
      .modifier(TryingAgain(limit: Self.limit))
      .manualTime(self.clock)
    self.store = .detached(query: query)
    let reported = self.reported
    self.subscription = self.store.subscribe(
      with: QueryEventHandler(
        onResultReceived: { result, context in
          if case .success(let value) = result { reported.receive((value, context.operationAttempt)) }
        },
        onAttemptFailed: { attempt, context in
          expect(attempt.index, equals: context.operationAttempt)
          #expect(attempt.nextBegins != nil)
        }
      )
    )
  }

  func step() async throws {
    switch self.random(below: 10) {
    case 0, 1: try await self.begin()
    case 2: self.join()
    case 3, 4: try await self.fail()
    case 5: try await self.advance()
    case 6: try await self.toggle()
    case 7: try await self.yieldOrReturn()
    case 8: try await self.cancel()
    default:
      switch self.random(below: 4) {
      case 0: try await self.reset()
      case 1:
        _ = self.store.runtime.invalidate(.ofStoredValue)
        self.invalidations += 1
      case 2:
        self.store.currentValue = self.random(below: 1_000)
        self.answeredInvalidations = self.invalidations
      default: self.addAndRemoveLayer()
      }
    }
  }

  private var shownRuns: [Run] { self.runs.filter { !$0.isHidden } }

  func check() {
    let (state, runs) = (self.store.state, self.shownRuns)
    expect(state.isLoading, equals: !runs.isEmpty)
    expect(state.isPaused, equals: runs.contains { $0.phase == .paused })
    expect(state.activeTasks.map(\.id), equals: runs.map(\.id))
    expect(state.activeTasks.map(\.isPaused), equals: runs.map { $0.phase == .paused })
    expect(state.activeTasks.map { $0.attempt?.index }, equals: runs.map(\.index))
    expect(state.activeTasks.map { ($0.attempt?.lastFailure as? Refused)?.code }, equals: runs.map(\.lastFailure))
    expect(state.activeTasks.map { $0.attempt?.nextBegins != nil }, equals: runs.map { $0.phase == .waiting })
    expect(state.attempt?.index, equals: runs.last?.index)
  }

  func checkUnreported() {
    #expect(self.unreported.isDisjoint(with: self.reported.all.map(\.value)))
  }

  func endAll() async throws {
    let runs = self.runs
    self.runs = []
    for run in runs { for caller in run.callers { caller.cancel() } }
    for run in runs { for caller in run.callers { _ = try? await caller.finished() } }
    self.subscription.cancel()
  }

  // MARK: Steps

  private func begin() async throws {
    guard self.runs.count < 6 else { return }
    let task = self.store.fetchTask()
    let caller = Task.immediate { try await task.runIfNeeded() }
    var run = Run(
      id: task.id,
      callers: [caller],
      phase: self.isOn ? .running : .paused,
      invalidations: self.invalidations
    )
    if self.isOn { run.body = try await self.script.next() }
    self.runs.append(run)
  }

  /// Another caller waits for the run.
  private func join() {
    guard let index = self.anyRun(where: { !$0.isHidden }) else { return }
    guard let task = self.store.state.activeTasks.first(where: { $0.id == self.runs[index].id }) else {
      Issue.record("An active run is missing.")
      return
    }
    self.runs[index].callers.append(Task.immediate { try await task.runIfNeeded() })
  }

  private func fail() async throws {
    guard let index = self.anyRun(where: { $0.phase == .running }), let body = self.runs[index].body else { return }
    self.nextCode += 1
    body.fail(Refused(code: self.nextCode))
    guard self.runs[index].index <= Self.limit else {
      return try await self.end(index, with: .failure(Refused(code: self.nextCode)))
    }
    self.runs[index].phase = .waiting
    self.runs[index].lastFailure = self.nextCode
    self.runs[index].body = nil
    try await self.clock.sleepers(count: self.runs.count { $0.phase == .waiting })
  }

  /// The next attempts of all runs that wait begin.
  private func advance() async throws {
    self.clock.advance(by: .seconds(3))
    for index in self.runs.indices where self.runs[index].phase == .waiting {
      self.runs[index].phase = self.isOn ? .running : .paused
      self.runs[index].index += 1
    }
    try await self.receiveBodies()
    let paused = self.shownRuns.count { $0.phase == .paused }
    let waiting = self.shownRuns.map(\.index)
    try await self.store.reached { state in
      state.activeTasks.count { $0.isPaused } == paused && state.activeTasks.map { $0.attempt?.index } == waiting
    }
  }

  private func toggle() async throws {
    self.isOn.toggle()
    self.condition.set(self.isOn)
    guard self.isOn else { return }
    for index in self.runs.indices where self.runs[index].phase == .paused { self.runs[index].phase = .running }
    try await self.receiveBodies()
  }

  /// A run yields a value or returns one.
  private func yieldOrReturn() async throws {
    guard let index = self.anyRun(where: { $0.phase == .running }), let body = self.runs[index].body else { return }
    self.nextCode += 1
    let (value, attempt) = (self.nextCode, self.runs[index].isHidden ? nil : self.runs[index].index)
    if self.random(below: 2) == 0 {
      body.yield(value)
    } else {
      body.succeed(value)
      try await self.end(index, with: .success(value))
    }
    guard let attempt else {
      self.unreported.insert(value)
      return
    }
    // A thread that delivers an earlier event delivers this one, too.
    try await self.reported.wait { $0.contains { $0.value == value } }
    expect(self.reported.all.filter { $0.value == value }.map(\.attempt), equals: [attempt])
  }

  private func cancel() async throws {
    guard let index = self.anyRun(where: { _ in true }) else { return }
    let caller = self.runs[index].callers.removeLast()
    caller.cancel()
    _ = try? await caller.finished()
    // The run goes on for its other callers.
    if self.runs[index].callers.isEmpty { self.runs.remove(at: index) }
  }

  private func reset() async throws {
    let runs = self.runs
    self.runs = []
    self.store.resetState()
    self.answeredInvalidations = self.invalidations
    for run in runs { for caller in run.callers { _ = try? await caller.finished() } }
  }

  private func addAndRemoveLayer() {
    let id = StateLayerIdentifier()
    self.store.addLayer(id) { $0 = ($0 ?? 0) + 1 }
    self.check()
    self.store.removeLayer(id)
  }

  // MARK: Helpers

  private func random(below bound: Int) -> Int { Int.random(in: 0..<bound, using: &self.generator) }

  private func anyRun(where isSought: (Run) -> Bool) -> Int? {
    let indices = self.runs.indices.filter { isSought(self.runs[$0]) }
    return indices.isEmpty ? nil : indices[self.random(below: indices.count)]
  }

  /// Receives the bodies of the runs that have begun to run.
  private func receiveBodies() async throws {
    while self.runs.contains(where: { $0.phase == .running && $0.body == nil }) {
      let body = try await self.script.next()
      let index = self.runs.firstIndex { $0.id == body.context.operationRunningTaskIdentifier }
      self.runs[try #require(index)].body = body
    }
  }

  private func end(_ index: Int, with outcome: Result<Int, Refused>) async throws {
    let run = self.runs.remove(at: index)
    if case .success = outcome, !run.isHidden {
      // Fewer than before if the run is from before an invalidation that a set value had answered.
      self.answeredInvalidations = run.invalidations
      for other in self.runs.indices where self.runs[other].invalidations < self.answeredInvalidations {
        self.runs[other].isHidden = true
      }
    }
    for caller in run.callers {
      switch outcome {
      case .success(let value): try await expect(caller.finished(), equals: value)
      case .failure(let error): await #expect(throws: error) { try await caller.finished() }
      }
    }
  }
}
