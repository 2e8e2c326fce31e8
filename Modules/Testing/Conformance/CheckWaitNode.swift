public import OperationCore
public import Testing

/// Checks that a queue follows the rules that the search for cycles relies on; each broken rule is an issue of the test.
///
/// ```swift
/// @Test func keepsTheRules() async throws {
///   try await checkWaitNode { work in
///     let turnstile = Turnstile("the turnstile")
///     return (turnstile, QueryOperation("passer", body: work).queued(at: turnstile))
///   }
/// }
/// ```
///
/// ``WaitNodeRule`` lists the rules: the node has no waits without runs (`edges`), it names the run that has the turn
/// (`holder`), which the next run gets after it (`turns`), a cycle through it is an error and no hang (`cycles`), and a
/// cancelled run gives its place up (`cancellation`).
///
/// A queue that can let several runs pass is checked with one place. The check runs the operation in stores of several
/// clients. Warnings of cycles are not reported meanwhile.
///
/// - Parameters:
///   - rules: The rules to check.
///   - exceptions: Rules that the node breaks on purpose.
///   - limit: The longest time for each wait; nil for ten seconds, unless ``Testing/Trait/waitLimit(_:)`` is set.
///   - sourceLocation: Where issues are reported.
///   - make: Makes a node, and an operation whose runs wait for their turn in it, call the closure that `make` receives
///     while they have the turn, and leave. Called once for each rule.
/// - Throws: `CancellationError` when the task is cancelled, and the errors of `make`.
public func checkWaitNode<Node: WaitNode, Passing: StatefulOperationRequest<QueryState<Int, any Error>>>(
  _ rules: some Sequence<WaitNodeRule> = WaitNodeRule.allCases,
  except exceptions: Set<WaitNodeRule> = [],
  within limit: Duration? = nil,
  sourceLocation: SourceLocation = #_sourceLocation,
  _ make: (@escaping @Sendable (OperationContext) async throws -> Int) async throws -> (node: Node, operation: Passing)
) async throws where Passing.Value == Int, Passing.Failure == any Error {
  for rule in rules where !exceptions.contains(rule) {
    let (node, operation) = try await make { context in
      // The operation runs in stores of the check only.
      try await context[PassingRunKey.self]?.work(in: context) ?? 0
    }
    let report = RuleReport("wait node", rule: rule, within: limit, at: sourceLocation)
    let check = WaitNodeCheck(node: node, operation: operation, report: report)
    // A node that breaks a rule may leave runs suspended.
    defer { check.end() }
    let recorder = WarningRecorder()
    try await report.perform { try await recorder.recording { try await check.perform(rule) } }
    for warning in recorder.warnings where warning.code != .taskCycle { warning.report() }
  }
}

private struct WaitNodeCheck<Node: WaitNode, Passing: StatefulOperationRequest<QueryState<Int, any Error>>>: Sendable
where Passing.Value == Int, Passing.Failure == any Error {
  let report: RuleReport

  private let passers: [Passer]
  /// Two further passers, whose runs are executed on `executor`.
  private let heldPassers: [Passer]
  private let executor: HeldExecutor
  private let node: Node
  private let line = AwaitableState(Line())

  init(node: Node, operation: Passing, report: RuleReport) {
    self.node = node
    self.report = report
    let (line, executor) = (self.line, HeldExecutor())
    self.passers = (0..<3).map { Passer(PassingRun($0, in: line), operation) }
    self.heldPassers = (3..<5).map { Passer(PassingRun($0, in: line), operation, on: executor) }
    self.executor = executor
  }

  func end() {
    self.executor.release()
    for passer in self.passers + self.heldPassers { passer.end() }
  }

  func perform(_ rule: WaitNodeRule) async throws {
    switch rule {
    case .edges: try await self.checkEdges()
    case .holder: try await self.checkHolder()
    case .turns: try await self.checkTurns()
    case .cycles:
      guard try await self.checkCall(), try await self.checkEarlierWait() else { return }
      try await self.checkLaterWait()
    case .cancellation:
      guard try await self.checkCancellation() else { return }
      try await self.checkLateCancellation()
    }
  }

  private var limit: Duration { self.report.limit }
}

// MARK: - The checks

extension WaitNodeCheck {
  private func checkEdges() async throws {
    self.expectNoWaits("before a run has come")
    guard let (first, second) = try await self.holderAndWaiter() else { return }
    first.leave()
    guard try await self.hasTurn(second, "after another has left") else { return }
    second.leave(throwing: ScriptedFailure(number: 1))
    guard try await self.hasEnded([first, second]) else { return }
    self.expectNoWaits("after two runs have left, the last one with an error")
  }

  private func checkHolder() async throws {
    let remedy = "Keep `context.runNode` of the run that gets the turn, and return an edge to it."
    let (first, second) = (self.passers[0], self.passers[1])
    first.begin()
    guard try await self.hasTurn(first, "in an empty node") else { return }
    let isNamedAlone = try await self.isNamed(first)
    self.report.expect(isNamedAlone, "`waits` does not name the run that has the turn. \(remedy)")
    second.begin()
    guard try await self.isWaiting(second) else { return }
    let isNamed = try await self.isNamed(first)
    self.report.expect(isNamed, "`waits` does not name the run that has the turn while another waits. \(remedy)")
    first.leave()
    guard try await self.hasTurn(second, "after another has left") else { return }
    let isNext = try await self.isNamed(second)
    self.report.expect(isNext, "`waits` does not name the run that has got the turn of another. \(remedy)")
    second.leave()
    _ = try await self.hasEnded([first, second])
  }

  private func checkTurns() async throws {
    self.passers[0].begin()
    guard try await self.hasTurn(self.passers[0], "in an empty node") else { return }
    for waiter in self.passers.dropFirst() {
      waiter.begin()
      guard try await self.hasCome(waiter) else { return }
    }
    for count in 1...3 {
      let remedy = "When a run leaves, resume the next one."
      var number: Int?
      _ = try await self.report.waits(remedy) {
        number = try await self.line.wait(.cancellable(self.limit)) { line in
          "run \(count) of 3 to get the turn after the ones before have left; \(line.turns.count) have got it"
        } until: { line in
          line.turns.count >= count ? line.turns[count - 1] : nil
        }
      }
      guard let number else { return }
      self.passers[number].leave()
    }
    guard try await self.hasEnded(self.passers) else { return }
    let most = self.line.current.most
    self.report.expect(most == 1, "\(most) runs had the turn at the same time. Let one run pass, and the others wait.")
  }

  /// A run is cancelled while it waits.
  private func checkCancellation() async throws -> Bool {
    guard let (first, cancelled) = try await self.holderAndWaiter() else { return false }
    let last = self.passers[2]
    last.begin()
    guard try await self.isWaiting(last) else { return false }
    cancelled.cancel()
    let remedy = "Wait in `withTaskCancellationHandler`, and resume a run that is cancelled."
    let what = "a run to end that was cancelled while it waited"
    guard try await self.reaches(cancelled, what, remedy, { $0.hasEnded || $0.hasTurn }) else { return false }
    self.report.expect(
      !cancelled.run.state.current.hasTurn,
      "a run that was cancelled while it waited has got the turn. Throw a `CancellationError` from the wait."
    )
    cancelled.leave()
    first.leave()
    guard try await self.hasTurn(last, "after another has left, and one before it was cancelled") else { return false }
    last.leave()
    guard try await self.hasEnded(self.passers) else { return false }
    first.reset()
    return self.expectNoWaits("after a run was cancelled while it waited, and the others have left")
  }

  /// A run is cancelled after it has got the turn, and before it goes on.
  private func checkLateCancellation() async throws {
    let (first, cancelled, last) = (self.passers[0], self.heldPassers[0], self.heldPassers[1])
    first.begin()
    guard try await self.hasTurn(first, "in an empty node") else { return }
    for waiter in [cancelled, last] {
      waiter.begin()
      guard try await self.isWaiting(waiter), try await self.areSuspended() else { return }
    }
    self.executor.hold()
    first.leave()
    let isResumed = try await self.report.waits("When a run leaves, resume the next one.") {
      try await self.executor.heldJob(within: self.limit)
    }
    guard isResumed else { return }
    cancelled.cancel()
    self.executor.release()
    // Whatever was resumed meanwhile has the turn now, or has ended.
    guard try await self.areSuspended() else { return }
    self.report.expect(
      !cancelled.run.state.current.hasTurn || !last.run.state.current.hasTurn,
      "a run was cancelled after it had got the turn and before it went on, and another has the turn at the same time. "
        + "Take a place away from a cancelled run only while the run has no turn."
    )
    cancelled.leave()
    guard try await self.hasTurn(last, "after a run that was cancelled when it had the turn") else { return }
    last.leave()
    _ = try await self.hasEnded([first, cancelled, last])
  }
}

// MARK: - Cycles

extension WaitNodeCheck {
  private var cycleRemedy: String {
    "Wait in `context.awaiting(_:for:_:)`, which returns the cycle in place of a wait, and name the holder in `waits`."
  }

  /// The run that has the turn calls one that waits for it.
  private func checkCall() async throws -> Bool {
    let (first, second) = (self.passers[0], self.passers[1])
    first.begin()
    guard try await self.hasTurn(first, "in an empty node") else { return false }
    let call = second.call
    // If it gets the turn all the same, it leaves at once.
    second.leave()
    var end: Result<Int, any Error>?
    let what = "a call to end that the run with the turn makes, and whose run waits for the turn"
    let hasEnded = try await self.report.waits(self.cycleRemedy) {
      end = try await first.perform(what, within: self.limit) { _ in
        do { return .success(try await call()) } catch { return .failure(error) }
      }
    }
    guard hasEnded, let end else { return false }
    let isKept = end.isCycle
    self.report.expect(
      isKept,
      "the run with the turn called one that waits for the turn, and got \(end.text) in place of an "
        + "`OperationCycleError`. \(self.cycleRemedy)"
    )
    first.leave()
    guard try await self.hasEnded([first]) else { return false }
    first.reset()
    second.reset()
    return isKept
  }

  /// A run waits in the node, and then the run with the turn waits for it.
  private func checkEarlierWait() async throws -> Bool {
    guard let (first, second) = try await self.holderAndWaiter() else { return false }
    let what = "a run with the turn to learn that it would wait for one that waits for the turn"
    let isKept = try await first.perform(what, within: self.limit) { context in
      await context.awaiting(second.run, for: { "a run that waits in the checked node" }) {}.isCycle
    }
    self.report.expect(
      isKept,
      "a run waits for the turn, the run that has it is about to wait for that run, and finds no cycle. \(self.cycleRemedy)"
    )
    first.leave()
    guard try await self.hasTurn(second, "after another has left") else { return false }
    second.leave()
    guard try await self.hasEnded([first, second]) else { return false }
    first.reset()
    second.reset()
    return isKept
  }

  /// The run with the turn waits for another run, and then that run comes to the node.
  private func checkLaterWait() async throws {
    let (first, second) = (self.passers[0], self.passers[1])
    first.begin()
    guard try await self.hasTurn(first, "in an empty node") else { return }
    let limit = self.limit
    let isWaiting = AwaitableState(false)
    let isOver = AwaitableState(false)
    first.run.add { context in
      _ = await context.awaiting(second.run, for: { "a run that comes to the checked node" }) {
        isWaiting.change { $0 = true }
        await isOver.wait { $0 ? () : nil }
      }
    }
    defer { isOver.change { $0 = true } }
    try await isWaiting.wait(.cancellable(limit), for: { _ in "a run with the turn to wait" }, until: { $0 ? () : nil })
    second.begin()
    let what = "a run to end that comes to the node while the run with the turn waits for it"
    guard try await self.reaches(second, what, self.cycleRemedy, { $0.hasEnded || $0.hasTurn }) else { return }
    let state = second.run.state.current
    self.report.expect(
      !state.hasTurn && state.error is OperationCycleError,
      "a run came to the node while the run with the turn waited for it, and got "
        + "\(state.hasTurn ? "the turn" : state.error.map { "\($0)" } ?? "no error") in place of an `OperationCycleError`. "
        + self.cycleRemedy
    )
    isOver.change { $0 = true }
    first.leave()
    second.leave()
    _ = try await self.hasEnded([first, second])
  }
}

// MARK: - The steps

extension WaitNodeCheck {
  /// Whether the node waits for nothing; otherwise the rule is broken.
  @discardableResult
  private func expectNoWaits(_ when: String) -> Bool {
    let count = self.node.waits.count
    self.report.expect(
      count == 0,
      "`waits` has \(count) \(count == 1 ? "edge" : "edges") \(when). Forget a run as soon as it leaves."
    )
    return count == 0
  }

  /// Whether the runs on the executor of the check do nothing: those that wait are suspended.
  private func areSuspended() async throws -> Bool {
    try await self.report.waits("Suspend a run that waits, and resume it when it has the turn.") {
      try await self.executor.idle(within: self.limit)
    }
  }

  /// A run that has the turn, and one that waits for it; nil, and a broken rule, if there are none.
  private func holderAndWaiter() async throws -> (Passer, Passer)? {
    let (first, second) = (self.passers[0], self.passers[1])
    first.begin()
    guard try await self.hasTurn(first, "in an empty node") else { return nil }
    second.begin()
    guard try await self.isWaiting(second) else { return nil }
    return (first, second)
  }

  /// Whether the run of a passer gets as far as it should within the limit; otherwise the rule is broken.
  private func reaches(
    _ passer: Passer,
    _ what: String,
    _ remedy: String,
    _ isThere: @escaping @Sendable (PassingRun.State) -> Bool
  ) async throws -> Bool {
    try await self.report.waits(remedy) {
      try await passer.run.state.wait(.cancellable(self.limit), for: { _ in what }, until: { isThere($0) ? () : nil })
    }
  }

  private func hasTurn(_ passer: Passer, _ when: String) async throws -> Bool {
    let remedy = "When a run leaves, resume the next one, and forget those that were cancelled."
    let reached = try await self.reaches(passer, "a run to get the turn \(when)", remedy) { $0.hasTurn || $0.hasEnded }
    let state = passer.run.state.current
    self.report.expect(
      !reached || state.hasTurn,
      "a run ended without the turn \(when): \(state.errorText)"
    )
    return state.hasTurn
  }

  /// Whether a run has come, and waits or has the turn.
  private func hasCome(_ passer: Passer) async throws -> Bool {
    let (what, remedy) = ("a run to wait while another has the turn", "Wait in `context.awaiting(_:for:_:)`.")
    return try await self.reaches(passer, what, remedy) { $0.isWaiting || $0.hasTurn || $0.hasEnded }
  }

  private func isWaiting(_ passer: Passer) async throws -> Bool {
    guard try await self.hasCome(passer) else { return false }
    let state = passer.run.state.current
    guard state.hasTurn || state.hasEnded else { return true }
    self.report.expect(
      false,
      state.hasTurn
        ? "a run got the turn while another had it. Let one run pass, and the others wait."
        : "a run ended while another had the turn: \(state.errorText)"
    )
    return false
  }

  private func hasEnded(_ passers: [Passer]) async throws -> Bool {
    try await self.report.waits("A run has nothing to wait for once it has left.") {
      for passer in passers {
        try await passer.run.state.wait(.cancellable(self.limit)) { _ in
          "a run to end after its work"
        } until: { state in
          state.hasEnded ? () : nil
        }
        try await passer.settled(within: self.limit)
      }
    }
  }

  /// Whether a wait of the run for the node would close a cycle.
  private func isNamed(_ passer: Passer) async throws -> Bool {
    let node = self.node
    return try await passer.perform("a run with the turn to go on", within: self.limit) { context in
      await context.awaiting(node, for: { "the checked node" }) {}.isCycle
    }
  }
}

extension Result {
  fileprivate var isCycle: Bool {
    if case .failure(let error) = self { error is OperationCycleError } else { false }
  }
}

extension Result<Int, any Error> {
  fileprivate var text: String {
    switch self {
    case .success(let value): "the value \(value)"
    case .failure(let error): "\(error)"
    }
  }
}
