import OperationCore
import OperationScheduling
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct ObserverTests {
  private let log = Log<String>()
  private let script = Script()

  private func work(_ name: String) -> AnyWork {
    Work(name) { [log] _ in log.append(name) }
  }

  private func observe<Value>(_ operation: ScheduledOperation<Value>, _ name: String = "") {
    operation.observe { [log] in
      $0.didStart { log.append("\(name)start") }
      $0.didProduce { log.append("\(name)produce \($0.name)") }
      $0.didSucceed { _ in log.append("\(name)success") }
      $0.didFail { log.append("\(name)failure \($0)") }
      $0.didFinish { log.append("\(name)finish") }
    }
  }

  @Test func `Observers receive the start after the conditions and before the body`() async throws {
    let scheduler = OperationScheduler()
    let check = Check(dependency: self.work("login")) { [log] in
      log.append("check")
      return .satisfied
    }
    let operation = self.work("body").condition(check).mutuallyExclusive("observer test")
    try await scheduler.schedule(operation, configure: { self.observe($0) }).value
    expect(self.log.all, equals: ["login", "check", "start", "body", "success", "finish"])
  }

  @Test func `The innermost of several preparations is the one that starts the body`() async throws {
    let scheduler = OperationScheduler()
    let check = Check { [log] in
      log.append("check")
      return .satisfied
    }
    let operation = self.work("body").condition(check).context { _ in }.condition(check)
    try await scheduler.schedule(operation, configure: { self.observe($0) }).value
    expect(self.log.all, equals: ["check", "check", "start", "body", "success", "finish"])
  }

  @Test func `An operation that is denied has not started`() async throws {
    let scheduler = OperationScheduler()
    let operation = scheduler.schedule(self.work("body").condition(Check.denied(1))) { self.observe($0) }
    _ = try? await operation.value
    expect(self.log.all, equals: ["failure Refused(code: 1)", "finish"])
  }

  @Test func `An operation that is cancelled before it begins finishes once, without a start`() async throws {
    let scheduler = OperationScheduler()
    scheduler.suspend()
    let operation = scheduler.schedule(self.work("body"))
    self.observe(operation, "1 ")
    self.observe(operation, "2 ")
    operation.cancel()
    operation.cancel()
    scheduler.resume()
    _ = try? await operation.value
    let events = ["failure CancellationError()", "finish"]
    expect(self.log.all, equals: ["1 ", "2 "].flatMap { name in events.map { name + $0 } })
  }

  @Test func `An observer that is added late receives earlier events at once, and each event once`() async throws {
    let scheduler = OperationScheduler()
    let operation = scheduler.schedule(self.script.operation())
    let run = try await self.script.next()
    self.observe(operation)
    expect(self.log.all, equals: ["start"])
    run.fail(Refused())
    _ = try? await operation.value
    expect(self.log.all, equals: ["start", "failure Refused(code: 0)", "finish"])
    self.observe(operation, "late ")
    expect(self.log.all[3...], equals: ["late start", "late failure Refused(code: 0)", "late finish"])
  }

  @Test func `An observer that is added when the value has arrived is notified at once`() async throws {
    let operation = OperationScheduler().schedule(self.script.operation()) { self.observe($0) }
    let run = try await self.script.next()
    // The caller continues on the thread that ends the operation, inside of the call that resumes it.
    let caller = Task.immediate(executorPreference: InlineExecutor()) {
      _ = try await operation.value
      let count = self.log.count
      self.observe(operation, "late ")
      return self.log.all[count...]
    }
    run.succeed(1)
    try await expect(caller.value, equals: ["late start", "late success", "late finish"])
  }

  @Test func `An operation ends after the observers that its observers have added`() async throws {
    let operation = OperationScheduler().schedule(self.work("work")) { operation in
      operation.observe { [log] in
        $0.didFinish { operation.observe { $0.didFinish { log.append("inner") } } }
      }
    }
    let seen = Task.immediate(executorPreference: InlineExecutor()) {
      try await operation.value
      return self.log.all
    }
    try await expect(seen.value, equals: ["work", "inner"])
  }

  @Test func `Observers receive the products of the operation`() async throws {
    let scheduler = OperationScheduler(maximumConcurrentOperations: 1)
    let operation = scheduler.schedule(
      ClosureOperation("parent") { [log] _ in
        AnyScheduledOperation.current?.produce(self.work("child"), named: "child")
        log.append("parent")
      }
    ) { self.observe($0) }
    try await operation.value
    await scheduler.waitUntilEmpty()
    expect(self.log.all, equals: ["start", "produce child", "parent", "success", "finish", "child"])
  }

  @Test func `An operation that has ended produces nothing, which is reported`() async throws {
    let scheduler = OperationScheduler()
    let operation = scheduler.schedule(self.work("parent"), named: "parent")
    try await operation.value
    let product = expectWarning(.addedAfterEnd) { operation.produce(self.work("child"), named: "child") }
    let error = await #expect(throws: OperationAddedAfterEnd.self) { try await product.value }
    expect(error, equals: OperationAddedAfterEnd(operationName: "child", endedName: "parent"))
    self.observe(product)
    expect(self.log.all.count, equals: 3)
    expect(scheduler.operationCount, equals: 0)
  }

  @Test func `An observer can be a type`() async throws {
    struct NameLog: OperationObserver {
      let log: Log<String>

      func operationDidStart(_ operation: AnyScheduledOperation) { self.log.append("\(operation.name) start") }

      func operation(_ operation: AnyScheduledOperation, didFinishWith outcome: OperationOutcome) {
        self.log.append("\(operation.name) \(outcome)")
      }
    }
    let scheduler = OperationScheduler()
    scheduler.addEnqueuingModule { [log] operation, _ in operation.addObserver(NameLog(log: log)) }
    try await scheduler.schedule(self.work("body"), named: "it").value
    expect(self.log.all, equals: ["it start", "body", "it succeeded"])
  }

  @Test func `Observers may call anything`() async throws {
    let scheduler = OperationScheduler()
    let next = Log<ScheduledOperation<Void>>()
    let operation = scheduler.schedule(self.work("first")) { operation in
      operation.observe { [log] in
        $0.didFinish {
          operation.cancel()
          operation.observe { $0.didFinish { log.append("inner") } }
          next.append(scheduler.schedule(self.work("next")))
        }
      }
    }
    try await operation.value
    try await next.all.first?.value
    expect(Set(self.log.all), equals: ["first", "inner", "next"])
  }

  @Test func `An observer of an erased operation receives the value`() async throws {
    let scheduler = OperationScheduler()
    scheduler.addEnqueuingModule { [log] operation, _ in
      operation.observe { $0.didSucceed { log.append("\($0)") } }
    }
    _ = try await scheduler.schedule(named: "seven") { _ in 7 }.value
    expect(self.log.all, equals: ["7"])
  }

  @Test func `A late observer of an erased operation receives the value`() async throws {
    let operation = OperationScheduler().schedule(named: "seven") { _ in 7 }
    _ = try await operation.value
    operation.erased.observe { [log] in $0.didSucceed { log.append("\($0)") } }
    expect(self.log.all, equals: ["7"])
  }

  @Test func `Each event is reported once, whenever operations are cancelled`() async throws {
    let scheduler = OperationScheduler(maximumConcurrentOperations: 4)
    let (starts, ends) = (Log<Int>(), Log<Int>())
    let bodies = Log<Int>()
    await withTaskGroup { group in
      for number in 0..<2_000 {
        let operation = scheduler.schedule(named: "work") { _ in
          bodies.append(number)
          await elsewhere()
        }
        if number.isMultiple(of: 2) { group.addTask { operation.cancel() } }
        group.addTask {
          operation.observe {
            $0.didStart { starts.append(number) }
            $0.didFinish { ends.append(number) }
          }
        }
      }
    }
    await scheduler.waitUntilEmpty()
    expect(ends.all.count, equals: 2_000)
    expect(Set(ends.all).count, equals: 2_000)
    expect(starts.all.sorted(), equals: bodies.all.sorted())
  }
}

/// Runs each job at once, on the thread that enqueues it.
private final class InlineExecutor: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    UnownedJob(job).runSynchronously(on: self.asUnownedTaskExecutor())
  }
}
