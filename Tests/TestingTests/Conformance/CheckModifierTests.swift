import OperationBackoff
import OperationCore
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@Suite(.bounded, .issuesAreExpected) struct CheckModifierTests {
  @Test func `Each rule has a context of its own`() async throws {
    let count = Mutex(0)
    func context() -> OperationContext {
      count.withLock { $0 += 1 }
      return .withoutDelays
    }
    try await checkModifier([ModifierRule.value, .error, .path], in: context()) { $0.onNotice { _, _ in } }
    expect(count.withLock { $0 }, equals: 3)
  }

  @Test func `Modifiers of the core keep the rules`() async throws {
    try await checkModifier { $0 }
    try await checkModifier { $0.context { $0.operationTaskConfiguration.name = "named" } }
    try await checkModifier { $0.manualTime(ManualClock()) }
    try await checkModifier { $0.clock(.systemTime).staleWhenNoValue().disableAutomaticRunning() }
  }

  @Test(arguments: ModifierRule.allCases.filter { $0 != .path })
  func `Each broken rule is found`(rule: ModifierRule) async throws {
    let issues = try await recordedIssues {
      try await checkModifier([rule], within: .milliseconds(20)) { $0.modifier(RuleBreaker(rule: rule)) }
    }
    #expect(!issues.isEmpty)
    #expect(issues.allSatisfy { $0.hasPrefix("The modifier breaks the rule '\(rule)': ") })
    // A wrong value breaks all rules that compare values.
    let broken: Set<ModifierRule> = rule == .value ? [.value, .yields, .independence] : [rule]
    try await checkModifier(except: broken) { $0.modifier(RuleBreaker(rule: rule)) }
  }

  @Test func `A changed path is found`() async throws {
    let issues = try await recordedIssues {
      try await checkModifier { $0.script.query(path: ["elsewhere"]) }
    }
    expect(issues, equals: [#"The modifier breaks the rule 'path': the path became ["elsewhere"]"#])
  }

  @Test func `The check goes on with the other rules`() async throws {
    let issues = try await recordedIssues {
      try await checkModifier([.value, .setup]) {
        $0.modifier(RuleBreaker(rule: .value)).modifier(RuleBreaker(rule: .setup))
      }
    }
    let rules = issues.map { $0.prefix { $0 != ":" } }
    expect(rules, equals: ["The modifier breaks the rule 'value'", "The modifier breaks the rule 'setup'"])
  }

  @Test func `A wait that has not ended is named`() async throws {
    let issues = try await recordedIssues {
      try await checkModifier([.waits]) { $0.modifier(RuleBreaker(rule: .waits)) }
    }
    let issue = """
      The modifier breaks the rule 'waits': a run has ended, and waits for a slot. Call `context.endWait` in a `defer`.
      """
    // One of a run that has returned, and one of a run that was cancelled.
    expect(issues, equals: [issue, issue])
    try await checkModifier { $0.modifier(WaitingForSlot()) }
  }

  @Test func `Delays take no time`() async throws {
    try await checkModifier { $0.modifier(Delaying()) }
  }
}

/// A modifier that breaks a rule.
private struct RuleBreaker<Operation: OperationRequest & Sendable>: OperationModifier
where Operation.Value == Int, Operation.Failure == any Error {
  typealias Value = Int
  typealias Failure = any Error

  struct Busy: Error {}

  let rule: ModifierRule
  private let turn = Turn()

  init(rule: ModifierRule) {
    self.rule = rule
  }

  func setup(context: inout OperationContext, using operation: Operation) {
    if self.rule != .setup { operation.setup(context: &context) }
  }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    switch self.rule {
    case .value:
      return -(try await operation.run(isolation: isolation, in: context, with: continuation))
    case .error:
      do {
        return try await operation.run(isolation: isolation, in: context, with: continuation)
      } catch {
        return 1
      }
    case .yields:
      return try await operation.run(isolation: isolation, in: context, with: .init { _, _ in })
    case .context:
      return try await operation.run(isolation: isolation, in: OperationContext(), with: continuation)
    case .cancellation:
      return try await Task { try await operation.run(isolation: nil, in: context, with: continuation) }.value
    case .independence:
      guard self.turn.take() else { throw Busy() }
      defer { self.turn.giveBack() }
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    case .waits:
      _ = context.beginWait(for: { "a slot" })
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    case .setup, .path:
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    }
  }
}

private final class Turn: Sendable {
  private let isTaken = Atomic(false)

  func take() -> Bool { !self.isTaken.exchange(true, ordering: .acquiringAndReleasing) }

  func giveBack() { self.isTaken.store(false, ordering: .releasing) }
}

/// A modifier that begins and ends waits by the rules.
private struct WaitingForSlot<Operation: OperationRequest>: OperationModifier {
  typealias Value = Operation.Value
  typealias Failure = Operation.Failure

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    let wait = context.beginWait(for: { "a slot" })
    defer { context.endWait(wait) }
    return try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}

private struct Delaying<Operation: OperationRequest>: OperationModifier where Operation.Failure == any Error {
  typealias Value = Operation.Value
  typealias Failure = any Error

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, any Error>
  ) async throws -> Operation.Value {
    try await context.operationDelayer.delay(for: .seconds(3_600))
    return try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}
