import OperationCore
import OperationTesting
import TestFixtures
import Testing

@testable import OperationScheduling

@Suite(.bounded, .warningsAreIssues)
struct UniqueWorkTests {
  private let script = Script()
  private let id = OperationCategory(UInt64.random(in: 0 ... .max))

  private func work(
    _ policy: UniqueWorkPolicy
  ) -> ModifiedOperation<
    ScriptedOperation<Int, any Error>, UniqueOperation<ScriptedOperation<Int, any Error>>
  > {
    self.script.operation().unique(self.id, policy: policy)
  }

  @Test func `The earlier run is kept, and the new one is skipped`() async throws {
    let scheduler = OperationScheduler()
    let first = scheduler.schedule(self.work(.keep))
    let run = try await self.script.next()
    let second = scheduler.schedule(self.work(.keep))
    await #expect(throws: OperationSkipped.self) { try await second.value }
    await #expect(throws: OperationSkipped.self) { try await self.work(.keep).runOnce() }
    run.succeed(1)
    try await expect(first.value, equals: 1)
    let third = scheduler.schedule(self.work(.keep))
    try await self.script.next().succeed(3)
    try await expect(third.value, equals: 3)
    expect(self.script.runCount, equals: 2)
  }

  @Test func `An operation that was only scheduled is kept, too`() async throws {
    let scheduler = OperationScheduler()
    scheduler.suspend()
    let first = scheduler.schedule(self.work(.keep))
    let second = OperationScheduler().schedule(self.work(.keep))
    await #expect(throws: OperationSkipped.self) { try await second.value }
    scheduler.resume()
    try await self.script.next().succeed(1)
    try await expect(first.value, equals: 1)
  }

  @Test func `The new run replaces the earlier ones, and begins when they have ended`() async throws {
    let script = Script(endsOnCancellation: false)
    let work = script.operation().unique(self.id, policy: .replace)
    let scheduler = OperationScheduler()
    let first = scheduler.schedule(work)
    let run = try await script.next()
    let second = scheduler.schedule(work)
    let third = scheduler.schedule(work)
    try await run.cancelled()
    await #expect(throws: CancellationError.self) { try await second.value }
    expect(script.runCount, equals: 1)
    run.fail(CancellationError())
    await #expect(throws: CancellationError.self) { try await first.value }
    try await script.next().succeed(3)
    try await expect(third.value, equals: 3)
  }

  @Test func `An appended run begins when the one before has ended, however it ends`() async throws {
    let schedulers = [OperationScheduler(), OperationScheduler()]
    let operations = (0..<4).map { schedulers[$0 % 2].schedule(self.work(.append)) }
    let run = try await self.script.next()
    expect(self.script.runCount, equals: 1)
    // One that is cancelled while it waits lets no other begin early.
    operations[1].cancel()
    await #expect(throws: CancellationError.self) { try await operations[1].value }
    expect(self.script.runCount, equals: 1)
    run.fail(Refused())
    await #expect(throws: Refused.self) { try await operations[0].value }
    let next = try await self.script.next()
    expect(self.script.activeRunCount, equals: 1)
    next.succeed(2)
    try await self.script.next().succeed(3)
    try await expect(operations[2].value, equals: 2)
    try await expect(operations[3].value, equals: 3)
  }

  @Test func `An appended run keeps its turn when another one is ready earlier`() async throws {
    let scheduler = OperationScheduler()
    let log = Log<Int>()
    let gate = Gate()
    let dependency = scheduler.schedule(named: "dependency") { _ in try await gate.wait() }
    let works = (0..<2).map { number in
      Work<Void, any Error> { _ in log.append(number) }.unique(self.id, policy: .append)
    }
    let first = scheduler.schedule(works[0]) { $0.addDependency(dependency) }
    let second = scheduler.schedule(works[1])
    gate.open()
    try await first.value
    try await second.value
    expect(log.all, equals: [0, 1])
  }

  @Test func `Runs without a scheduler are unique, too`() async throws {
    let first = self.work(.append).begin()
    let run = try await self.script.next()
    let second = self.work(.append).begin()
    let third = self.work(.append).begin()
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    expect(self.script.runCount, equals: 1)
    run.fail(Refused())
    await #expect(throws: Refused.self) { try await first.value }
    try await self.script.next().succeed(3)
    try await expect(third.value, equals: 3)

    let replaced = self.work(.append).begin()
    _ = try await self.script.next()
    let replacing = self.work(.replace).begin()
    await #expect(throws: CancellationError.self) { try await replaced.value }
    try await self.script.next().succeed(4)
    try await expect(replacing.value, equals: 4)
    #expect(!replaced.isCancelled)
  }

  @Test func `A run inside of another one is part of it`() async throws {
    let inner = Work<Int, any Error> { _ in 2 }.unique(self.id, policy: .append)
    let outer = Work<Int, any Error> { _ in try await inner.runOnce() }.unique(self.id, policy: .keep)
    try await expect(outer.runOnce(), equals: 2)
    try await expect(OperationScheduler().schedule(outer).value, equals: 2)
  }

  @Test func `Unique work that awaits what comes after it is reported`() async throws {
    let scheduler = OperationScheduler()
    let recorder = WarningRecorder()
    let after = Work<Int, any Error> { _ in 2 }.unique(self.id, policy: .append)
    await recorder.recording {
      let outer = Work<Int, any Error> { _ in try await scheduler.schedule(after).value }
      let operation = scheduler.schedule(outer.unique(self.id, policy: .append))
      await #expect(throws: OperationCycleError.self) { try await operation.value }
    }
    await scheduler.waitUntilEmpty()
    expect(recorder.warnings.map(\.code), equals: [.taskCycle])
  }

  @Test func `A skip becomes a failure of an operation with failures of its own`() async throws {
    let first = self.work(.keep).begin()
    let run = try await self.script.next()
    let typed = Work<Int, OnlyFailure> { _ throws(OnlyFailure) in 1 }.unique(self.id, policy: .keep) {
      $0 is OperationSkipped ? .other : .denied("")
    }
    await #expect(throws: OnlyFailure.other) { try await typed.runOnce() }
    run.succeed(1)
    _ = try await first.value
    try await expect(typed.runOnce(), equals: 1)
  }

  @Test func `A query that is unique is a query`() async throws {
    let store = OperationStore.detached(
      query: Script(default: .value(5)).query().unique(self.id, policy: .keep),
      initialValue: 0
    )
    try await expect(store.fetch(), equals: 5)
  }

  @Test func `Many runs of one identifier never overlap, and all of them end`() async throws {
    let counter = InsideCounter()
    let scheduler = OperationScheduler(maximumConcurrentOperations: 3)
    let body: @Sendable (OperationContext) async throws -> Void = { _ in
      counter.enter()
      await elsewhere()
      counter.leave()
    }
    await withTaskGroup { group in
      for number in 0..<600 {
        let policy = [UniqueWorkPolicy.append, .append, .append, .keep, .replace][number % 5]
        let work = AnyWork("unique", body).unique(self.id, policy: policy)
        if number.isMultiple(of: 2) {
          let operation = scheduler.schedule(work)
          group.addTask {
            if number.isMultiple(of: 6) { operation.cancel() }
            _ = try? await operation.value
          }
        } else {
          group.addTask {
            let run = work.begin()
            if number.isMultiple(of: 7) { run.cancel() }
            _ = try? await run.value
          }
        }
      }
    }
    await scheduler.waitUntilEmpty()
    // All of them may have been replaced or cancelled before their bodies.
    try await AnyWork("unique", body).unique(self.id, policy: .append).runOnce()
    expect(counter.most, equals: 1)
  }
}
