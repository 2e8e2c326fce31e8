public import OperationCore
public import Testing

/// Checks that a run specification follows the rules that stores rely on; each broken rule is an issue of the test.
///
/// ```swift
/// @Test func keepsTheRules() async throws {
///   try await checkRunSpecification {
///     let power = Power()
///     return (PowerIsOn(power), { power.set($0) })
///   }
/// }
/// ```
///
/// ``RunSpecificationRule`` lists the rules: evaluating the condition does not change it (`purity`), changes are
/// announced (`announcement`) and visible then (`answer`). Subscribers are called (`subscribers`) independently of each
/// other (`independence`), not after they were cancelled (`cancellation`, `release`), and with no lock held
/// (`unlocked`). They may use the specification themselves (`reentrancy`), and on several threads (`threads`).
///
/// - Parameters:
///   - rules: The rules to check.
///   - exceptions: Rules that the specification breaks on purpose.
///   - context: The context in which the specification is evaluated and subscribed to, made anew for each rule.
///   - limit: The longest time for each wait; nil for ten seconds, unless ``Testing/Trait/waitLimit(_:)`` is set.
///   - sourceLocation: Where issues are reported.
///   - make: Makes a specification that is not satisfied, and a closure that makes it satisfied or not. Called once for
///     each rule. The closure may be called on any thread, and the change may come later. Return nil instead of the
///     closure for a specification that never changes: only ``RunSpecificationRule/purity`` and
///     ``RunSpecificationRule/threads`` are checked then.
/// - Throws: `CancellationError` when the task is cancelled, and the errors of `make`.
public func checkRunSpecification<Specification: OperationRunSpecification & Sendable>(
  _ rules: some Sequence<RunSpecificationRule> = RunSpecificationRule.allCases,
  except exceptions: Set<RunSpecificationRule> = [],
  in context: @autoclosure () -> OperationContext = OperationContext(),
  within limit: Duration? = nil,
  sourceLocation: SourceLocation = #_sourceLocation,
  _ make: () async throws -> (specification: Specification, set: (@Sendable (Bool) -> Void)?)
) async throws {
  for rule in rules where !exceptions.contains(rule) {
    let (specification, set) = try await make()
    let context = context()
    let report = RuleReport("run specification", rule: rule, within: limit, at: sourceLocation)
    try await report.perform {
      let check = RunSpecificationCheck(specification: specification, set: set, context: context, report: report)
      try await check.perform(rule)
    }
  }
}

private struct RunSpecificationCheck<Specification: OperationRunSpecification & Sendable>: Sendable {
  let specification: Specification
  let set: (@Sendable (Bool) -> Void)?
  let context: OperationContext
  let report: RuleReport

  private var isSatisfied: Bool { self.specification.isSatisfied(in: self.context) }

  func perform(_ rule: RunSpecificationRule) async throws {
    guard let set else { return try await self.performOnConstant(rule) }
    guard !self.isSatisfied else {
      return self.report.expect(
        false,
        "it is satisfied at first, so it cannot become satisfied. Return one that is not satisfied."
      )
    }
    let check = self.subscriptionCheck(set)
    switch rule {
    case .purity: try await self.checkPurity(set)
    case .announcement: try await self.checkAnnouncement(set)
    case .answer: try await self.checkAnswer(set)
    case .subscribers: try await check.checkSubscribers(areInOrder: false)
    case .independence: try await check.checkIndependence()
    case .cancellation: try await check.checkCancellation()
    case .release: try await check.checkRelease()
    case .unlocked: try await check.checkLocks()
    case .reentrancy: try await check.checkReentrancy()
    case .threads: try await check.checkThreads()
    }
  }

  private func performOnConstant(_ rule: RunSpecificationRule) async throws {
    switch rule {
    case .purity: self.expectSameAnswers()
    case .threads:
      let (first, differing) = (self.isSatisfied, CallCounter())
      try await Threads.call(4, within: self.report.limit) { _ in
        for _ in 0..<50 {
          if self.isSatisfied != first { differing.note() }
          self.specification.subscribe(in: self.context) {}.cancel()
        }
      }
      self.report.expect(
        differing.count == 0,
        "it never changes, but \(differing.count) of 200 calls of `isSatisfied(in:)` returned another value than the first. "
          + "Pass a closure that changes it if it can change."
      )
    case .announcement, .answer, .subscribers, .independence, .cancellation, .release, .unlocked, .reentrancy: return
    }
  }

  private func subscriptionCheck(_ set: @escaping @Sendable (Bool) -> Void) -> SubscriptionCheck {
    let isOn = AtomicFlag(false)
    let source = ChangeSource(handler: "`onChange`") { [specification, context] onChange in
      specification.subscribe(in: context, onChange: onChange)
    } change: {
      let wasOn = isOn.isOn
      _ = isOn.set(!wasOn)
      set(!wasOn)
    } read: { [specification, context] in
      _ = specification.isSatisfied(in: context)
    }
    return SubscriptionCheck(source: source, report: self.report)
  }
}

// MARK: - The checks

extension RunSpecificationCheck {
  private func expectSameAnswers() {
    let answers = (0..<100).map { _ in self.isSatisfied }
    let count = answers.count { $0 }
    self.report.expect(
      count == 0 || count == 100,
      "of 100 calls of `isSatisfied(in:)` without a change, \(count) returned true and \(100 - count) false. "
        + "Let `isSatisfied(in:)` read the condition, and nothing else."
    )
  }

  private func checkPurity(_ set: @Sendable (Bool) -> Void) async throws {
    self.expectSameAnswers()
    let answers = Answers([])
    let subscription = self.subscribe(answers)
    defer { subscription.cancel() }
    set(true)
    // Another rule reports an answer that never comes.
    do { try await self.answer(true, comesTo: answers, after: 0) } catch is WaitTimedOut { return }
    self.expectSameAnswers()
  }

  private func checkAnnouncement(_ set: @Sendable (Bool) -> Void) async throws {
    let counter = CallCounter()
    let subscription = self.specification.subscribe(in: self.context) { counter.note() }
    defer { subscription.cancel() }
    for isOn in [true, false, true, false] {
      let count = counter.count
      set(isOn)
      guard try await self.isAnnounced(isOn, counter, after: count) else { return }
    }
  }

  private func isAnnounced(_ isOn: Bool, _ counter: CallCounter, after count: Int) async throws -> Bool {
    try await self.report.waits("Call `onChange` after each change.") {
      try await counter.calls(
        atLeast: count + 1,
        within: self.report.limit,
        "a call of `onChange` after the change to \(isOn)"
      )
    }
  }

  private func checkAnswer(_ set: @Sendable (Bool) -> Void) async throws {
    let answers = Answers([])
    let subscription = self.subscribe(answers)
    defer { subscription.cancel() }
    for isOn in [true, false, true] {
      let count = answers.current.count
      set(isOn)
      let isSeen = try await self.report.waits("Call `onChange` after the change, not before it.") {
        try await self.answer(isOn, comesTo: answers, after: count)
      }
      guard isSeen else { return }
    }
  }

  /// The results of `isSatisfied(in:)` in calls of `onChange`.
  private typealias Answers = AwaitableState<[Bool]>

  private func subscribe(_ answers: Answers) -> OperationSubscription {
    let (specification, context, limit) = (self.specification, self.context, self.report.limit)
    return specification.subscribe(in: context) {
      let answer = AwaitableState<Bool?>(nil)
      // On another thread, because `onChange` may be called with a lock held. Another rule reports that.
      let isAnswered = Threads.finishesElsewhere(within: limit) {
        let isSatisfied = specification.isSatisfied(in: context)
        answer.change { $0 = isSatisfied }
      }
      if isAnswered, let isSatisfied = answer.current { answers.change { $0.append(isSatisfied) } }
    }
  }

  private func answer(_ isOn: Bool, comesTo answers: Answers, after count: Int) async throws {
    try await answers.wait(.cancellable(self.report.limit)) { answers in
      "`isSatisfied(in:)` to return \(isOn) in `onChange`; there it returned \(answers.dropFirst(count))"
    } until: { answers in
      // Not only the last one: two concurrent calls of `onChange` can record their answers in either order.
      answers.dropFirst(count).contains(isOn) ? () : nil
    }
  }
}
