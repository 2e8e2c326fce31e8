import OperationCore
import OperationPausing
import OperationScheduling
import OperationTesting
import TestFixtures
import Testing

/// What users of `OperationQueue` know: suspension, width, priorities, dependencies that are removed, and snapshots.
@Suite(.bounded, .warningsAreIssues)
struct ControlTests {
  private let log = Log<String>()
  private let script = Script()

  private func work(_ name: String) -> AnyWork {
    Work(name) { [log] _ in log.append(name) }
  }

  @Test func `Nothing begins after a scheduler was suspended, not even what was scheduled just before`() async throws {
    for _ in 0..<200 {
      let scheduler = OperationScheduler(maximumConcurrentOperations: 1)
      let operation = scheduler.schedule(self.work("work"))
      scheduler.suspend()
      let phase = scheduler.operations.first?.phase ?? .ending
      if phase == .suspended {
        await elsewhere()
        expect(scheduler.operations.map(\.phase), equals: [.suspended])
        #expect(!operation.isFinished)
      }
      scheduler.resume()
      try await operation.value
    }
    expect(self.log.all.count, equals: 200)
  }

  @Test func `An operation that was suspended before it began keeps its turn`() async throws {
    let scheduler = OperationScheduler(maximumConcurrentOperations: 1)
    for _ in 0..<50 {
      let operations = ["first", "second", "third"].map { scheduler.schedule(self.work($0)) }
      scheduler.suspend()
      scheduler.resume()
      for operation in operations { try await operation.value }
    }
    expect(self.log.all, equals: Array(repeating: ["first", "second", "third"], count: 50).flatMap(\.self))
  }

  @Test func `More operations run when the width is raised, and fewer when it is lowered`() async throws {
    let scheduler = OperationScheduler(maximumConcurrentOperations: 1)
    let gates = (0..<6).map { _ in Gate() }
    let inside = InsideCounter()
    let operations = gates.map { gate in
      scheduler.schedule(named: "work") { _ in
        inside.enter()
        try await gate.wait()
        inside.leave()
      }
    }
    try await gates[0].arrivals(count: 1)
    scheduler.maximumConcurrentOperations = 3
    expect(scheduler.maximumConcurrentOperations, equals: 3)
    for gate in gates[1...2] { try await gate.arrivals(count: 1) }
    expect(inside.most, equals: 3)
    scheduler.maximumConcurrentOperations = 1
    gates[0].open()
    gates[1].open()
    try await operations[1].value
    try await operations[0].value
    expect(gates[3].arrivalCount, equals: 0)
    expect(scheduler.operations[1].phase, equals: .waitingForPlace)
    gates[2].open()
    try await gates[3].arrivals(count: 1)
    expect(gates[4].arrivalCount, equals: 0)
    for gate in gates { gate.open() }
    await scheduler.waitUntilEmpty()
    expect(inside.most, equals: 3)
    expectWarning(.invalidArgument) { scheduler.maximumConcurrentOperations = 0 }
    expect(scheduler.maximumConcurrentOperations, equals: 1)
  }

  @Test func `A removed dependency is not waited for`() async throws {
    let scheduler = OperationScheduler()
    let slow = scheduler.schedule(self.script.operation())
    let other = scheduler.schedule(self.script.operation())
    let runs = try await (self.script.next(), self.script.next())
    let dependent = scheduler.schedule(self.work("dependent")) {
      $0.addDependency(slow)
      $0.addDependency(slow)
      $0.addDependency(other)
    }
    dependent.removeDependency(slow)
    // It is none anymore, and never was one.
    dependent.removeDependency(slow.erased)
    dependent.erased.removeDependency(dependent)
    #expect(!dependent.isFinished)
    dependent.removeDependency(other)
    try await dependent.value
    // Too late: nothing happens.
    dependent.removeDependency(other)
    runs.0.succeed(1)
    runs.1.succeed(1)
    _ = try await (slow.value, other.value)
  }

  @Test func `A removed dependency of a scheduler holds nothing back`() async throws {
    let schedulers = [OperationScheduler(), OperationScheduler()]
    let slow = schedulers[0].schedule(self.script.operation(), vital: true)
    let run = try await self.script.next()
    schedulers[1].addDependency(slow)
    let held = schedulers[1].schedule(self.work("held"))
    let later = schedulers[0].schedule(self.work("later"))
    schedulers[1].removeDependency(slow)
    try await held.value
    // It is vital for its own scheduler all the same.
    schedulers[0].addDependency(slow)
    schedulers[0].removeDependency(slow.erased)
    #expect(!later.isFinished)
    run.succeed(1)
    try await later.value
    _ = try await slow.value
  }

  @Test func `What an operation of high priority waits for goes first, and so does what it waits for`() async throws {
    let scheduler = OperationScheduler(maximumConcurrentOperations: 1)
    scheduler.suspend()
    let other = scheduler.schedule(self.work("other"))
    let first = scheduler.schedule(self.work("first"), priority: .low)
    let second = scheduler.schedule(self.work("second"), priority: .low) { $0.addDependency(first) }
    let urgent = scheduler.schedule(self.work("urgent"), priority: .high) { $0.addDependency(second) }
    #expect(first.priority == .high && second.priority == .high)
    expect(other.priority, equals: .medium)
    scheduler.resume()
    try await urgent.value
    try await other.value
    expect(self.log.all, equals: ["first", "second", "urgent", "other"])
  }

  @Test func `A priority can be changed, and dependencies and vital operations and barriers follow`() async throws {
    let scheduler = OperationScheduler(maximumConcurrentOperations: 1)
    scheduler.suspend()
    let plain = scheduler.schedule(self.work("plain"), priority: .low)
    let barrier = scheduler.scheduleBarrier(self.work("barrier"), priority: .low)
    let vital = scheduler.schedule(self.work("vital"), vital: true, priority: .low)
    let last = scheduler.schedule(self.work("last"), priority: .low)
    expect([plain, barrier, vital, last].map(\.priority), equals: Array(repeating: .low, count: 4))
    last.priority = .high
    expect([plain, barrier, vital, last].map(\.priority), equals: Array(repeating: .high, count: 4))
    last.erased.priority = .low
    // What others have asked for remains.
    #expect(last.priority == .low && vital.priority == .high)
    scheduler.resume()
    try await last.value
    expect(self.log.all, equals: ["plain", "barrier", "vital", "last"])
  }

  @Test func `A raised operation overtakes others that wait for a place, and a lowered one does not`() async throws {
    let scheduler = OperationScheduler(maximumConcurrentOperations: 1)
    scheduler.suspend()
    let operations = ["a", "b", "c"].map { scheduler.schedule(self.work($0)) }
    operations[2].priority = .high
    operations[0].priority = .low
    scheduler.resume()
    await scheduler.waitUntilEmpty()
    expect(self.log.all, equals: ["c", "b", "a"])
  }

  @Test func `The task of an operation that runs is escalated by one that waits for it`() async throws {
    let scheduler = OperationScheduler()
    let gate = Gate()
    let running = scheduler.schedule(named: "running", priority: .low) { _ in
      try await gate.wait()
      return Task.currentPriority
    }
    try await gate.arrivals(count: 1)
    let urgent = scheduler.schedule(self.work("urgent"), priority: .high) { $0.addDependency(running) }
    expect(running.priority, equals: .high)
    gate.open()
    try await expect(running.value, equals: .high)
    try await urgent.value
  }

  @Test func `A paused operation gives its place to others, and takes one again before its body runs`() async throws {
    let scheduler = OperationScheduler(maximumConcurrentOperations: 1)
    let door = Door()
    let paused = scheduler.schedule(self.work("paused").waits(until: door), named: "paused")
    try await scheduler.schedule(self.work("other")).value
    expect(scheduler.operations.map(\.phase), equals: [.paused])
    expect(scheduler.operations[0].description, equals: "paused is paused: Door")
    let next = scheduler.schedule(self.script.operation())
    let run = try await self.script.next()
    door.set(true)
    // The place is taken: the operation that may continue waits for it.
    try await OperationScheduler().schedule(self.work("elsewhere")).value
    expect(self.log.all, equals: ["other", "elsewhere"])
    run.succeed(1)
    _ = try await (next.value, paused.value)
    expect(self.log.all, equals: ["other", "elsewhere", "paused"])
  }

  @Test func `A paused operation that is cancelled ends at once, though all places are taken`() async throws {
    let scheduler = OperationScheduler(maximumConcurrentOperations: 1)
    let door = Door()
    let paused = scheduler.schedule(self.work("paused").waits(until: door))
    let other = scheduler.schedule(self.script.operation())
    let run = try await self.script.next()
    paused.cancel()
    await #expect(throws: CancellationError.self) { try await paused.value }
    run.succeed(1)
    _ = try await other.value
    #expect(self.log.all.isEmpty)
  }

  @Test func `A snapshot says what each operation does and what it waits for`() async throws {
    let names = Names()
    let scheduler = OperationScheduler(maximumConcurrentOperations: 2, name: "scheduler")
    let gate = Gate()
    let holder = scheduler.schedule(
      Work<Void, any Error>("holder") { _ in try await gate.wait() }.mutuallyExclusive(names("category"))
    )
    try await gate.arrivals(count: 1)
    let checking = Gate()
    scheduler.schedule(
      self.work("checking").condition(
        Check {
          try? await checking.wait()
          return .satisfied
        }
      )
    )
    try await checking.arrivals(count: 1)
    let dependent = scheduler.schedule(self.work("dependent"), vital: true) { $0.addDependency(holder) }
    scheduler.scheduleBarrier(self.work("barrier"))
    scheduler.schedule(self.work("later")).cancel()
    let held = scheduler.schedule(self.work("held"))
    let texts = scheduler.operations.map(\.description)
    expect(
      texts,
      equals: [
        "holder runs",
        "checking evaluates conditions",
        "dependent waits for dependencies: holder",
        "barrier waits for dependencies: dependent, holder, checking",
        "held waits for dependencies: dependent, barrier",
      ]
    )
    expect(scheduler.operations.map(\.isBarrier), equals: [false, false, false, true, false])
    expect(scheduler.operations.map(\.isVital), equals: [false, false, true, true, false])
    expect(scheduler.operations[2].operation, equals: dependent.erased)
    gate.open()
    checking.open()
    try await held.value
  }

  @Test func `A snapshot names the holder of a category, what a body awaits, and who waits for a place`() async throws {
    let names = Names()
    let scheduler = OperationScheduler(maximumConcurrentOperations: 1)
    let gate = Gate()
    let outside = OperationScheduler()
    let holder = outside.schedule(
      Work<Void, any Error>("holder") { _ in try await gate.wait() }.mutuallyExclusive(names("category"))
    )
    try await gate.arrivals(count: 1)
    let waiting = scheduler.schedule(self.work("waiting").mutuallyExclusive(names("category")))
    let awaiting = scheduler.schedule(named: "awaiting") { _ in try await holder.value }
    // Both have lent their place.
    let blocking = scheduler.schedule(self.script.operation(), named: "blocking")
    let run = try await self.script.next()
    scheduler.schedule(self.work("last"))
    let operations = scheduler.operations
    expect(operations.map(\.phase), equals: [.waitingForCategories, .waitingForOperations, .running, .waitingForPlace])
    expect(operations[0].holders, equals: ["holder"])
    expect(operations[1].description, equals: "awaiting waits for operations: holder")
    scheduler.suspend()
    expect(scheduler.operations.last?.phase, equals: .suspended)
    scheduler.resume()
    run.succeed(1)
    gate.open()
    _ = try await (waiting.value, awaiting.value, blocking.value)
    await scheduler.waitUntilEmpty()
    #expect(scheduler.operations.isEmpty)
  }

  @Test func `The name of an operation outlives it`() async throws {
    let scheduler = OperationScheduler()
    let operations = [
      scheduler.schedule(self.work("own")), scheduler.schedule(self.work("own"), named: "given"),
      scheduler.schedule(self.work("cancelled")),
    ]
    operations[2].cancel()
    await scheduler.waitUntilEmpty()
    expect(operations.map(\.name), equals: ["own", "given", "cancelled"])
    let dependent = scheduler.schedule(named: "dependent") { _ in
      AnyScheduledOperation.current?.dependencies.map(\.name) ?? []
    }
    try await expect(dependent.value, equals: [])
  }

  @Test(arguments: ["inside", "around", "twice", "under a modifier"])
  func `Observers hear the start of an erased operation after its conditions`(form: String) async throws {
    let scheduler = OperationScheduler()
    let log = self.log
    let check = Check {
      log.append("condition")
      return .satisfied
    }
    let plain = self.work("body")
    let observe = { (operation: ScheduledOperation<Void>) in operation.observe { $0.didStart { log.append("start") } } }
    switch form {
    case "inside": try await scheduler.schedule(AnyOperation(plain.condition(check)), configure: observe).value
    case "around": try await scheduler.schedule(AnyOperation(plain).condition(check), configure: observe).value
    case "twice":
      let operation = AnyOperation(plain.condition(check)).condition(check)
      try await scheduler.schedule(operation, configure: observe).value
    default:
      let operation = AnyOperation(AnyOperation(plain.condition(check)).waits(until: Door(isOpen: true)))
      try await scheduler.schedule(operation, configure: observe).value
    }
    let conditions = form == "twice" ? ["condition", "condition"] : ["condition"]
    expect(log.all, equals: conditions + ["start", "body"])
  }

  @Test func `Erased unique work and erased groups are known to the scheduler`() async throws {
    let scheduler = OperationScheduler()
    let first = scheduler.schedule(self.script.operation().unique("erased \(#line)", policy: .keep))
    _ = first
    let run = try await self.script.next()
    run.succeed(1)
    let group = OperationGroup("group")
    let child = group.schedule(self.work("child"))
    let scheduled = scheduler.schedule(AnyOperation(group))
    scheduled.cancel()
    _ = try? await scheduled.value
    _ = try? await child.value
    #expect(child.isFinished)
  }
}
