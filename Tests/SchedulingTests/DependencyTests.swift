import OperationCore
import OperationScheduling
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct DependencyTests {
  private let log = Log<String>()
  private let script = Script()

  private func work(_ name: String) -> AnyWork {
    Work(name) { [log] _ in log.append(name) }
  }

  @Test func `An operation begins after its dependencies, of any scheduler`() async throws {
    let schedulers = [OperationScheduler(), OperationScheduler()]
    let first = schedulers[0].schedule(self.script.operation())
    let second = schedulers[1].schedule(self.work("second")) { $0.addDependency(first) }
    let third = schedulers[0].schedule(self.work("third")) {
      $0.addDependency(second)
      $0.addDependency(first.erased)
    }
    let run = try await self.script.next()
    #expect(self.log.all.isEmpty)
    run.succeed(1)
    try await third.value
    expect(self.log.all, equals: ["second", "third"])
  }

  @Test func `A dependency that has failed or was cancelled does not stop the operation`() async throws {
    let scheduler = OperationScheduler()
    scheduler.suspend()
    let failing = scheduler.schedule(Work<Void, any Error> { _ in throw Refused() })
    let cancelled = scheduler.schedule(self.work("cancelled"))
    let operation = scheduler.schedule(self.work("body"))
    operation.addDependency(failing)
    operation.addDependency(cancelled)
    cancelled.cancel()
    scheduler.resume()
    try await operation.value
    expect(self.log.all, equals: ["body"])
  }

  @Test func `An operation does not wait for a dependency that has ended already`() async throws {
    let scheduler = OperationScheduler()
    let first = scheduler.schedule(self.work("first"))
    try await first.value
    try await scheduler.schedule(self.work("second")) { $0.addDependency(first) }.value
    expect(self.log.all, equals: ["first", "second"])
  }

  @Test(arguments: [true, false])
  func `No cancelled dependencies, and no failed ones, are conditions`(isErased: Bool) async throws {
    let scheduler = OperationScheduler()
    scheduler.suspend()
    let succeeding = scheduler.schedule(self.work("succeeding"))
    let failing = scheduler.schedule(Work<Void, any Error> { _ in throw Refused(code: 1) }, named: "failing")
    let cancelled = scheduler.schedule(self.work("cancelled"), named: "cancelled")
    let skipped = scheduler.schedule(self.work("skipped").condition(Check.skipped), named: "skipped")
    cancelled.cancel()
    func after(_ dependency: ScheduledOperation<Void>, _ condition: some OperationCondition) -> ScheduledOperation<Void>
    {
      scheduler.schedule(self.work("body").condition(condition)) {
        $0.addDependency(succeeding)
        if isErased { $0.addDependency(dependency.erased) } else { $0.addDependency(dependency) }
      }
    }
    let passing = [
      after(succeeding, NoCancelledDependencies()), after(succeeding, NoFailedDependencies()),
      after(failing, NoCancelledDependencies()), after(cancelled, NoFailedDependencies()),
      after(skipped, NoFailedDependencies()),
    ]
    let denied = [
      after(failing, NoFailedDependencies()), after(cancelled, NoCancelledDependencies()),
      after(skipped, NoCancelledDependencies()),
    ]
    scheduler.resume()
    for operation in passing { try await operation.value }
    for (operation, name) in zip(denied, ["failing", "cancelled", "skipped"]) {
      let error = await #expect(throws: OperationDependencyFailed.self) { try await operation.value }
      expect(error?.dependencyName, equals: name)
    }
    expect(self.log.all, equals: ["succeeding"] + Array(repeating: "body", count: 5))
  }

  @Test func `Conditions read how the dependencies have ended`() async throws {
    let scheduler = OperationScheduler()
    let first = scheduler.schedule(self.work("first"), named: "first")
    let reading = Check { [log] in
      for dependency in AnyScheduledOperation.current?.dependencies ?? [] {
        log.append("\(dependency.name): \(dependency.outcome)")
      }
      return .satisfied
    }
    try await scheduler.schedule(self.work("body").condition(reading)) { $0.addDependency(first) }.value
    expect(self.log.all, equals: ["first", "first: succeeded", "body"])
    expect(AnyScheduledOperation.current, equals: nil)
    // Without a scheduler there is no dependency.
    try await self.work("alone").condition(NoFailedDependencies()).condition(NoCancelledDependencies()).runOnce()
  }

  @Test func `An operation that depends on itself is reported and fails`() async throws {
    let scheduler = OperationScheduler()
    scheduler.suspend()
    let operation = scheduler.schedule(self.work("body"), named: "circular")
    expectWarning(.taskCycle) { operation.addDependency(operation) }
    let error = await #expect(throws: OperationCycleError.self) { try await operation.value }
    expect(error?.operationNames, equals: ["circular", "circular"])
    scheduler.resume()
    await scheduler.waitUntilEmpty()
    #expect(self.log.all.isEmpty)
  }

  @Test func `The operation that would close a cycle is reported and fails, and the others run`() async throws {
    let schedulers = [OperationScheduler(), OperationScheduler()]
    for scheduler in schedulers { scheduler.suspend() }
    let operations = (0..<3).map { schedulers[$0 % 2].schedule(self.work("\($0)"), named: "operation \($0)") }
    operations[0].addDependency(operations[1])
    operations[1].addDependency(operations[2])
    expectWarning(.taskCycle) { operations[2].addDependency(operations[0]) }
    let error = await #expect(throws: OperationCycleError.self) { try await operations[2].value }
    expect(error?.operationNames, equals: ["operation 2", "operation 0", "operation 1", "operation 2"])
    for scheduler in schedulers { scheduler.resume() }
    try await operations[0].value
    expect(self.log.all, equals: ["1", "0"])
  }

  @Test func `A cycle in the closure of the schedule call is reported, too`() async throws {
    let scheduler = OperationScheduler()
    let recorder = WarningRecorder()
    let operation = recorder.recording { scheduler.schedule(self.work("body")) { $0.addDependency($0) } }
    await #expect(throws: OperationCycleError.self) { try await operation.value }
    expect(recorder.warnings.map(\.code), equals: [.taskCycle])
  }

  @Test func `A dependency of an operation that has begun is reported and ignored`() async throws {
    let scheduler = OperationScheduler()
    let operation = scheduler.schedule(self.script.operation())
    let run = try await self.script.next()
    let other = scheduler.schedule(self.work("other"))
    expectWarning(.lateDependency) { operation.addDependency(other) }
    run.succeed(1)
    try await expect(operation.value, equals: 1)
    try await other.value
  }

  @Test func `An operation that awaits itself, or one that waits for it, is reported`() async throws {
    let scheduler = OperationScheduler(maximumConcurrentOperations: 1)
    let recorder = WarningRecorder()
    let gate = Gate()
    let names = await recorder.recording {
      let first = Log<ScheduledOperation<[String]>>()
      let awaiting = scheduler.schedule(named: "awaiting") { _ in
        try await gate.wait()
        var names: [String] = []
        for operation in first.all {
          do {
            _ = try await operation.value
          } catch let error as OperationCycleError {
            names += error.operationNames
          }
        }
        return names
      }
      first.append(awaiting)
      let dependent = ClosureOperation<[String]>("dependent") { _ in [] }
      first.append(scheduler.schedule(dependent) { $0.addDependency(awaiting) })
      gate.open()
      return try? await awaiting.value
    }
    expect(names, equals: ["awaiting", "awaiting", "dependent", "awaiting", "dependent"])
    expect(recorder.warnings.map(\.code), equals: [.taskCycle, .taskCycle])
  }

  @Test func `An operation that waits until its own scheduler is empty is reported`() async throws {
    let scheduler = OperationScheduler(name: "own")
    let recorder = WarningRecorder()
    try await recorder.recording {
      try await scheduler.schedule(named: "waiting") { _ in await scheduler.waitUntilEmpty() }.value
    }
    expect(recorder.warnings.map(\.code), equals: [.taskCycle])
  }

  @Test func `An operation gives its place to the one that it awaits`() async throws {
    let scheduler = OperationScheduler(maximumConcurrentOperations: 1)
    let counter = InsideCounter()
    let outer = scheduler.schedule(named: "outer") { _ in
      counter.enter()
      counter.leave()
      let inner = scheduler.schedule(named: "inner") { _ in
        counter.enter()
        await elsewhere()
        counter.leave()
        return 5
      }
      let value = try await inner.value
      counter.enter()
      await elsewhere()
      counter.leave()
      return value
    }
    for _ in 0..<20 {
      scheduler.schedule(named: "other") { _ in
        counter.enter()
        await elsewhere()
        counter.leave()
      }
    }
    try await expect(outer.value, equals: 5)
    await scheduler.waitUntilEmpty()
    expect(counter.most, equals: 1)
    expect(counter.entered, equals: 23)
  }

  @Test func `An operation that is cancelled while it waits for its place again ends`() async throws {
    let scheduler = OperationScheduler(maximumConcurrentOperations: 1)
    let gates = [Gate(), Gate()]
    let inner = OperationScheduler().schedule(named: "inner") { _ in try await gates[0].wait() }
    let outer = scheduler.schedule(named: "outer") { _ in
      try await inner.value
      return Task.isCancelled
    }
    // It gets the place while the outer one waits, and keeps it.
    let other = scheduler.schedule(named: "other") { _ in try await gates[1].wait() }
    try await gates[1].arrivals(count: 1)
    gates[0].open()
    try await inner.value
    outer.cancel()
    _ = try? await outer.value
    gates[1].open()
    try await other.value
    await scheduler.waitUntilEmpty()
  }

  @Test func `The value of one operation makes the next one`() async throws {
    let scheduler = OperationScheduler()
    let number = scheduler.schedule(named: "number") { _ in 20 }
    let text = OperationScheduler().schedule(injecting: number) { number in
      Work<String, OnlyFailure> { _ throws(OnlyFailure) in "\(number + 1)" }
    }
    let length = text.then(named: "length") { text in ClosureOperation { _ in text.count } }
    try await expect(text.value, equals: "21")
    try await expect(length.value, equals: 2)
  }

  @Test func `An operation whose input has not succeeded does not run`() async throws {
    let scheduler = OperationScheduler()
    scheduler.suspend()
    let failing = scheduler.schedule(Work<Int, any Error> { _ in throw Refused() }, named: "failing")
    let cancelled = scheduler.schedule(Work<Int, any Error> { _ in 1 })
    let starts = Log<String>()
    let after = [failing, cancelled].map { input in
      let operation = input.then { [log] number in ClosureOperation { _ in log.append("\(number)") } }
      operation.observe {
        $0.didStart { starts.append("start") }
        $0.didFail { starts.append("fail") }
      }
      return operation
    }
    cancelled.cancel()
    scheduler.resume()
    let error = await #expect(throws: OperationDependencyFailed.self) { try await after[0].value }
    expect(error?.dependencyName, equals: "failing")
    await #expect(throws: CancellationError.self) { try await after[1].value }
    #expect(self.log.all.isEmpty)
    expect(starts.all, equals: ["fail", "fail"])
    let throwing = scheduler.schedule(named: "one") { _ in 1 }.then { _ throws -> AnyWork in throw Refused(code: 5) }
    await #expect(throws: Refused(code: 5)) { try await throwing.value }
  }

  @Test func `An injected operation starts after its own conditions`() async throws {
    let scheduler = OperationScheduler()
    let check = Check { [log] in
      log.append("check")
      return .satisfied
    }
    let operation = scheduler.schedule(named: "one") { _ in 1 }.then { _ in self.work("body").condition(check) }
    scheduler.suspend()
    let late = operation.then { _ in self.work("late").condition(check) }
    late.observe { [log] in $0.didStart { log.append("start") } }
    scheduler.resume()
    try await late.value
    expect(self.log.all, equals: ["check", "body", "check", "start", "late"])
  }

  @Test func `A chain of ten thousand operations runs in order and leaves nothing behind`() async throws {
    let lifetimes = LifetimeTracker()
    do {
      let scheduler = OperationScheduler()
      scheduler.suspend()
      var last: ScheduledOperation<Void>?
      for number in 0..<10_000 {
        let token = lifetimes.token()
        last = scheduler.schedule(
          Work<Void, any Error> { [log] _ in
            token.touch()
            log.append("\(number)")
          }
        ) { operation in
          if let last { operation.addDependency(last) }
        }
      }
      scheduler.resume()
      try await last?.value
      expect(self.log.all, equals: (0..<10_000).map { "\($0)" })
    }
    try await lifetimes.noneAlive()
  }

  @Test func `Ten thousand cancelled dependents of one operation leave nothing behind`() async throws {
    let lifetimes = LifetimeTracker()
    let scheduler = OperationScheduler()
    let first = scheduler.schedule(self.script.operation())
    let run = try await self.script.next()
    for _ in 0..<10_000 {
      let token = lifetimes.token()
      scheduler.schedule(Work<Void, any Error> { _ in token.touch() }) { $0.addDependency(first) }.cancel()
    }
    try await lifetimes.noneAlive()
    run.succeed(1)
    _ = try await first.value
  }
}
