import OperationTesting
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

@Suite(.bounded, .warningsAreIssues) struct SharedRunLifetimeTests {
  private let lifetimes = LifetimeTracker()

  private func task(_ gate: Gate? = nil) -> OperationTask<LifetimeTracker.Token, any Error> {
    OperationTask { [lifetimes, token = lifetimes.token()] _, _ in
      token.touch()
      try await gate?.wait()
      return lifetimes.token()
    }
  }

  @Test func `A task that is never run is released`() {
    var task: OperationTask? = task()
    expect(task?.hasStarted, equals: false)
    expect(lifetimes.aliveCount, equals: 1)
    task = nil
    expect(lifetimes.aliveCount, equals: 0)
  }

  @Test func `A task that has ended keeps only its value`() async throws {
    var task: OperationTask? = task()
    _ = try await task?.runIfNeeded()
    try await lifetimes.noneButOneAlive()
    task = nil
    try await lifetimes.noneAlive()
  }

  @Test func `A running task is released when it finishes`() async throws {
    let gate = Gate()
    let caller: Task<Void, any Error>
    do {
      let task = task(gate)
      caller = Task.immediate { _ = try await task.runIfNeeded() }
    }
    expect(lifetimes.aliveCount, equals: 1)
    gate.open()
    try await caller.value
    try await lifetimes.noneAlive()
  }

  @Test func `A cancelled task is released`() async throws {
    let gate = Gate()
    for leaving in [SharedRun.Leaving.lastStays, .atOnce] {
      let sharedRun = task(gate).sharedRun
      let caller = Task.immediate {
        await sharedRun.startAndWait(in: OperationContext(), leaving: leaving).isCancellation
      }
      caller.cancel()
      #expect(await caller.value)
    }
    try await lifetimes.noneAlive()
  }

  @Test func `A transformed task is released`() async throws {
    do {
      let task = task()
      let mapped = task.map { [token = lifetimes.token()] _ in token.touch() }
      try await mapped.runIfNeeded()
      #expect(!mapped.isRunning)
    }
    try await lifetimes.noneAlive()
  }

  @Test func `Dependencies are released when the task has ended`() async throws {
    let last: OperationTask<Int, any Error> = OperationTask { _, _ in 1 }
    do {
      last.schedule(after: (0..<10).map { _ in task() })
    }
    expect(lifetimes.aliveCount, equals: 10)
    _ = try await last.runIfNeeded()
    try await lifetimes.noneAlive()
  }

  @Test func `A cycle that was refused is released`() async throws {
    do {
      let (first, second) = (task(), task())
      second.schedule(after: first)
      expectWarning(.taskCycle) { first.schedule(after: second) }
    }
    expect(lifetimes.aliveCount, equals: 0)
  }

  @Test func `A store is released while its run is under way`() async throws {
    let gate = Gate()
    let query = HoldingQuery(token: lifetimes.token(), gate: gate)
    var store: OperationStore? = OperationStore.detached(query: query)
    weak let reference = store
    let caller = Task.immediate { [task = store?.fetchTask()] in try await task?.runIfNeeded() }
    try await gate.arrivals(count: 1)
    store = nil
    #expect(reference == nil)
    gate.open()
    try await expect(caller.value, equals: 1)
  }

  @Test func `The task of a store does not keep the operation that ran`() async throws {
    let gate = Gate(isOpen: true)
    let task: OperationTask<Int, any Error>
    do {
      let store = OperationStore.detached(query: HoldingQuery(token: lifetimes.token(), gate: gate))
      task = store.fetchTask()
      try await expect(task.runIfNeeded(), equals: 1)
    }
    try await lifetimes.noneAlive()
    #expect(task.isFinished)
  }
}

extension LifetimeTracker {
  /// Waits until a single token is alive.
  fileprivate func noneButOneAlive() async throws {
    expect(self.aliveCount, equals: 1)
  }
}

private struct HoldingQuery: QueryRequest {
  let token: LifetimeTracker.Token
  let gate: Gate

  var path: OperationPath { ["holding"] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    try await self.gate.wait()
    return 1
  }
}
