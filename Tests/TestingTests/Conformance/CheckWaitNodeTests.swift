import OperationCore
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@Suite(.bounded, .issuesAreExpected, .warningsAreIssues) struct CheckWaitNodeTests {
  @Test func `A sound node keeps the rules`() async throws {
    try await checkWaitNode { work in BrokenQueue.make(.none, work) }
  }

  private static let cycleRemedy = """
    Wait in `context.awaiting(_:for:_:)`, which returns the cycle in place of a wait, and name the holder in `waits`.
    """

  private static let holderRemedy = "Keep `context.runNode` of the run that gets the turn, and return an edge to it."

  private static let faults: [(WaitNodeRule, BrokenQueue.Fault, [String])] = [
    (
      .edges, .namesFormerHolder,
      [
        """
        `waits` has 1 edge after two runs have left, the last one with an error. Forget a run as soon as it leaves.
        """
      ]
    ),
    (
      .edges, .letsAllPass,
      ["a run got the turn while another had it. Let one run pass, and the others wait."]
    ),
    (
      .edges, .waitsWithoutNote,
      [
        "Waited 0.2 seconds for a run to wait while another has the turn. Wait in `context.awaiting(_:for:_:)`."
      ]
    ),
    (
      .holder, .namesNone,
      [
        "`waits` does not name the run that has the turn. \(Self.holderRemedy)",
        "`waits` does not name the run that has the turn while another waits. \(Self.holderRemedy)",
        "`waits` does not name the run that has got the turn of another. \(Self.holderRemedy)",
      ]
    ),
    (
      .holder, .namesLastWaiter,
      ["`waits` does not name the run that has the turn while another waits. \(Self.holderRemedy)"]
    ),
    (
      .holder, .namesFirstHolder,
      ["`waits` does not name the run that has got the turn of another. \(Self.holderRemedy)"]
    ),
    (
      .turns, .letsAllPass,
      ["3 runs had the turn at the same time. Let one run pass, and the others wait."]
    ),
    (
      .turns, .forgetsNext,
      [
        """
        Waited 0.2 seconds for run 2 of 3 to get the turn after the ones before have left; 1 have got it. When a run \
        leaves, resume the next one.
        """
      ]
    ),
    (
      .cycles, .waitsWithoutNote,
      [
        """
        Waited 0.2 seconds for a call to end that the run with the turn makes, and whose run waits for the turn. \
        \(Self.cycleRemedy)
        """
      ]
    ),
    (
      .cycles, .letsAllPass,
      [
        """
        the run with the turn called one that waits for the turn, and got the value 1 in place of an \
        `OperationCycleError`. \(Self.cycleRemedy)
        """
      ]
    ),
    (
      .cycles, .searchesBeforeTheWait,
      [
        """
        a run waits for the turn, the run that has it is about to wait for that run, and finds no cycle. \
        \(Self.cycleRemedy)
        """
      ]
    ),
    (
      .cycles, .knowsOwnTaskOnly,
      [
        """
        Waited 0.2 seconds for a run to end that comes to the node while the run with the turn waits for it. \
        \(Self.cycleRemedy)
        """
      ]
    ),
    (
      .cancellation, .ignoresCancellation,
      [
        """
        Waited 0.2 seconds for a run to end that was cancelled while it waited. Wait in `withTaskCancellationHandler`, \
        and resume a run that is cancelled.
        """
      ]
    ),
    (
      .cancellation, .namesFormerHolder,
      [
        """
        `waits` has 1 edge after a run was cancelled while it waited, and the others have left. Forget a run as soon as it \
        leaves.
        """
      ]
    ),
    (
      .cancellation, .letsCancelledPass,
      ["a run that was cancelled while it waited has got the turn. Throw a `CancellationError` from the wait."]
    ),
    (
      .cancellation, .keepsCancelled,
      [
        """
        Waited 0.2 seconds for a run to get the turn after another has left, and one before it was cancelled. When a run \
        leaves, resume the next one, and forget those that were cancelled.
        """
      ]
    ),
    (
      .cancellation, .takesTurnOfCancelled,
      [
        """
        a run was cancelled after it had got the turn and before it went on, and another has the turn at the same time. \
        Take a place away from a cancelled run only while the run has no turn.
        """
      ]
    ),
  ]

  @Test(arguments: faults.indices)
  func `Each broken rule is found`(index: Int) async throws {
    let (rule, fault, issues) = Self.faults[index]
    let expected = issues.map { "The wait node breaks the rule '\(rule)': \($0)" }
    let found = try await recordedIssues(expecting: .all(expected)) { limit in
      try await checkWaitNode([rule], within: limit) { work in BrokenQueue.make(fault, work) }
    }
    expect(found, equals: expected)
  }

  @Test func `A run that ends without the turn breaks the rule`() async throws {
    let expected = "The wait node breaks the rule 'edges': a run ended without the turn in an empty node: refused"
    let found = try await recordedIssues(expecting: .all([expected])) { limit in
      try await checkWaitNode([.edges], within: limit) { _ in
        (BrokenQueue(.none), QueryOperation<Int, any Error>("passer") { _ in throw Refused() })
      }
    }
    expect(found, equals: [expected])
  }

  @Test func `A call that does not return is found`() async throws {
    let expected = """
      The wait node breaks the rule 'edges': Waited 0.2 seconds for a call to return whose run has ended. A run has nothing \
      to wait for once it has left.
      """
    let found = try await recordedIssues(expecting: .all([expected])) { limit in
      try await checkWaitNode([.edges], within: limit) { work in
        let (queue, operation) = BrokenQueue.make(.none, work)
        return (queue, operation.context { $0.callInterceptors.append(LateAnswer()) })
      }
    }
    expect(found, equals: [expected])
  }

  @Test func `Each rule has a double that breaks it`() {
    expect(Set(Self.faults.map(\.0)), equals: Set(WaitNodeRule.allCases))
  }

  @Test func `Exceptions are not checked`() async throws {
    try await checkWaitNode(except: [.holder, .cycles]) { work in BrokenQueue.make(.namesNone, work) }
  }
}

/// Answers a call only when its caller is cancelled.
private final class LateAnswer: StoreCallInterceptor {
  nonisolated(nonsending) func call(_ call: StoreCall) async -> StoreCallAnswer {
    let answer = await call.proceed()
    try? await Gate().wait()
    return answer
  }
}

/// A queue with one fault.
private final class BrokenQueue: WaitNode {
  enum Fault {
    case none, namesFormerHolder, namesNone, namesLastWaiter, namesFirstHolder, letsAllPass, forgetsNext
    case waitsWithoutNote, searchesBeforeTheWait, knowsOwnTaskOnly, ignoresCancellation, letsCancelledPass
    case keepsCancelled, takesTurnOfCancelled
  }

  private typealias Turn = CheckedContinuation<Bool, Never>

  private struct Place {
    let number: Int
    let run: RunNode?
    var turn: Turn?
    var isCancelled = false
  }

  private struct Line {
    /// The first place has the turn.
    var places: [Place] = []
    var lastNumber = 0
    var firstHolder: RunNode?
    var formerHolder: RunNode?
  }

  @TaskLocal private static var held: BrokenQueue?

  private let fault: Fault
  private let line = Mutex(Line())

  init(_ fault: Fault) {
    self.fault = fault
  }

  static func make(
    _ fault: Fault,
    _ work: @escaping @Sendable (OperationContext) async throws -> Int
  ) -> (node: BrokenQueue, operation: QueryOperation<Int, any Error>) {
    let queue = BrokenQueue(fault)
    return (
      queue,
      QueryOperation("passer") { context in
        let number = try await queue.enter(context)
        defer { queue.leave(number) }
        return try await BrokenQueue.$held.withValue(queue) { try await work(context) }
      }
    )
  }

  var waitName: String? { "the queue" }

  var waits: [WaitEdge] {
    let named = self.line.withLock { line -> RunNode? in
      switch self.fault {
      case .namesNone, .knowsOwnTaskOnly: nil
      case .namesFormerHolder: line.places.first?.run ?? line.formerHolder
      case .namesLastWaiter: line.places.last { $0.turn != nil }?.run ?? line.places.first?.run
      case .namesFirstHolder: line.places.isEmpty ? nil : line.firstHolder
      default: line.places.first?.run
      }
    }
    return named.map { [WaitEdge(to: $0)] } ?? []
  }

  var isEndedByCurrentTask: Bool { self.fault == .knowsOwnTaskOnly && Self.held === self }

  private func enter(_ context: OperationContext) async throws -> Int {
    let run = context.runNode
    let (number, hasTurn) = self.line.withLock { line in
      line.lastNumber += 1
      line.places.append(Place(number: line.lastNumber, run: run))
      line.firstHolder = line.firstHolder ?? run
      return (line.lastNumber, line.places.count == 1)
    }
    if hasTurn || self.fault == .letsAllPass { return number }
    let isAdmitted: Bool
    switch self.fault {
    case .waitsWithoutNote: isAdmitted = await self.wait(number)
    case .searchesBeforeTheWait:
      try await self.orLeave(number) { try await context.awaiting(self, for: { "the queue" }) {}.get() }
      isAdmitted = await self.wait(number)
    default:
      isAdmitted = try await self.orLeave(number) {
        try await context.awaiting(self, for: { "the queue" }) { await self.wait(number) }.get()
      }
    }
    if !isAdmitted { throw CancellationError() }
    return number
  }

  /// Gives the place up if the wait would close a cycle.
  private func orLeave<R: Sendable>(_ number: Int, _ body: @Sendable () async throws -> R) async throws -> R {
    do {
      return try await body()
    } catch {
      self.leave(number)
      throw error
    }
  }

  private func wait(_ number: Int) async -> Bool {
    await withTaskCancellationHandler {
      await withCheckedContinuation { turn in self.suspend(number, turn) }
    } onCancel: {
      self.cancel(number)
    }
  }

  private func suspend(_ number: Int, _ turn: Turn) {
    let answer = self.line.withLock { line -> Bool? in
      guard let index = line.places.firstIndex(where: { $0.number == number }), !line.places[index].isCancelled else {
        return self.fault == .letsCancelledPass
      }
      if index == 0 { return true }
      line.places[index].turn = turn
      return nil
    }
    if let answer { turn.resume(returning: answer) }
  }

  private func cancel(_ number: Int) {
    switch self.fault {
    case .ignoresCancellation: break
    case .keepsCancelled:
      let turn = self.line.withLock { line -> Turn? in
        guard let index = line.places.firstIndex(where: { $0.number == number }) else { return nil }
        line.places[index].isCancelled = true
        return line.places[index].turn.take()
      }
      turn?.resume(returning: false)
    case .takesTurnOfCancelled: self.leave(number)
    default:
      // A run that has got the turn goes on with it, and leaves.
      self.leave(number, unlessFirst: true)
    }
  }

  private func leave(_ number: Int, unlessFirst: Bool = false) {
    let resumed = self.line.withLock { line -> [(Turn, Bool)] in
      guard let index = line.places.firstIndex(where: { $0.number == number }) else { return [] }
      if index == 0, unlessFirst { return [] }
      let place = line.places.remove(at: index)
      line.formerHolder = place.run
      var resumed: [(Turn, Bool)] = []
      if let turn = place.turn { resumed.append((turn, self.fault == .letsCancelledPass)) }
      if index == 0, self.fault != .forgetsNext, !line.places.isEmpty, let turn = line.places[0].turn.take() {
        resumed.append((turn, true))
      }
      return resumed
    }
    for (turn, hasTurn) in resumed { turn.resume(returning: hasTurn) }
  }
}
