import OperationCore
import OperationScheduling
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct SchedulerTests {
  private let log = Log<String>()
  private let script = Script()

  private func work(_ name: String) -> AnyWork {
    Work(name) { [log] _ in log.append(name) }
  }

  @Test func `A scheduled operation runs and has a value`() async throws {
    let scheduler = OperationScheduler()
    let operation = scheduler.schedule(Work<Int, any Error>("seven") { _ in 7 })
    try await expect(operation.value, equals: 7)
    try expect(operation.result?.get(), equals: 7)
    #expect(operation.isFinished)
    #expect(operation.name == "seven" || operation.name == "Work<Int, Error>")
    expect(scheduler.operationCount, equals: 0)
  }

  @Test func `The value of an operation throws its error`() async throws {
    let scheduler = OperationScheduler()
    let typed = scheduler.schedule(Work<Int, OnlyFailure> { _ throws(OnlyFailure) in throw .other })
    await #expect(throws: OnlyFailure.other) { try await typed.value }
    let denied = scheduler.schedule(self.work("body").condition(Check.denied(3)))
    await #expect(throws: Refused(code: 3)) { try await denied.value }
    #expect(self.log.all.isEmpty)
  }

  @Test func `No more operations run at a time than the scheduler allows`() async throws {
    let scheduler = OperationScheduler(maximumConcurrentOperations: 3)
    let counter = InsideCounter()
    for _ in 0..<200 {
      scheduler.schedule(named: "work") { _ in
        counter.enter()
        await elsewhere()
        counter.leave()
      }
    }
    await scheduler.waitUntilEmpty()
    expect(counter.entered, equals: 200)
    #expect(counter.most <= 3)
  }

  @Test func `With one place, operations run in the order in which they were scheduled`() async throws {
    let scheduler = OperationScheduler(maximumConcurrentOperations: 1)
    for number in 0..<50 { scheduler.schedule(self.work("\(number)")) }
    await scheduler.waitUntilEmpty()
    expect(self.log.all, equals: (0..<50).map { "\($0)" })
  }

  @Test func `Operations of higher priority go first, and none waits forever`() async throws {
    let scheduler = OperationScheduler(maximumConcurrentOperations: 1)
    scheduler.suspend()
    scheduler.schedule(self.work("low"), priority: .low)
    for number in 0..<20 { scheduler.schedule(self.work("medium \(number)"), priority: .medium) }
    scheduler.schedule(self.work("high"), priority: .high)
    scheduler.resume()
    await scheduler.waitUntilEmpty()
    let entries = self.log.all
    expect(entries.first, equals: "high")
    // The sixteenth choice is the oldest one.
    expect(entries.firstIndex(of: "low"), equals: 15)
    expect(entries.filter { $0.hasPrefix("medium") }, equals: (0..<20).map { "medium \($0)" })
  }

  @Test func `The priority of the task configuration counts`() async throws {
    var context = OperationContext()
    context.operationTaskConfiguration.priority = .high
    let scheduler = OperationScheduler(maximumConcurrentOperations: 1)
    scheduler.suspend()
    scheduler.schedule(self.work("medium"))
    scheduler.schedule(self.work("high"), in: context)
    scheduler.resume()
    await scheduler.waitUntilEmpty()
    expect(self.log.all, equals: ["high", "medium"])
  }

  @Test func `A suspended scheduler begins nothing, and lets what runs end`() async throws {
    let scheduler = OperationScheduler()
    let first = scheduler.schedule(self.script.operation())
    let run = try await self.script.next()
    scheduler.suspend()
    #expect(scheduler.isSuspended)
    let second = scheduler.schedule(self.script.operation())
    run.succeed(1)
    try await expect(first.value, equals: 1)
    expect(self.script.runCount, equals: 1)
    scheduler.resume()
    try await self.script.next().succeed(2)
    try await expect(second.value, equals: 2)
  }

  @Test func `An operation that is cancelled before it begins ends at once, and does not run`() async throws {
    let scheduler = OperationScheduler()
    scheduler.suspend()
    let dependency = scheduler.schedule(self.work("dependency"))
    let operation = scheduler.schedule(self.work("body"))
    operation.addDependency(dependency)
    operation.cancel()
    operation.cancel()
    #expect(operation.isCancelled)
    await #expect(throws: CancellationError.self) { try await operation.value }
    scheduler.resume()
    await scheduler.waitUntilEmpty()
    expect(self.log.all, equals: ["dependency"])
  }

  @Test func `An operation with a failure of its own is cancelled before it begins, too`() async throws {
    let scheduler = OperationScheduler()
    scheduler.suspend()
    let operation = scheduler.schedule(Work<Int, OnlyFailure> { _ throws(OnlyFailure) in 1 })
    operation.cancel()
    await #expect(throws: CancellationError.self) { try await operation.value }
  }

  @Test func `The body of a running operation that is cancelled decides how it ends`() async throws {
    let scheduler = OperationScheduler()
    let gate = Gate()
    let stubborn = scheduler.schedule(named: "stubborn") { _ in
      await gate.waitIgnoringCancellation()
      return Task.isCancelled
    }
    try await gate.arrivals(count: 1)
    stubborn.cancel()
    gate.open()
    #expect(try await stubborn.value)
  }

  @Test func `All operations are cancelled at once`() async throws {
    let scheduler = OperationScheduler(maximumConcurrentOperations: 2)
    let operations = (0..<5).map { _ in scheduler.schedule(self.script.operation()) }
    try await self.script.runs(count: 2)
    scheduler.cancelAll()
    for operation in operations {
      await #expect(throws: CancellationError.self) { try await operation.value }
    }
    await scheduler.waitUntilEmpty()
    expect(self.script.runCount, equals: 2)
    // What is scheduled later runs.
    let later = scheduler.schedule(self.work("later"))
    try await later.value
  }

  @Test func `A caller that is cancelled while it awaits a value leaves, and the operation continues`() async throws {
    let scheduler = OperationScheduler()
    let operation = scheduler.schedule(self.script.operation())
    let run = try await self.script.next()
    let caller = Task.immediate { try await operation.value }
    caller.cancel()
    await #expect(throws: CancellationError.self) { try await caller.value }
    #expect(!operation.isCancelled)
    run.succeed(4)
    try await expect(operation.value, equals: 4)
  }

  @Test func `Waiting for an empty scheduler ends with the last operation or with the task`() async throws {
    let scheduler = OperationScheduler()
    await scheduler.waitUntilEmpty()
    scheduler.schedule(self.script.operation())
    let run = try await self.script.next()
    let waiters = (0..<3).map { _ in Task.immediate { await scheduler.waitUntilEmpty() } }
    waiters[0].cancel()
    await waiters[0].value
    expect(scheduler.operationCount, equals: 1)
    run.succeed(1)
    for waiter in waiters { await waiter.value }
    expect(scheduler.operationCount, equals: 0)
  }

  @Test func `A width below one is reported, and counts as one`() async throws {
    let scheduler = expectWarning(.invalidArgument) { OperationScheduler(maximumConcurrentOperations: -1) }
    try await scheduler.schedule(self.work("body")).value
    expect(self.log.all, equals: ["body"])
  }

  @Test func `Operations run with the context of the scheduler, the call and their own setup`() async throws {
    var context = OperationContext()
    context[EntryKey.self] = ["scheduler"]
    let scheduler = OperationScheduler(initialContext: context)
    let read = Work<[String], any Error> { $0[EntryKey.self] }
    try await expect(scheduler.schedule(read).value, equals: ["scheduler"])
    context[EntryKey.self] = ["call"]
    try await expect(scheduler.schedule(read, in: context).value, equals: ["call"])
    let set = read.context { $0[EntryKey.self].append("own") }
    try await expect(scheduler.schedule(set, in: context).value, equals: ["call", "own"])
  }

  @Test func `Operations inherit the task-local values of the caller`() async throws {
    let scheduler = OperationScheduler()
    scheduler.suspend()
    let operation = Local.$value.withValue(5) {
      scheduler.schedule(named: "local") { _ in Local.value }
    }
    scheduler.resume()
    try await expect(operation.value, equals: 5)
  }

  @Test func `Modules are called for each operation before it begins`() async throws {
    let scheduler = OperationScheduler(name: "modular")
    scheduler.addEnqueuingModule { [log] operation, scheduler in
      log.append("\(scheduler.name): \(operation.name)")
      operation.observe {
        $0.didStart { log.append("start") }
        $0.didSucceed { log.append("success") }
        $0.didFinish { log.append("finish") }
      }
    }
    scheduler.addEnqueuingModule { [log] operation, _ in
      if operation.operationType is AnyWork.Type { log.append("work") }
    }
    try await scheduler.schedule(self.work("a")).value
    expect(self.log.all, equals: ["modular: a", "work", "start", "a", "success", "finish"])
  }

  @Test func `A condition that a module adds is prepared like those of the operation`() async throws {
    let scheduler = OperationScheduler()
    scheduler.addEnqueuingModule { [log] operation, _ in
      let login = Work<Void, any Error> { _ in log.append("login") }
      operation.addCondition(
        Check(dependency: login) {
          log.append("logged in")
          return .satisfied
        }
      )
      operation.observe { $0.didStart { log.append("start") } }
    }
    let own = Check(dependency: self.work("own work")) { [log] in
      log.append("own")
      return .satisfied
    }
    let operation = self.work("body").condition(own).mutuallyExclusive("module test")
    try await scheduler.schedule(operation).value
    expect(self.log.all, equals: ["login", "own work", "logged in", "own", "start", "body"])
  }

  @Test func `A condition that a module adds can deny an operation with a failure of its own`() async throws {
    let scheduler = OperationScheduler()
    scheduler.addEnqueuingModule { operation, _ in operation.addCondition(Check.denied(8)) }
    let operation = scheduler.schedule(Work<Int, OnlyFailure> { _ throws(OnlyFailure) in 1 })
    await #expect(throws: Refused(code: 8)) { try await operation.value }
  }

  @Test func `A module can cancel an operation`() async throws {
    let scheduler = OperationScheduler()
    scheduler.addEnqueuingModule { operation, _ in operation.cancel() }
    let operation = scheduler.schedule(self.work("body"))
    await #expect(throws: CancellationError.self) { try await operation.value }
    #expect(self.log.all.isEmpty)
  }

  @Test func `Thousands of operations leave nothing behind`() async throws {
    let lifetimes = LifetimeTracker()
    let count = ModelRuns.count(20_000, weight: 10)
    do {
      let scheduler = OperationScheduler(maximumConcurrentOperations: 4)
      let counter = InsideCounter()
      for number in 0..<count {
        let token = lifetimes.token()
        let operation = scheduler.schedule(
          Work<Void, any Error> { _ in
            token.touch()
            counter.enter()
            counter.leave()
          }
        )
        if number % 10 == 9 { operation.cancel() }
      }
      await scheduler.waitUntilEmpty()
      #expect(counter.entered >= count * 9 / 10)
      #expect(counter.most <= 4)
      expect(scheduler.operationCount, equals: 0)
    }
    try await lifetimes.noneAlive()
  }

  @Test func `A scheduler that is released lets its operations run`() async throws {
    var scheduler: OperationScheduler? = OperationScheduler(maximumConcurrentOperations: 1)
    let operations = (0..<10).map { number in scheduler?.schedule(self.work("\(number)")) }
    scheduler = nil
    for operation in operations { try await operation?.value }
    expect(self.log.all.count, equals: 10)
  }

  @Test func `What waits in a suspended scheduler is cancelled when the scheduler is released`() async throws {
    let lifetimes = LifetimeTracker()
    var scheduler: OperationScheduler? = OperationScheduler()
    scheduler?.suspend()
    let token = lifetimes.token()
    let operation = scheduler?.schedule(Work<Void, any Error> { _ in token.touch() })
    scheduler = nil
    await #expect(throws: CancellationError.self) { try await operation?.value }
  }

  @Test func `What an operation produces in a suspended scheduler that was released is cancelled`() async throws {
    let gate = Gate()
    var scheduler: OperationScheduler? = OperationScheduler()
    let operation = scheduler?.schedule(named: "parent") { _ in
      try await gate.wait()
      let product = AnyScheduledOperation.current?.produce(AnyWork { _ in })
      await #expect(throws: CancellationError.self) { try await product?.value }
    }
    try await gate.arrivals(count: 1)
    scheduler?.suspend()
    scheduler = nil
    gate.open()
    try await operation?.value
  }

  @Test func `Queries, groups and mutually exclusive operations can be scheduled`() async throws {
    let scheduler = OperationScheduler()
    let query = OperationScript<Int, any Error>(default: .value(9)).query().mutuallyExclusive("query test")
    try await expect(scheduler.schedule(query).value, equals: 9)
  }
}

private enum EntryKey: OperationContext.Key {
  static let defaultValue: [String] = []
}

private enum Local {
  @TaskLocal static var value = 0
}
