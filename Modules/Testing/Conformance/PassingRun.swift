internal import OperationCore

/// The order in which the runs of a check have got the turn.
struct Line: Sendable {
  /// The numbers of the runs.
  var turns: [Int] = []
  var holders = 0
  /// The greatest number of runs that had the turn at the same time.
  var most = 0
}

/// A run that passes a checked node, and does there what the check wants.
///
/// As a node it is something that the run holds: who waits for it waits until the run has ended.
final class PassingRun: WaitNode, StoreObserver {
  struct State: Sendable {
    var node: RunNode?
    /// Whether the run has begun to wait.
    var isWaiting = false
    var hasTurn = false
    var hasEnded = false
    /// The error with which the run has ended.
    var error: (any Error)?
    var steps: [Step] = []

    /// How the run has ended.
    var errorText: String { self.error.map { "\($0)" } ?? "it threw no error" }
  }

  /// What the run does while it has the turn.
  enum Step: Sendable {
    case perform(@Sendable (OperationContext) async -> Void)
    case leave(ScriptedFailure?)
  }

  let number: Int
  let state = AwaitableState(State())
  private let line: AwaitableState<Line>

  init(_ number: Int, in line: AwaitableState<Line>) {
    self.number = number
    self.line = line
  }

  var waitName: String? { "a run of the check" }

  var waits: [WaitEdge] { self.state.current.node.map { [WaitEdge(to: $0)] } ?? [] }

  var observedEvents: StoreEvent.Kinds { .waits }

  func receive(_ event: StoreEvent, of store: StoreReference) {
    if case .waitBegan = event.what { self.state.change { $0.isWaiting = true } }
  }

  /// Lets the run do something as soon as it has the turn.
  func add(_ step: @escaping @Sendable (OperationContext) async -> Void) {
    self.state.change { $0.steps.append(.perform(step)) }
  }

  /// What the run does while it has the turn.
  func work(in context: OperationContext) async throws -> Int {
    self.line.change { line in
      line.turns.append(self.number)
      line.holders += 1
      line.most = max(line.most, line.holders)
    }
    self.state.change { $0.hasTurn = true }
    defer { self.line.change { $0.holders -= 1 } }
    while true {
      switch await self.state.wait(until: { $0.steps.isEmpty ? nil : $0.steps.removeFirst() }) {
      case .perform(let step): await step(context)
      case .leave(let error?): throw error
      case .leave: return self.number
      }
    }
  }
}

/// The context entry by which the work of an operation finds its run.
enum PassingRunKey: OperationContext.Key {
  static let defaultValue: PassingRun? = nil
}

/// A store whose runs pass a checked node.
final class Passer: Sendable {
  let run: PassingRun
  /// Calls the store in the current task.
  let call: @Sendable () async throws -> Int

  private let client: OperationClient
  private let store: OperationStore<QueryState<Int, any Error>>
  private let observation: OperationSubscription
  private let task = Locked<Task<Int, any Error>?>(nil)
  private let hasReturned = AwaitableState(true)

  /// - Parameters:
  ///   - run: What the run does.
  ///   - operation: The operation, whose runs pass the checked node.
  ///   - executor: Where the runs are executed; nil for the default executor.
  init<Passing: StatefulOperationRequest<QueryState<Int, any Error>>>(
    _ run: PassingRun,
    _ operation: Passing,
    on executor: HeldExecutor? = nil
  )
  where Passing.Value == Int, Passing.Failure == any Error {
    let client = OperationClient()
    let observation = client.observe(with: run)
    let noting = operation.modifier(RunNoting(passingRun: run, executor: executor))
    let store = client.store(for: noting, initialState: QueryState(initialValue: nil))
    self.run = run
    self.call = { try await store.fetch() }
    (self.client, self.store, self.observation) = (client, store, observation)
  }
}

extension Passer {
  /// Begins a run, in a call of its own.
  func begin() {
    let (call, hasReturned) = (self.call, self.hasReturned)
    hasReturned.change { $0 = false }
    let task = Task.immediate {
      defer { hasReturned.change { $0 = true } }
      return try await call()
    }
    self.task.withLock { $0 = task }
  }

  func leave(throwing error: ScriptedFailure? = nil) {
    self.run.state.change { $0.steps.append(.leave(error)) }
  }

  func cancel() { self.task.withLock { $0 }?.cancel() }

  /// Waits until the call that has begun the run has returned.
  ///
  /// - Throws: `WaitTimedOut`, or `CancellationError`.
  func settled(within limit: Duration) async throws {
    try await self.hasReturned.wait(.cancellable(limit)) { _ in
      "a call to return whose run has ended"
    } until: { hasReturned in
      hasReturned ? () : nil
    }
  }

  /// Prepares the next run.
  func reset() { self.run.state.change { $0 = PassingRun.State() } }

  /// Ends what a broken node has left.
  func end() {
    self.cancel()
    self.leave()
    self.observation.cancel()
  }

  /// Does something in the run while it has the turn.
  ///
  /// - Throws: `WaitTimedOut`, or `CancellationError`.
  func perform<R: Sendable>(
    _ what: String,
    within limit: Duration,
    _ body: @escaping @Sendable (OperationContext) async -> R
  ) async throws -> R {
    let result = AwaitableState<R?>(nil)
    self.run.add { context in
      let value = await body(context)
      result.change { $0 = value }
    }
    return try await result.wait(.cancellable(limit), for: { _ in what }, until: { $0 })
  }
}

/// Notes the run around all that an author has written, and its end.
private struct RunNoting<Operation: OperationRequest>: OperationModifier {
  let passingRun: PassingRun
  let executor: HeldExecutor?

  static var beginsAtOnce: Bool { true }

  func setup(context: inout OperationContext, using operation: Operation) {
    operation.setup(context: &context)
    if let executor { context.operationTaskConfiguration.executorPreference = executor }
  }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    let node = context.runNode
    self.passingRun.state.change { $0.node = node }
    var inner = context
    inner[PassingRunKey.self] = self.passingRun
    do throws(Operation.Failure) {
      let value = try await operation.run(isolation: isolation, in: inner, with: continuation)
      self.passingRun.state.change { $0.hasEnded = true }
      return value
    } catch {
      self.passingRun.state.change { state in
        state.hasEnded = true
        state.error = error
      }
      throw error
    }
  }
}
