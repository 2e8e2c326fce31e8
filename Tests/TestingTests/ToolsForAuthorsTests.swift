import OperationAttempts
import OperationCore
import OperationEvents
import OperationStreams
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// The tools of the core with which authors write observers, conditions, graphs and modifiers.
@Suite(.bounded, .warningsAreIssues) struct ToolsForAuthorsTests {
  @Test func `A condition made of a broadcast keeps the rules`() async throws {
    try await checkRunSpecification {
      let isOn = Broadcast(false)
      return (BroadcastIsOn(isOn: isOn), { isOn.send($0) })
    }
  }

  @Test func `An observer made of a broadcast with a source keeps the rules`() async throws {
    try await checkObserver(sending: [1, 2, 3]) {
      let source = Source()
      let values = OnDemandBroadcast(current: { source.current }, start: { source.start($0) })
      return CheckedObserver(
        subscribe: { values.subscribe($0) },
        current: { values.value },
        send: { source.send($0) }
      )
    }
  }

  @Test func `The source of a broadcast runs while there are subscribers`() async throws {
    let source = Source()
    let values = OnDemandBroadcast(current: { source.current }, start: { source.start($0) })
    let subscription = values.subscribe { _ in }
    await values.settled()
    #expect(source.isRunning)
    subscription.cancel()
    await values.settled()
    #expect(!source.isRunning)
  }

  @Test func `A graph has each node and each wait once, and leaves out what is beyond its limit`() {
    let jobs = [Job("a"), Job("b"), Job("c")]
    var builder = OperationWaitGraph.Builder(limit: 3)
    let slot = builder.addResource("a slot")
    expect(builder.addResource("a slot"), equals: slot)
    for job in jobs {
      let node = builder.addOperation(job, job.name, "waits")
      builder.addWait(of: node, for: slot, because: "capacity")
      builder.addWait(of: node, for: slot, because: "capacity")
    }
    #expect(builder.isFull)
    expect(jobs.map { builder.operation($0) }, equals: [2, 3, nil])
    let graph = builder.graph(named: "The jobs", "3 jobs", leftOut: 1)
    expect(
      graph.description,
      equals: """
        The jobs: 3 jobs
        a waits: a slot (capacity)
        b waits: a slot (capacity)
        """
    )
    expect(graph.edges.count, equals: 2)
    expect(graph.leftOut, equals: 1)
  }

  @Test func `A modifier handles the events of its stores`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(1))
    let states = Mutex<[Int?]>([])
    let query = script.query().modifier(Recording { value in states.withLock { $0.append(value) } })
    let store = OperationStore.detached(query: query)
    _ = try await store.fetch()
    expect(states.withLock { $0.last }, equals: 1)
  }

  @Test func `A modifier gives a withdrawal back`() {
    let budget = RetryBudget(ratio: 1, minimumPerSecond: 0)
    var context = OperationContext()
    #expect(budget.depositOnce(for: &context))
    #expect(!budget.depositOnce(for: &context))
    let withdrawal = budget.withdrawal(in: context)
    #expect(withdrawal != nil && budget.withdrawal(in: context) == nil)
    if let withdrawal { budget.giveBack(withdrawal, in: context) }
    expect(budget.available(in: context), equals: 1)
    budget.takeBackDeposit(in: context)
    expect(budget.available(in: context), equals: 0)
  }

  @Test func `The counter of fetches follows the runs of a client`() async throws {
    let client = OperationClient()
    let script = OperationScript<Int, any Error>(default: .suspend)
    let counts = Mutex<[Int]>([])
    let counter = Mutex<FetchingCounter?>(nil)
    let made = FetchingCounter {
      if let count = counter.withLock({ $0 })?.count { counts.withLock { $0.append(count) } }
    }
    counter.withLock { $0 = made }
    defer { counter.withLock { $0 = nil } }
    let subscription = made.start(client, matching: [])
    defer { subscription.cancel() }
    let store = client.store(for: script.query())
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await script.next()
    expect(made.count, equals: 1)
    run.succeed(1)
    _ = try await fetch.value
    await store.settled()
    expect(made.count, equals: 0)
    expect(counts.withLock { $0 }, equals: [1, 0])
  }

  @Test func `Texts of errors and paths have no secret`() {
    struct Token: Hashable, Sendable, OperationSecret {}
    struct Failed: Error, CustomStringConvertible {
      let description: String
    }
    expect(ShownText.of(["users", 1, Token()]), equals: #"["users", 1, Token]"#)
    expect(ShownText.of(Failed(description: "It failed.\nTry again.")), equals: "It failed. Try again")
    expect(ShownText.of(Failed(description: String(repeating: "x", count: 300))).count, equals: 201)
  }
}

private struct BroadcastIsOn: OperationRunSpecification, Sendable {
  let isOn: Broadcast<Bool>

  func isSatisfied(in context: OperationContext) -> Bool { self.isOn.value }

  func subscribe(in context: OperationContext, onChange: @escaping @Sendable () -> Void) -> OperationSubscription {
    self.isOn.subscribe { _ in onChange() }
  }
}

/// A source that a test controls.
private final class Source: Sendable {
  private struct State {
    var current = 0
    /// The value that readers know.
    var known = 0
    var send: (@Sendable (Int) -> Void)?
  }

  private let state = Mutex(State())

  var current: Int {
    self.state.withLock { state in
      state.known = state.current
      return state.current
    }
  }

  var isRunning: Bool { self.state.withLock { $0.send != nil } }

  func start(_ send: @escaping @Sendable (Int) -> Void) -> OperationSubscription {
    let missed = self.state.withLock { state -> Int? in
      state.send = send
      return state.known == state.current ? nil : state.current
    }
    if let missed { send(missed) }
    return OperationSubscription { self.state.withLock { $0.send = nil } }
  }

  func send(_ value: Int) {
    let send = self.state.withLock { state in
      state.current = value
      if state.send != nil { state.known = value }
      return state.send
    }
    send?(value)
  }
}

private final class Job: Sendable {
  let name: String

  init(_ name: String) {
    self.name = name
  }
}

private struct Recording<Operation: StatefulOperationRequest>: OperationModifier
where Operation.State == QueryState<Int, any Error> {
  typealias Value = Operation.Value
  typealias Failure = Operation.Failure

  let record: @Sendable (Int?) -> Void

  func setup(context: inout OperationContext, using operation: Operation) {
    context.addEventHandler(
      OperationEventHandler<Operation.State>(onStateChanged: { state, _ in self.record(state.currentValue) })
    )
    operation.setup(context: &context)
  }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Value, Failure>
  ) async throws(Failure) -> Value {
    try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}
