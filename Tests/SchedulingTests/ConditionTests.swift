import OperationCore
import OperationScheduling
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct ConditionTests {
  private let log = Log<String>()

  private func work(_ name: String = "body") -> Work<Void, any Error> {
    Work { [log] _ in log.append(name) }
  }

  private func check(_ name: String, _ result: OperationConditionResult = .satisfied) -> Check {
    Check(dependency: self.work("\(name)o")) { [log] in
      log.append("\(name)c")
      return result
    }
  }

  @Test func `Generated work runs in order, then the conditions in order, then the body`() async throws {
    try await self.work().condition(self.check("B")).condition(self.check("C")).runOnce()
    expect(self.log.all, equals: ["Bo", "Co", "Bc", "Cc", "body"])
  }

  @Test func `A condition under another modifier is evaluated in each of its runs`() async throws {
    let operation = self.work().condition(self.check("B")).modifier(Twice()).condition(self.check("C"))
    try await operation.runOnce()
    expect(self.log.all, equals: ["Co", "Cc", "Bo", "Bc", "body", "Bo", "Bc", "body"])
  }

  @Test func `A denial is thrown as it is, and the operation does not run`() async throws {
    let operation = self.work().condition(self.check("B", .denied(Refused(code: 7)))).condition(self.check("C"))
    await #expect(throws: Refused(code: 7)) { try await operation.runOnce() }
    expect(self.log.all, equals: ["Bo", "Co", "Bc"])
  }

  @Test func `A skip is thrown as OperationSkipped, and the operation does not run`() async throws {
    let operation = self.work().condition(Check.skipped)
    await #expect(throws: OperationSkipped(reason: "Check")) { try await operation.runOnce() }
    #expect(self.log.all.isEmpty)
  }

  @Test func `A denial wins over a skip`() async throws {
    let operation = self.work().condition(Check.skipped).condition(Check.denied(3))
    await #expect(throws: Refused(code: 3)) { try await operation.runOnce() }
  }

  @Test func `A denial and a skip become failures of an operation with failures of its own`() async throws {
    let operation = Work<Int, OnlyFailure> { _ throws(OnlyFailure) in 1 }
    let denied = operation.condition(Check.denied(4)) { .denied("\($0)") }
    await #expect(throws: OnlyFailure.denied("Refused(code: 4)")) { try await denied.runOnce() }
    let skipped = operation.condition(Check.skipped) { $0 is OperationSkipped ? .other : .denied("") }
    await #expect(throws: OnlyFailure.other) { try await skipped.runOnce() }
    try await expect(operation.condition(Check.satisfied) { _ in .other }.runOnce(), equals: 1)
  }

  @Test func `Each of several conditions has its own failure`() async throws {
    let operation = Work<Int, OnlyFailure> { _ throws(OnlyFailure) in 1 }
      .condition(Check.satisfied) { _ in .other }
      .condition(Check.denied()) { _ in .denied("second") }
    await #expect(throws: OnlyFailure.denied("second")) { try await operation.runOnce() }
  }

  @Test func `The failure of generated work is ignored`() async throws {
    let failing = Work<Void, any Error> { [log] _ in
      log.append("tried")
      throw Refused()
    }
    try await self.work().condition(Check(dependency: failing) { .satisfied }).runOnce()
    expect(self.log.all, equals: ["tried", "body"])
  }

  @Test func `Generated work can have conditions of its own`() async throws {
    let login = self.work("login").condition(self.check("A"))
    try await self.work().condition(Check(dependency: login) { .satisfied }).runOnce()
    expect(self.log.all, equals: ["Ao", "Ac", "login", "body"])
  }

  @Test func `Conditions and generated work see the context of the run`() async throws {
    struct Reading: OperationCondition {
      let log: Log<String>

      func dependency(in context: OperationContext) -> (any OperationRequest & Sendable)? {
        let log = self.log
        return Work<Void, any Error> { log.append("work: \($0[WordKey.self])") }
      }

      func evaluate(in context: OperationContext) async -> OperationConditionResult {
        self.log.append("condition: \(context[WordKey.self])")
        return .satisfied
      }
    }
    try await self.work().condition(Reading(log: self.log)).context { $0[WordKey.self] = "hello" }.runOnce()
    expect(self.log.all, equals: ["work: hello", "condition: hello", "body"])
  }

  @Test func `A silent condition only checks`() async throws {
    let operation = self.work().condition(SilentCondition(self.check("B", .denied(Refused()))))
    await #expect(throws: Refused.self) { try await operation.runOnce() }
    expect(self.log.all, equals: ["Bc"])
  }

  @Test func `A negated condition is satisfied by a denial or a skip, and still does its work`() async throws {
    try await self.work().condition(NegatedCondition(self.check("B", .denied(Refused())))).runOnce()
    expect(self.log.all, equals: ["Bo", "Bc", "body"])
    try await self.work().condition(!Check.skipped).runOnce()
    let denied = self.work().condition(!Check.satisfied)
    let error = await #expect(throws: OperationConditionDenied.self) { try await denied.runOnce() }
    expect(error?.conditionName, equals: "NegatedCondition<Check>")
  }

  @Test func `A negated silent condition does no work`() async throws {
    try await self.work().condition(!SilentCondition(self.check("B", .denied(Refused())))).runOnce()
    expect(self.log.all, equals: ["Bc", "body"])
  }

  @Test func `Both conditions of a conjunction have to be satisfied, and a skip wins over satisfied`() async throws {
    await expect((Check.satisfied && Check.satisfied).outcome, equals: "satisfied")
    await expect((Check.satisfied && Check.skipped).outcome, equals: "skipped")
    await expect((Check.skipped && Check.satisfied).outcome, equals: "skipped")
    await expect((Check.skipped && Check.denied(1)).outcome, equals: "denied Refused(code: 1)")
    await expect((Check.denied(1) && Check.denied(2)).outcome, equals: "denied Refused(code: 1)")
  }

  @Test func `A denial ends a conjunction`() async throws {
    _ = await (self.check("A", .denied(Refused())) && self.check("B")).outcome
    expect(self.log.all, equals: ["Ac"])
  }

  @Test func `One condition of a disjunction has to be satisfied`() async throws {
    await expect((Check.denied(1) || Check.satisfied).outcome, equals: "satisfied")
    await expect((Check.satisfied || Check.denied(1)).outcome, equals: "satisfied")
    await expect((Check.skipped || Check.skipped).outcome, equals: "skipped")
    await expect((Check.skipped || Check.denied(1)).outcome, equals: "denied Refused(code: 1)")
  }

  @Test func `A disjunction throws the errors of all conditions that deny, in order`() async {
    let result = await (Check.denied(1) || Check.denied(2) || Check.denied(3)).evaluate(in: OperationContext())
    guard case .denied(let error as OperationAlternativesDenied) = result else {
      Issue.record("\(result)")
      return
    }
    let errors = error.errors.map { $0 as? Refused }
    expect(errors, equals: [Refused(code: 1), Refused(code: 2), Refused(code: 3)])
  }

  @Test func `The first condition that is satisfied cancels the evaluation of the others`() async throws {
    let gate = Gate()
    let slow = Check {
      do { try await gate.wait() } catch { return .denied(error) }
      return .denied(Refused())
    }
    let result = await (slow || Check.satisfied).outcome
    expect(result, equals: "satisfied")
    await expect((Check.satisfied || slow).outcome, equals: "satisfied")
    #expect(!gate.isOpen)
  }

  @Test func `Compound conditions do the work of both, in order`() async throws {
    try await self.work().condition(self.check("A") && self.check("B")).runOnce()
    expect(self.log.all, equals: ["Ao", "Bo", "Ac", "Bc", "body"])
    try await self.work().condition(self.check("C", .denied(Refused())) || self.check("D")).runOnce()
    expect(self.log.all[5...].prefix(2), equals: ["Co", "Do"])
    expect(self.log.all.last, equals: "body")
  }

  @Test func `A run specification is a condition`() async throws {
    try await self.work().condition(.always(true)).runOnce()
    let never = self.work().condition(.always(true) && .always(false))
    await #expect(throws: OperationConditionDenied.self) { try await never.runOnce() }
    let typed = Work<Int, OnlyFailure> { _ throws(OnlyFailure) in 1 }.condition(.always(false)) { .denied("\($0)") }
    await #expect(
      throws: OnlyFailure.denied("The condition AlwaysRunSpecification does not allow the operation to run.")
    ) { try await typed.runOnce() }
    let mixed = self.work().condition(SpecificationCondition(.always(false)) || Check.satisfied)
    try await mixed.runOnce()
    expect(self.log.all, equals: ["body", "body"])
  }

  @Test func `A query with conditions and categories is a query`() async throws {
    let script = Script(default: .value(1))
    let query = script.query().condition(Check.satisfied).mutuallyExclusive("a").condition(Check.satisfied)
    expect(query.path, equals: script.query().path)
    let store = OperationClient().store(for: query, initialValue: 0)
    try await expect(store.fetch(), equals: 1)
    let denied = OperationStore.detached(query: script.query(path: ["b"]).condition(Check.denied(2)), initialValue: 0)
    await #expect(throws: Refused(code: 2)) { try await denied.fetch() }
    expect(denied.error as? Refused, equals: Refused(code: 2))
    expect(denied.currentValue, equals: 0)
  }

  @Test func `A run that is cancelled while its conditions are evaluated does not begin`() async throws {
    let gate = Gate()
    let operation = self.work().condition(
      Check {
        await gate.waitIgnoringCancellation()
        return .satisfied
      }
    ).condition(self.check("B"))
    let run = operation.begin()
    try await gate.arrivals(count: 1)
    run.cancel()
    gate.open()
    await #expect(throws: CancellationError.self) { try await run.value }
    expect(self.log.all, equals: ["Bo"])
  }

  @Test func `A run that is cancelled during generated work evaluates nothing`() async throws {
    let gate = Gate()
    let login = Work<Void, any Error> { _ in try await gate.wait() }
    let run = self.work().condition(Check(dependency: login) { .satisfied }).condition(self.check("B")).begin()
    try await gate.arrivals(count: 1)
    run.cancel()
    await #expect(throws: CancellationError.self) { try await run.value }
    #expect(self.log.all.isEmpty)
  }

  @Test func `A condition asks an actor whether work is needed`() async throws {
    let session = Session()
    let operation = self.work().condition(LoggedIn(session: session))
    try await operation.runOnce()
    try await operation.runOnce()
    await expect(session.loginCount, equals: 1)
    // So does a condition that combines others, and one without `async` is a condition as before.
    try await self.work().condition(!(!LoggedIn(session: session)) && self.check("A")).runOnce()
    await expect(session.loginCount, equals: 1)
    expect(self.log.all, equals: ["body", "body", "Ao", "Ac", "body"])
  }

  @Test func `The error of generated work is kept beside the denial`() async throws {
    let login = Work<Void, any Error>("login") { _ in throw Refused(code: 1) }
    let condition = CauseTelling(work: login)
    await #expect(throws: Denied(cause: Refused(code: 1))) { try await self.work().condition(condition).runOnce() }
    let operation = OperationScheduler().schedule(
      self.work().condition(Check(dependency: login) { .denied(Refused(code: 2)) })
    )
    await #expect(throws: Refused(code: 2)) { try await operation.value }
    expect(operation.generatedWorkErrors.map { $0 as? Refused }, equals: [Refused(code: 1)])
    #expect(self.log.all.isEmpty)
  }

  @Test func `A condition gets the error of its own work, and the body gets none`() async throws {
    let login = Work<Void, any Error>("login") { _ in throw Refused(code: 1) }
    let work = Work<Bool, any Error> { $0.generatedWorkError == nil }
    let other = CauseTelling(work: nil)
    #expect(
      try await work.condition(Check(dependency: login) { .satisfied }).condition(other || Check.satisfied).runOnce()
    )
    await #expect(throws: Denied(cause: nil)) {
      try await work.condition(Check(dependency: login) { .satisfied }).condition(other).runOnce()
    }
    // The first error of combined work.
    let second = Work<Void, any Error>("second") { _ in throw Refused(code: 2) }
    await #expect(throws: Denied(cause: Refused(code: 1))) {
      try await work.condition(CauseTelling(work: login) && CauseTelling(work: second)).runOnce()
    }
  }

  @Test func `Errors of conditions are not nested`() async throws {
    let grouped = await (Check.denied(1) || (Check.denied(2) || Check.denied(3))).evaluate(in: OperationContext())
    guard case .denied(let error as OperationAlternativesDenied) = grouped else {
      Issue.record("\(grouped)")
      return
    }
    expect(error.errors.map { $0 as? Refused }, equals: [1, 2, 3].map { Refused(code: $0) })
    let scheduler = OperationScheduler()
    scheduler.suspend()
    var operation = scheduler.schedule(Work<Void, any Error>("0") { _ in throw Refused(code: 4) })
    for number in 1...3 {
      let next = Work<Void, any Error>("\(number)") { _ in }.condition(NoFailedDependencies())
      operation = scheduler.schedule(next, named: "\(number)") { [operation] in $0.addDependency(operation) }
    }
    let last = scheduler.schedule(injecting: operation) { _ in Work<Void, any Error>("last") { _ in } }
    scheduler.resume()
    let failure = await #expect(throws: OperationDependencyFailed.self) { try await operation.value }
    expect(failure?.dependencyName, equals: "2")
    expect(failure?.underlyingError as? Refused, equals: Refused(code: 4))
    let injected = await #expect(throws: OperationDependencyFailed.self) { try await last.value }
    expect(injected?.dependencyName, equals: "3")
    expect(injected?.underlyingError as? Refused, equals: Refused(code: 4))
  }

  @Test(arguments: ModifierRule.allCases)
  func `Conditions and categories keep the rules of modifiers`(rule: ModifierRule) async throws {
    try await checkModifier([rule]) { $0.condition(Check.satisfied) }
    // One operation is in one category, so its runs are not independent.
    try await checkModifier([rule], except: [.independence]) { $0.mutuallyExclusive(rule) }
  }
}

private enum WordKey: OperationContext.Key {
  static let defaultValue = ""
}

/// Runs an operation twice.
private struct Twice<Operation: OperationRequest>: OperationModifier {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    _ = try await operation.run(isolation: isolation, in: context, with: continuation)
    return try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}

extension OperationCondition {
  fileprivate var outcome: String {
    get async {
      switch await self.evaluate(in: OperationContext()) {
      case .satisfied: "satisfied"
      case .skipped: "skipped"
      case .denied(let error): "denied \(error)"
      }
    }
  }
}

private actor Session {
  var loginCount = 0
  var isLoggedIn: Bool { self.loginCount > 0 }

  func logIn() { self.loginCount += 1 }
}

/// A condition that asks an actor before it generates work.
private struct LoggedIn: OperationCondition {
  let session: Session

  func dependency(in context: OperationContext) async -> (any OperationRequest & Sendable)? {
    if await self.session.isLoggedIn { return nil }
    return Work<Void, any Error>("log in") { [session] _ in await session.logIn() }
  }

  func evaluate(in context: OperationContext) async -> OperationConditionResult {
    await self.session.isLoggedIn ? .satisfied : .denied(Refused())
  }
}

private struct Denied: Error, Equatable {
  let cause: Refused?
}

/// A condition that denies with the error of its work.
private struct CauseTelling: OperationCondition {
  let work: Work<Void, any Error>?

  func dependency(in context: OperationContext) -> (any OperationRequest & Sendable)? { self.work }

  func evaluate(in context: OperationContext) async -> OperationConditionResult {
    .denied(Denied(cause: context.generatedWorkError as? Refused))
  }
}
