import OperationCore
import OperationScheduling
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct VitalTests {
  private let log = Log<String>()
  private let script = Script()

  private func work(_ name: String) -> AnyWork {
    Work(name) { [log] _ in log.append(name) }
  }

  @Test func `A vital operation holds back what is scheduled later, and not what was there`() async throws {
    let scheduler = OperationScheduler()
    scheduler.suspend()
    let before = scheduler.schedule(self.work("before"))
    let vital = scheduler.schedule(self.script.operation(), vital: true)
    let after = scheduler.schedule(self.work("after"))
    scheduler.resume()
    try await before.value
    let run = try await self.script.next()
    #expect(vital.erased.isVital)
    expect(self.log.all, equals: ["before"])
    run.succeed(1)
    try await after.value
    expect(self.log.all, equals: ["before", "after"])
  }

  @Test func `A vital operation waits for earlier ones, and a cancelled one releases nothing early`() async throws {
    let scheduler = OperationScheduler()
    let first = scheduler.schedule(self.script.operation(), vital: true)
    let run = try await self.script.next()
    let second = scheduler.schedule(self.work("second"), vital: true)
    let third = scheduler.schedule(self.work("third"))
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    #expect(self.log.all.isEmpty)
    #expect(!third.isFinished)
    run.succeed(1)
    _ = try await first.value
    try await third.value
    expect(self.log.all, equals: ["third"])
  }

  @Test func `An operation of another scheduler can hold a scheduler back`() async throws {
    let schedulers = [OperationScheduler(), OperationScheduler()]
    let important = schedulers[0].schedule(self.script.operation())
    let before = schedulers[1].schedule(self.work("before"))
    schedulers[1].addDependency(important)
    schedulers[1].addDependency(important.erased)
    let after = schedulers[1].schedule(self.work("after"))
    try await before.value
    let run = try await self.script.next()
    expect(self.log.all, equals: ["before"])
    run.succeed(1)
    try await after.value
    // One that has ended holds nothing back.
    schedulers[1].addDependency(important)
    try await schedulers[1].schedule(self.work("last")).value
  }

  @Test func `A vital operation does not hold back what its conditions generate`() async throws {
    let scheduler = OperationScheduler(maximumConcurrentOperations: 1)
    let login = Work<Void, any Error> { [log] _ in
      // Scheduled in the same scheduler, after the vital operation.
      try await scheduler.schedule(self.work("login")).value
      log.append("logged in")
    }
    let vital = scheduler.schedule(self.work("vital").condition(Check(dependency: login) { .satisfied }), vital: true)
    let after = scheduler.schedule(self.work("after"))
    try await vital.value
    try await after.value
    expect(self.log.all, equals: ["login", "logged in", "vital", "after"])
  }

  @Test func `A vital operation does not hold back what it produces`() async throws {
    let scheduler = OperationScheduler()
    let gate = Gate()
    let vital = scheduler.schedule(named: "vital", vital: true) { [log] _ in
      let product = AnyScheduledOperation.current?.produce(self.work("product"))
      try await product?.value
      try await gate.wait()
      log.append("vital")
    }
    let after = scheduler.schedule(self.work("after"))
    try await gate.arrivals(count: 1)
    expect(self.log.all, equals: ["product"])
    gate.open()
    try await vital.value
    try await after.value
    expect(self.log.all, equals: ["product", "vital", "after"])
  }

  @Test func `A product of an operation that is held back is held back by the same vital operations`() async throws {
    let scheduler = OperationScheduler()
    let first = scheduler.schedule(self.script.operation(), vital: true)
    let run = try await self.script.next()
    let held = (1...2).map { scheduler.schedule(self.work("held \($0)")) }
    let second = scheduler.schedule(self.script.operation(), vital: true)
    let after = scheduler.schedule(self.work("after"))
    let products = (1...2).map { held[0].produce(self.work("product \($0)")) }
    let cancelled = held[1].produce(self.work("cancelled"))
    cancelled.cancel()
    held[1].cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    #expect(self.log.all.isEmpty)
    run.succeed(1)
    for product in products { try await product.value }
    try await held[0].value
    expect(Set(self.log.all), equals: ["held 1", "product 1", "product 2"])
    // The second vital operation came later: it holds back what came after it, and not the products.
    #expect(!after.isFinished)
    try await self.script.next().succeed(2)
    _ = try await (first.value, second.value, after.value)
    expect(self.log.all.last, equals: "after")
    await scheduler.waitUntilEmpty()
  }

  @Test func `A product of an operation that is being scheduled is held back like that operation`() async throws {
    let scheduler = OperationScheduler()
    let vital = scheduler.schedule(self.script.operation(), vital: true)
    let run = try await self.script.next()
    scheduler.schedule(self.work("parent")) { $0.produce(self.work("product")) }
    let probe = OperationScheduler()
    try await probe.schedule(self.work("probe")).value
    expect(self.log.all, equals: ["probe"])
    run.succeed(1)
    _ = try await vital.value
    await scheduler.waitUntilEmpty()
    expect(Set(self.log.all), equals: ["probe", "parent", "product"])
  }

  @Test func `Schedulers that are held back by operations of each other do not wait in a cycle`() async throws {
    let schedulers = [OperationScheduler(), OperationScheduler()]
    let operations = schedulers.map { $0.schedule(self.script.operation()) }
    schedulers[0].addDependency(operations[1])
    schedulers[1].addDependency(operations[0])
    let later = schedulers.map { $0.schedule(self.work("later")) }
    for _ in operations { try await self.script.next().succeed(1) }
    for operation in later { try await operation.value }
  }

  @Test func `A vital operation that depends on one that it holds back is reported and fails`() async throws {
    let scheduler = OperationScheduler()
    scheduler.suspend()
    let vital = scheduler.schedule(self.work("vital"), vital: true, named: "vital")
    let after = scheduler.schedule(self.work("after"), named: "after")
    expectWarning(.taskCycle) { vital.addDependency(after) }
    await #expect(throws: OperationCycleError.self) { try await vital.value }
    scheduler.resume()
    try await after.value
    expect(self.log.all, equals: ["after"])
  }

  @Test func `An operation that is held back by one that waits for it is reported and fails`() async throws {
    let scheduler = OperationScheduler()
    scheduler.suspend()
    let existing = scheduler.schedule(self.work("existing"), named: "existing")
    let vital = scheduler.schedule(self.work("vital"), vital: true, named: "vital")
    vital.addDependency(existing)
    let recorder = WarningRecorder()
    let new = recorder.recording {
      scheduler.schedule(self.work("new"), named: "new") { existing.addDependency($0) }
    }
    let error = await #expect(throws: OperationCycleError.self) { try await new.value }
    expect(error?.operationNames, equals: ["new", "vital", "existing", "new"])
    expect(recorder.warnings.map(\.code), equals: [.taskCycle])
    scheduler.resume()
    try await vital.value
    expect(self.log.all, equals: ["existing", "vital"])
  }

  @Test func `Many vital operations and others run in order`() async throws {
    let scheduler = OperationScheduler()
    let counter = Log<Int>()
    for number in 0..<500 {
      scheduler.schedule(named: "work", vital: number % 10 == 0) { _ in
        await elsewhere()
        counter.append(number)
      }
    }
    await scheduler.waitUntilEmpty()
    let positions = Dictionary(uniqueKeysWithValues: counter.all.enumerated().map { ($1, $0) })
    expect(positions.count, equals: 500)
    for vital in stride(from: 0, to: 500, by: 10) {
      for later in (vital + 1)..<500 {
        guard let first = positions[vital], let second = positions[later], first < second else {
          Issue.record("\(later) ended before the vital operation \(vital)")
          return
        }
      }
    }
  }
}
