import OperationCore
import OperationScheduling
import OperationTesting
import TestFixtures
import Testing

@Suite(.timeLimit(.minutes(10)), .warningsAreIssues)
struct ObserverTests {
  private let journal = Journal<String>()
  private let script = Script()

  private func note(_ name: String) -> AnyWork {
    Work(name) { [journal] _ in journal.note(name) }
  }

  private func observe<Value>(_ operation: ScheduledOperation<Value>, _ name: String = "") {
    operation.observe { [journal] in
      $0.didStart { journal.note("\(name)start") }
      $0.didProduce { journal.note("\(name)produce \($0.name)") }
      $0.didSucceed { _ in journal.note("\(name)success") }
      $0.didFail { journal.note("\(name)failure \($0)") }
      $0.didFinish { journal.note("\(name)finish") }
    }
  }

  @Test func `Observers hear of the start after the conditions and before the body`() async throws {
    let scheduler = OperationScheduler()
    let check = Check(dependency: self.note("login")) { [journal] in
      journal.note("check")
      return .satisfied
    }
    let operation = self.note("body").condition(check).mutuallyExclusive("observer test")
    try await scheduler.schedule(operation, configure: { self.observe($0) }).value
    #expect(self.journal.entries == ["login", "check", "start", "body", "success", "finish"])
  }

  @Test func `The innermost of several preparations is the one that starts the body`() async throws {
    let scheduler = OperationScheduler()
    let check = Check { [journal] in
      journal.note("check")
      return .satisfied
    }
    let operation = self.note("body").condition(check).context { _ in }.condition(check)
    try await scheduler.schedule(operation, configure: { self.observe($0) }).value
    #expect(self.journal.entries == ["check", "check", "start", "body", "success", "finish"])
  }

  @Test func `An operation that is denied has not started`() async throws {
    let scheduler = OperationScheduler()
    let operation = scheduler.schedule(self.note("body").condition(Check.denied(1))) { self.observe($0) }
    _ = try? await operation.value
    #expect(self.journal.entries == ["failure Refused(code: 1)", "finish"])
  }

  @Test func `An operation that is cancelled before it begins finishes once, without a start`() async throws {
    let scheduler = OperationScheduler()
    scheduler.suspend()
    let operation = scheduler.schedule(self.note("body"))
    self.observe(operation, "1 ")
    self.observe(operation, "2 ")
    operation.cancel()
    operation.cancel()
    scheduler.resume()
    _ = try? await operation.value
    let events = ["failure CancellationError()", "finish"]
    #expect(self.journal.entries == ["1 ", "2 "].flatMap { name in events.map { name + $0 } })
  }

  @Test func `An observer that is added late hears what it has missed, once`() async throws {
    let scheduler = OperationScheduler()
    let operation = scheduler.schedule(self.script.operation())
    let run = try await self.script.next()
    self.observe(operation)
    #expect(self.journal.entries == ["start"])
    run.fail(Refused())
    _ = try? await operation.value
    #expect(self.journal.entries == ["start", "failure Refused(code: 0)", "finish"])
    self.observe(operation, "late ")
    #expect(self.journal.entries[3...] == ["late start", "late failure Refused(code: 0)", "late finish"])
  }

  @Test func `Observers hear what the operation produces`() async throws {
    let scheduler = OperationScheduler(maximumConcurrentOperations: 1)
    let operation = scheduler.schedule(
      ClosureOperation("parent") { [journal] _ in
        AnyScheduledOperation.current?.produce(self.note("child"), named: "child")
        journal.note("parent")
      }
    ) { self.observe($0) }
    try await operation.value
    await scheduler.waitUntilEmpty()
    #expect(self.journal.entries == ["start", "produce child", "parent", "success", "finish", "child"])
  }

  @Test func `An operation that has ended produces nothing, which is reported`() async throws {
    let scheduler = OperationScheduler()
    let operation = scheduler.schedule(self.note("parent"), named: "parent")
    try await operation.value
    let product = expectWarning(.addedAfterEnd) { operation.produce(self.note("child"), named: "child") }
    let error = await #expect(throws: OperationAddedAfterEnd.self) { try await product.value }
    #expect(error == OperationAddedAfterEnd(operationName: "child", endedName: "parent"))
    self.observe(product)
    #expect(self.journal.entries.count == 3)
    #expect(scheduler.operationCount == 0)
  }

  @Test func `An observer can be a type`() async throws {
    struct Log: OperationObserver {
      let journal: Journal<String>

      func operationDidStart(_ operation: AnyScheduledOperation) { self.journal.note("\(operation.name) start") }

      func operation(_ operation: AnyScheduledOperation, didFinishWith outcome: OperationOutcome) {
        self.journal.note("\(operation.name) \(outcome)")
      }
    }
    let scheduler = OperationScheduler()
    scheduler.addEnqueuingModule { [journal] operation, _ in operation.addObserver(Log(journal: journal)) }
    try await scheduler.schedule(self.note("body"), named: "it").value
    #expect(self.journal.entries == ["it start", "body", "it succeeded"])
  }

  @Test func `Observers may call anything`() async throws {
    let scheduler = OperationScheduler()
    let next = Journal<ScheduledOperation<Void>>()
    let operation = scheduler.schedule(self.note("first")) { operation in
      operation.observe { [journal] in
        $0.didFinish {
          operation.cancel()
          operation.observe { $0.didFinish { journal.note("inner") } }
          next.note(scheduler.schedule(self.note("next")))
        }
      }
    }
    try await operation.value
    try await next.entries.first?.value
    #expect(Set(self.journal.entries) == ["first", "inner", "next"])
  }

  @Test func `The erased value of an operation is told`() async throws {
    let scheduler = OperationScheduler()
    scheduler.addEnqueuingModule { [journal] operation, _ in
      operation.observe { $0.didSucceed { journal.note("\($0)") } }
    }
    _ = try await scheduler.schedule(named: "seven") { _ in 7 }.value
    #expect(self.journal.entries == ["7"])
  }

  @Test func `Each event is told once, whenever operations are cancelled`() async throws {
    let scheduler = OperationScheduler(maximumConcurrentOperations: 4)
    let (starts, ends) = (Journal<Int>(), Journal<Int>())
    let bodies = Journal<Int>()
    await withTaskGroup { group in
      for number in 0..<2_000 {
        let operation = scheduler.schedule(named: "work") { _ in
          bodies.note(number)
          await elsewhere()
        }
        if number.isMultiple(of: 2) { group.addTask { operation.cancel() } }
        group.addTask {
          operation.observe {
            $0.didStart { starts.note(number) }
            $0.didFinish { ends.note(number) }
          }
        }
      }
    }
    await scheduler.waitUntilEmpty()
    #expect(ends.entries.count == 2_000)
    #expect(Set(ends.entries).count == 2_000)
    #expect(starts.entries.sorted() == bodies.entries.sorted())
  }
}
