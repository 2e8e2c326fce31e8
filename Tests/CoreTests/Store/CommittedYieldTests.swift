import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// A value that a run commits stays, whatever becomes of the run.
@Suite(.bounded, .warningsAreIssues)
struct CommittedYieldTests {
  private let script = IntScript()

  @Test
  func `A cancelled run keeps what it has committed, and what it has yielded before`() async throws {
    let store = IntStore.detached(query: self.script.query(), initialValue: 0)
    let fetch = Task { try await store.fetch() }
    let run = try await self.script.next()
    run.yield(1)
    run.yield(error: Refused())
    run.commit(2)
    run.yield(3)
    expect(store.currentValue, equals: 3)
    fetch.cancel()
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    expect(store.currentValue, equals: 2)
    #expect(store.valueUpdateCount == 2 && store.errorUpdateCount == 1)
    #expect(store.error == nil && !store.isLoading)
    expect(store.valueStamp.kind, equals: .partial)
  }

  @Test
  func `A committed value is partial and never fresh, unless it is called final`() async throws {
    let store = IntStore.detached(query: self.script.query().staleWhenNoValue())
    let fetch = Task { try await store.fetch() }
    let run = try await self.script.next()
    run.commit(1)
    #expect(store.valueStamp.kind == .partial && store.isStale)
    run.commit(2, as: .final)
    #expect(store.valueStamp.kind == .final && !store.isStale)
    run.yield(3)
    #expect(store.valueStamp.kind == .partial && store.isStale)
    fetch.cancel()
    _ = await fetch.result
    #expect(store.currentValue == 2 && store.valueStamp.kind == .final && !store.isStale)
  }

  @Test
  func `A run that fails after a commit leaves the value, with its error`() async throws {
    let store = IntStore.detached(query: self.script.query())
    let fetch = Task { try await store.fetch() }
    let run = try await self.script.next()
    run.commit(1, as: .final)
    run.fail(Refused())
    await #expect(throws: Refused.self) { try await fetch.finished() }
    #expect(store.currentValue == 1 && store.error is Refused)
    expect(store.valueStamp.kind, equals: .final)
  }

  @Test
  func `What others have set since stays, and the yields of other runs go`() async throws {
    let store = IntStore.detached(query: self.script.query(), initialValue: 0)
    let (one, two) = (Task { try await store.fetch() }, Task { try await store.fetch() })
    let (first, second) = (try await self.script.next(), try await self.script.next())
    second.yield(20)
    first.commit(1)
    second.yield(21)
    store.currentValue = 5
    first.commit(2)
    second.yield(22)
    one.cancel()
    two.cancel()
    for task in [one, two] { _ = await task.result }
    expect(store.currentValue, equals: 2)
    expect(store.valueUpdateCount, equals: 3)
  }

  @Test
  func `A set value that came after the commit stays when the run is cancelled`() async throws {
    let store = IntStore.detached(query: self.script.query())
    let fetch = Task { try await store.fetch() }
    let run = try await self.script.next()
    run.commit(1)
    store.currentValue = 5
    run.yield(6)
    fetch.cancel()
    _ = await fetch.result
    #expect(store.currentValue == 5 && store.valueStamp.kind == .set)
  }

  @Test
  func `Nothing is committed after the run was cancelled`() async throws {
    let script = IntScript(endsOnCancellation: false)
    let store = IntStore.detached(query: script.query(), initialValue: 0)
    let fetch = Task { try await store.fetch() }
    let run = try await script.next()
    fetch.cancel()
    try await run.cancelled()
    #expect(run.context.isRunOutdated)
    run.commit(1)
    run.succeed(2)
    _ = await fetch.result
    expect(store.currentValue, equals: 0)
  }

  @Test
  func `A committed value answers the invalidations from before its run, and no later one`() async throws {
    let client = OperationClient()
    let store = client.store(for: self.script.query().staleWhenNoValue())
    store.currentValue = 0
    client.invalidate(matching: [])
    let fetch = Task { try await store.fetch() }
    let run = try await self.script.next()
    #expect(!run.context.isRunOutdated)
    run.yield(1)
    #expect(store.isInvalidated)
    run.commit(2, as: .final)
    #expect(!store.isInvalidated && !store.isStale)
    client.invalidate(matching: [])
    #expect(run.context.isRunOutdated)
    run.commit(3, as: .final)
    #expect(store.isInvalidated && store.isStale)
    fetch.cancel()
    _ = await fetch.result
    #expect(store.currentValue == 3 && store.isInvalidated)
  }

  @Test
  func `A committed value hides runs from before an invalidation that it answers`() async throws {
    let client = OperationClient()
    let store = client.store(for: self.script.query())
    let old = Task { try await store.fetch() }
    let first = try await self.script.next()
    first.yield(1)
    client.invalidate(matching: [])
    let new = Task { try await store.fetch() }
    let second = try await self.script.next()
    second.commit(2)
    first.yield(3)
    first.succeed(4)
    _ = try await old.finished()
    expect(store.currentValue, equals: 2)
    new.cancel()
    _ = await new.result
    expect(store.currentValue, equals: 2)
  }

  @Test
  func `A handler that joins a run hears the last committed value`() async throws {
    let query = self.script.query().context { $0.operationRunSharing = OperationRunSharing() }
    let store = IntStore.detached(query: query)
    let first = Task { try await store.fetch() }
    let run = try await self.script.next()
    run.commit(1)
    run.commit(2)
    let recorder = IntRecorder()
    let second = Task { try await store.fetch(handler: recorder.queryHandler) }
    try await recorder.first { $0.kind.isResult }
    run.succeed(3)
    _ = try await (first.finished(), second.finished())
    #expect(recorder.digests.contains(.yielded(2)) && recorder.digests.contains(.returned(3)))
    #expect(!recorder.digests.contains(.yielded(1)))
  }

  @Test
  func `The attempts are counted anew after a commit, once`() async throws {
    let query = self.script.query().context { $0.addEntriesToOutcomes() }
    let store = IntStore.detached(query: query)
    let fetch = Task { try await store.fetch() }
    let run = try await self.script.next()
    var context = run.context
    context.beginNextAttempt(after: Refused())
    run.yield(1)
    let isFirst = context.restartAttemptsAfterCommit()
    #expect(!isFirst && context.operationAttempt == 2)
    run.commit(1)
    let isFirstAfterCommit = context.restartAttemptsAfterCommit()
    #expect(isFirstAfterCommit && context.operationAttempt == 1)
    let isFirstAgain = context.restartAttemptsAfterCommit()
    #expect(!isFirstAgain)
    run.succeed(2)
    _ = try await fetch.finished()
  }

  @Test
  func `Replaced values are released after the lock`() async throws {
    let lifetimes = LifetimeTracker()
    do {
      let script = OperationScript<LifetimeTracker.Token, any Error>()
      let store = OperationStore.detached(query: script.query())
      let fetch = Task { try await store.fetch() }
      let run = try await script.next()
      for _ in 0..<3 {
        var context = OperationContext()
        context.committedValueKind = .partial
        run.yield(lifetimes.token(), using: context)
      }
      expect(lifetimes.aliveCount, equals: 1)
      fetch.cancel()
      _ = await fetch.result
      store.resetState()
    }
    try await lifetimes.noneAlive()
  }
}

extension ScriptedRun {
  fileprivate func commit(_ value: Value, as kind: CommittedValueKind = .partial) {
    var context = OperationContext()
    context.committedValueKind = kind
    self.yield(value, using: context)
  }
}

extension EventRecorder.Kind {
  fileprivate var isResult: Bool {
    if case .resultReceived = self { true } else { false }
  }
}
