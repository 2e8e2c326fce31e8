import OperationCore
import OperationScheduling
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct BarrierTests {
  private let log = Log<String>()
  private let script = Script()

  private func work(_ name: String) -> AnyWork {
    Work(name) { [log] _ in log.append(name) }
  }

  @Test func `A barrier begins after what was scheduled before it, and before what is scheduled later`() async throws {
    let scheduler = OperationScheduler()
    let earlier = scheduler.schedule(self.script.operation())
    let run = try await self.script.next()
    let barrier = scheduler.addBarrier { [log] in log.append("barrier") }
    let later = scheduler.schedule(self.work("later"))
    #expect(barrier.erased.isBarrier && barrier.erased.isVital)
    // The scheduler lets an operation begin that is not behind the barrier.
    try await OperationScheduler().schedule(self.work("elsewhere")).value
    expect(self.log.all, equals: ["elsewhere"])
    run.succeed(1)
    _ = try await (earlier.value, barrier.value, later.value)
    expect(self.log.all, equals: ["elsewhere", "barrier", "later"])
  }

  @Test func `Barriers in a row run one after another, each with all operations before it ended`() async throws {
    let scheduler = OperationScheduler()
    let ended = Log<Int>()
    for number in 0..<300 {
      if number.isMultiple(of: 3) {
        scheduler.addBarrier {
          expect(Set(ended.all), equals: Set(0..<number))
          await elsewhere()
          ended.append(number)
        }
      } else {
        scheduler.schedule(named: "work") { _ in
          await elsewhere()
          #expect(ended.all.contains(number / 3 * 3))
          ended.append(number)
        }
      }
    }
    await scheduler.waitUntilEmpty()
    expect(ended.all.count, equals: 300)
  }

  @Test func `A barrier waits for what an earlier operation schedules, which does not wait for it`() async throws {
    let scheduler = OperationScheduler()
    let gate = Gate()
    let earlier = scheduler.schedule(named: "earlier") { [log] _ in
      try await gate.wait()
      try await scheduler.schedule(self.work("inner")).value
      AnyScheduledOperation.current?.produce(self.work("product"))
      log.append("earlier")
    }
    try await gate.arrivals(count: 1)
    let barrier = scheduler.scheduleBarrier(self.work("barrier"))
    gate.open()
    try await earlier.value
    try await barrier.value
    expect(self.log.all.first, equals: "inner")
    expect(self.log.all.last, equals: "barrier")
    expect(self.log.all.count, equals: 4)
  }

  @Test func `A cancelled barrier holds nothing back, and the next one waits for all`() async throws {
    let scheduler = OperationScheduler()
    let earlier = scheduler.schedule(self.script.operation())
    let run = try await self.script.next()
    let first = scheduler.scheduleBarrier(self.work("first"))
    let between = scheduler.schedule(self.work("between"))
    let second = scheduler.scheduleBarrier(self.work("second"))
    first.cancel()
    try await between.value
    expect(self.log.all, equals: ["between"])
    run.succeed(1)
    _ = try await (earlier.value, second.value)
    expect(self.log.all, equals: ["between", "second"])
    await #expect(throws: CancellationError.self) { try await first.value }
  }

  @Test func `An operation before a barrier that depends on one behind it is reported and fails`() async throws {
    let scheduler = OperationScheduler()
    scheduler.suspend()
    let before = scheduler.schedule(self.work("before"), named: "before")
    let barrier = scheduler.scheduleBarrier(self.work("barrier"), named: "barrier")
    let after = scheduler.schedule(self.work("after"), named: "after")
    expectWarning(.taskCycle) { before.addDependency(after) }
    let error = await #expect(throws: OperationCycleError.self) { try await before.value }
    expect(error?.operationNames.first, equals: "before")
    scheduler.resume()
    _ = try await (barrier.value, after.value)
    expect(self.log.all, equals: ["barrier", "after"])
  }

  @Test func `An operation that schedules a barrier and awaits it is told that it waits for itself`() async throws {
    let scheduler = OperationScheduler()
    let recorder = WarningRecorder()
    try await recorder.recording {
      let outer = scheduler.schedule(named: "outer") { _ in
        let barrier = scheduler.scheduleBarrier(self.work("barrier"), named: "barrier")
        await #expect(throws: OperationCycleError.self) { try await barrier.value }
      }
      try await outer.value
    }
    await scheduler.waitUntilEmpty()
    expect(self.log.all, equals: ["barrier"])
    expect(recorder.warnings.map(\.code), equals: [.taskCycle])
  }

  @Test func `Barriers of a group divide its operations`() async throws {
    let group = OperationGroup("group")
    group.schedule(self.work("first"))
    group.addBarrier { [log] in log.append("barrier") }
    group.schedule(self.work("last"))
    try await OperationScheduler().schedule(group).value
    expect(self.log.all, equals: ["first", "barrier", "last"])
  }

  @Test
  func `Ten thousand vital operations, barriers and products are scheduled at a constant cost each`() async throws {
    let scheduler = OperationScheduler()
    scheduler.suspend()
    let count = Log<Int>()
    var last: ScheduledOperation<Void>?
    for number in 0..<10_000 {
      let work = Work<Void, any Error> { _ in count.append(number) }
      if number % 4 == 0 {
        last = scheduler.scheduleBarrier(work)
      } else {
        let previous = last
        last = scheduler.schedule(work, vital: true) { if let previous { $0.addDependency(previous) } }
      }
      if number % 4 == 3 { last?.produce(AnyWork { _ in count.append(number) }) }
    }
    scheduler.resume()
    await scheduler.waitUntilEmpty()
    expect(count.all.count, equals: 12_500)
  }

  @Test
  func `Ten thousand vital operations of a group are scheduled at a constant cost each`() async throws {
    let group = OperationGroup("group")
    let count = Log<Int>()
    for number in 0..<10_000 {
      group.schedule(Work<Void, any Error> { _ in count.append(number) }, vital: true)
    }
    try await OperationScheduler().schedule(group).value
    expect(count.all, equals: Array(0..<10_000))
  }
}
