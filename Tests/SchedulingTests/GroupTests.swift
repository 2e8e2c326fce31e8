import OperationCore
import OperationScheduling
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct GroupTests {
  private let log = Log<String>()
  private let script = Script()
  private let names = Names()

  private func work(_ name: String) -> AnyWork {
    Work(name) { [log] _ in log.append(name) }
  }

  @Test func `A group ends when the last of its operations ends`() async throws {
    let scheduler = OperationScheduler()
    let group = OperationGroup("group")
    let first = group.schedule(self.script.operation())
    let scheduled = scheduler.schedule(group)
    let run = try await self.script.next()
    let second = group.schedule(self.script.operation())
    run.succeed(1)
    try await expect(first.value, equals: 1)
    let last = try await self.script.next()
    #expect(!scheduled.isFinished)
    last.succeed(2)
    try await expect(second.value, equals: 2)
    try await scheduled.value
  }

  @Test func `Operations of a group begin after the group`() async throws {
    let scheduler = OperationScheduler()
    let group = OperationGroup("group")
    group.schedule(self.work("child"))
    let before = scheduler.schedule(self.script.operation())
    let scheduled = scheduler.schedule(group) { $0.addDependency(before) }
    let run = try await self.script.next()
    #expect(self.log.all.isEmpty)
    run.succeed(1)
    try await scheduled.value
    expect(self.log.all, equals: ["child"])
  }

  @Test func `A group waits for what its operations produce, and for its body`() async throws {
    let group = OperationGroup("group", maximumConcurrentOperations: 1) { [log] group in
      group.schedule(named: "parent") { _ in
        AnyScheduledOperation.current?.produce(self.work("product"))
        log.append("parent")
      }
      await elsewhere()
      log.append("body")
    }
    try await OperationScheduler().schedule(group).value
    expect(Set(self.log.all), equals: ["parent", "product", "body"])
    let again = OperationGroup("group of one") { _ in }
    try await again.runOnce()
  }

  @Test func `A group throws the first error after all have ended`() async throws {
    let group = OperationGroup("group", maximumConcurrentOperations: 1)
    group.schedule(Work<Void, any Error> { _ in throw Refused(code: 1) })
    group.schedule(Work<Void, any Error> { _ in throw Refused(code: 2) })
    group.schedule(self.work("last"))
    group.schedule(self.work("cancelled")).cancel()
    let scheduled = OperationScheduler().schedule(group)
    await #expect(throws: Refused(code: 1)) { try await scheduled.value }
    expect(self.log.all, equals: ["last"])
    expect(group.errors.map { $0 as? Refused }, equals: [Refused(code: 1), Refused(code: 2)])
    let failing = OperationGroup("failing") { group in
      group.schedule(self.work("child"))
      throw Refused(code: 3)
    }
    await #expect(throws: Refused(code: 3)) { try await failing.runOnce() }
    expect(self.log.all, equals: ["last", "child"])
  }

  @Test func `Cancelling a group cancels its operations, and it ends after them`() async throws {
    let group = OperationGroup("group", maximumConcurrentOperations: 1)
    let children = [group.schedule(self.script.operation()), group.schedule(self.script.operation())]
    let scheduled = OperationScheduler().schedule(group)
    let run = try await self.script.next()
    scheduled.cancel()
    try await run.cancelled()
    await #expect(throws: CancellationError.self) { try await scheduled.value }
    for child in children { await #expect(throws: CancellationError.self) { try await child.value } }
    expect(self.script.runCount, equals: 1)
  }

  @Test func `What is added to a cancelled group is cancelled`() async throws {
    let gate = Gate()
    let late = Log<ScheduledOperation<Void>>()
    let group = OperationGroup("group") { group in
      await gate.waitIgnoringCancellation()
      late.append(group.schedule(self.work("late")))
    }
    let scheduled = OperationScheduler().schedule(group)
    try await gate.arrivals(count: 1)
    scheduled.cancel()
    gate.open()
    await #expect(throws: CancellationError.self) { try await scheduled.value }
    await #expect(throws: CancellationError.self) { try await late.all.first?.value }
    #expect(self.log.all.isEmpty)
  }

  @Test(arguments: ["cancelled", "denied"])
  func `The operations of a group that never begins end as the group does`(how: String) async throws {
    let scheduler = OperationScheduler()
    scheduler.suspend()
    let group = OperationGroup("group")
    let child = group.schedule(self.work("child"))
    let scheduled = scheduler.schedule(group.condition(Check.denied(1)))
    if how == "cancelled" { scheduled.cancel() }
    scheduler.resume()
    if how == "cancelled" {
      await #expect(throws: CancellationError.self) { try await child.value }
    } else {
      await #expect(throws: Refused(code: 1)) { try await child.value }
    }
    await #expect(throws: (any Error).self) { try await scheduled.value }
    #expect(self.log.all.isEmpty)
  }

  @Test func `The operations of a group that a runner denies fail with the denial`() async throws {
    let group = OperationGroup("group")
    let child = group.schedule(self.work("child"))
    await #expect(throws: Refused(code: 1)) { try await group.condition(Check.denied(1)).runOnce() }
    await #expect(throws: Refused(code: 1)) { try await child.value }
    let skipped = OperationGroup("skipped")
    let other = skipped.schedule(self.work("other"))
    await #expect(throws: OperationSkipped.self) { try await AnyOperation(skipped.condition(Check.skipped)).runOnce() }
    await #expect(throws: OperationSkipped.self) { try await other.value }
    #expect(self.log.all.isEmpty)
  }

  @Test func `A suspended group begins no operation until it is resumed`() async throws {
    let group = OperationGroup("group", maximumConcurrentOperations: 1)
    group.suspend()
    let children = ["first", "second"].map { group.schedule(self.work($0)) }
    let begun = Gate(isOpen: true)
    let scheduled = OperationScheduler().schedule(group) { $0.observe { $0.didStart { [log] in log.append("group") } } }
    try await OperationScheduler().schedule(named: "arrival") { _ in try await begun.wait() }.value
    #expect(group.isSuspended)
    #expect(!self.log.all.contains("first"))
    expect(group.operations.count, equals: 2)
    group.resume()
    try await scheduled.value
    for child in children { try await child.value }
    expect(self.log.all, equals: ["group", "first", "second"])
  }

  @Test func `A cancelled group cancels its operations, whether a scheduler runs it or not`() async throws {
    for isScheduled in [true, false] {
      let group = OperationGroup("group")
      let gate = Gate()
      let child = group.schedule(named: "child") { _ in try await gate.wait() }
      let run = Task {
        if isScheduled { try await OperationScheduler().schedule(group).value } else { try await group.runOnce() }
      }
      try await gate.arrivals(count: 1)
      group.cancel()
      await #expect(throws: CancellationError.self) { try await child.value }
      await #expect(throws: CancellationError.self) { try await run.value }
      #expect(group.isCancelled)
    }
    let early = OperationGroup("early") { _ in Issue.record("The body of a cancelled group ran.") }
    let child = early.schedule(self.work("child"))
    early.cancel()
    await #expect(throws: CancellationError.self) { try await child.value }
    await #expect(throws: CancellationError.self) { try await early.runOnce() }
    #expect(self.log.all.isEmpty)
  }

  @Test func `The width of a group can be changed`() async throws {
    let group = OperationGroup("group", maximumConcurrentOperations: 1)
    let gate = Gate()
    for _ in 0..<3 { group.schedule(named: "child") { _ in try await gate.wait() } }
    let scheduled = OperationScheduler().schedule(group)
    try await gate.arrivals(count: 1)
    group.maximumConcurrentOperations = 3
    try await gate.arrivals(count: 3)
    gate.open()
    try await scheduled.value
  }

  @Test func `The operations of a group that is dropped are cancelled`() async throws {
    var group: OperationGroup? = OperationGroup("group")
    let child = group?.schedule(self.work("child"))
    group = nil
    await #expect(throws: CancellationError.self) { try await child?.value }
  }

  @Test func `Adding to a group that has ended is reported with both names`() async throws {
    let group = OperationGroup("the group")
    try await OperationScheduler().schedule(group).value
    let late = expectWarning(.addedAfterEnd) { group.schedule(self.work("late"), named: "the late one") }
    let error = await #expect(throws: OperationAddedAfterEnd.self) { try await late.value }
    expect(error, equals: OperationAddedAfterEnd(operationName: "the late one", endedName: "the group"))
    await expectWarning(.addedAfterEnd) {
      await #expect(throws: OperationAddedAfterEnd.self) { try await group.runOnce() }
    }
  }

  @Test func `A group and its operations can be in one category`() async throws {
    let group = OperationGroup("group")
    let early = group.schedule(self.work("early").mutuallyExclusive(self.names("x")))
    let counter = InsideCounter()
    for _ in 0..<20 {
      group.schedule(
        Work<Void, any Error> { _ in
          counter.enter()
          await elsewhere()
          counter.leave()
        }.mutuallyExclusive(self.names("x"))
      )
    }
    let scheduler = OperationScheduler()
    let scheduled = scheduler.schedule(group.mutuallyExclusive(self.names("x")))
    // It waits for the group, and does not block the operations of the group.
    let other = scheduler.schedule(self.work("other").mutuallyExclusive(self.names("x")))
    try await scheduled.value
    try await early.value
    try await other.value
    expect(counter.most, equals: 1)
    expect(Set(self.log.all), equals: ["early", "other"])
  }

  @Test func `A group that depends on its own operation is reported`() async throws {
    let scheduler = OperationScheduler()
    scheduler.suspend()
    let group = OperationGroup("group")
    let child = group.schedule(self.work("child"), named: "child")
    let scheduled = scheduler.schedule(group)
    expectWarning(.taskCycle) { scheduled.addDependency(child) }
    await #expect(throws: OperationCycleError.self) { try await scheduled.value }
    await #expect(throws: OperationCycleError.self) { try await child.value }
  }

  @Test func `An operation of a group that depends on the group is reported, and siblings may depend`() async throws {
    let scheduler = OperationScheduler()
    scheduler.suspend()
    let group = OperationGroup("group")
    let first = group.schedule(self.work("first"), named: "first")
    let second = group.schedule(self.work("second"))
    let scheduled = scheduler.schedule(group)
    first.addDependency(second)
    expectWarning(.taskCycle) { second.addDependency(scheduled) }
    await #expect(throws: OperationCycleError.self) { try await second.value }
    scheduler.resume()
    await #expect(throws: OperationCycleError.self) { try await scheduled.value }
    expect(self.log.all, equals: ["first"])
  }

  @Test func `An operation that awaits its own group is reported`() async throws {
    let recorder = WarningRecorder()
    await recorder.recording {
      let groups = Log<ScheduledOperation<Void>>()
      let gate = Gate()
      let group = OperationGroup("group") { group in
        group.schedule(named: "child") { _ in
          try await gate.wait()
          try await groups.all.first?.value
        }
      }
      let scheduled = OperationScheduler(maximumConcurrentOperations: 1).schedule(group)
      groups.append(scheduled)
      gate.open()
      await #expect(throws: OperationCycleError.self) { try await scheduled.value }
    }
    expect(recorder.warnings.map(\.code), equals: [.taskCycle])
  }

  @Test func `An operation of a group gives the place of the group to the one that it awaits`() async throws {
    let scheduler = OperationScheduler(maximumConcurrentOperations: 1)
    let group = OperationGroup("group") { [log] group in
      group.schedule(named: "child") { _ in
        try await scheduler.schedule(self.work("awaited")).value
        log.append("child")
      }
    }
    try await scheduler.schedule(group).value
    expect(self.log.all, equals: ["awaited", "child"])
  }

  @Test func `Groups contain groups`() async throws {
    let outer = OperationGroup("outer")
    for number in 0..<3 {
      let inner = OperationGroup("inner \(number)")
      for child in 0..<3 { inner.schedule(self.work("\(number) \(child)")) }
      outer.schedule(inner)
    }
    try await OperationScheduler().schedule(outer).value
    expect(self.log.all.count, equals: 9)
  }

  @Test func `A group leaves nothing behind`() async throws {
    let lifetimes = LifetimeTracker()
    do {
      let group = OperationGroup("group")
      for _ in 0..<1_000 {
        let token = lifetimes.token()
        group.schedule(Work<Void, any Error> { _ in token.touch() })
      }
      try await OperationScheduler(maximumConcurrentOperations: 2).schedule(group).value
    }
    try await lifetimes.noneAlive()
  }
}
