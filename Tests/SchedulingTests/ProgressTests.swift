import Observation
import OperationCore
import OperationScheduling
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct ProgressTests {
  @Test func `The progress of a scheduler counts what was scheduled and what has ended`() async throws {
    let scheduler = OperationScheduler()
    expect(scheduler.progress.fraction, equals: 0)
    // The operations run in tasks of their own, whose bodies may begin in any order.
    let scripts = (0..<4).map { _ in Script() }
    let operations = scripts.map { scheduler.schedule($0.operation()) }
    expect(scheduler.progress.total, equals: 4)
    try await scripts[0].next().succeed(1)
    try await scripts[1].next().fail(Refused())
    _ = try await scripts[2].next()
    operations[2].cancel()
    for operation in operations[..<3] { _ = try? await operation.value }
    operations[3].cancel()
    await scheduler.waitUntilEmpty()
    expect(scheduler.progress.completed, equals: 4)
    expect(scheduler.progress.fraction, equals: 1)
    #expect(scheduler.progress === scheduler.progress)
  }

  @Test func `The counts of a group are a sequence that never goes back and ends with the group`() async throws {
    let group = OperationGroup("group", maximumConcurrentOperations: 3)
    for _ in 0..<200 { group.schedule(named: "work") { _ in await elsewhere() } }
    let updates = group.progress.updates
    let counts = Task.immediate {
      var counts: [OperationProgress.Counts] = []
      for await count in updates { counts.append(count) }
      return counts
    }
    try await OperationScheduler().schedule(group).value
    let seen = await counts.value
    expect(seen.first?.total, equals: 200)
    expect(seen.last, equals: OperationProgress.Counts(completed: 200, total: 200))
    #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.completed < $1.completed })
    // A sequence that begins after the end has the last counts.
    var late: [OperationProgress.Counts] = []
    for await count in group.progress.updates { late.append(count) }
    expect(late, equals: [OperationProgress.Counts(completed: 200, total: 200)])
  }

  @Test func `The counts of a group that never begins end with the group`() async throws {
    let scheduler = OperationScheduler()
    scheduler.suspend()
    let group = OperationGroup("group")
    for _ in 0..<3 { group.schedule(named: "child") { _ in } }
    let updates = group.progress.updates
    let counts = Task.immediate {
      var counts: [OperationProgress.Counts] = []
      for await count in updates { counts.append(count) }
      return counts
    }
    scheduler.schedule(group).cancel()
    await expect(counts.value.last, equals: OperationProgress.Counts(completed: 3, total: 3))
  }

  @Test func `Changes of the progress are observed`() async throws {
    let scheduler = OperationScheduler()
    let progress = scheduler.progress
    let changes = Log<String>()
    withObservationTracking {
      _ = progress.total
    } onChange: {
      changes.append("total")
    }
    withObservationTracking {
      _ = progress.fraction
    } onChange: {
      changes.append("fraction")
    }
    try await scheduler.schedule(named: "work") { _ in }.value
    expect(changes.all.sorted(), equals: ["fraction", "total"])
    expect(progress.fraction, equals: 1)
  }

  @Test func `The fraction of nothing is zero`() {
    expect(OperationProgress.Counts().fraction, equals: 0)
    expect(OperationProgress.Counts(completed: 1, total: 4).fraction, equals: 0.25)
  }
}
