import OperationCore
import OperationTesting
import TestFixtures
import Testing

@testable import OperationMutation

@Suite(.bounded, .warningsAreIssues)
struct ScopeTests {
  private let client = OperationClient()
  private let script = Script()

  private func store(_ path: OperationPath = ["mutation"], scope: String = "posts") -> MutationStore {
    self.client.store(for: Mutation(script: self.script, path: path).scope(scope))
  }

  @Test func `Calls of one scope run one at a time, in the order in which they were made`() async throws {
    let stores = [self.store(["one"]), self.store(["two"])]
    let calls = (0..<6).map { stores[$0 % 2].begin("\($0)") }
    #expect(stores[0].isLoading)
    for number in 0..<6 {
      let run = try await self.script.next()
      expect(run.arguments, equals: "\(number)")
      expect(self.script.activeRunCount, equals: 1)
      // A call that fails lets the next one run.
      if number == 2 { run.fail(Refused()) } else { run.succeed("made") }
    }
    for (number, call) in calls.enumerated() where number != 2 { _ = try await call.value }
    await #expect(throws: Refused.self) { try await calls[2].value }
  }

  @Test func `Different scopes, clients and stores without a client do not wait for each other`() async throws {
    let stores = [
      self.store(["one"], scope: "a"),
      self.store(["two"], scope: "b"),
      OperationClient().store(for: Mutation(script: self.script).scope("a")),
      .detached(mutation: Mutation(script: self.script).scope("a")),
      .detached(mutation: Mutation(script: self.script).scope("a")),
    ]
    let calls = stores.map { $0.begin("x") }
    try await self.script.runs(count: 5)
    for _ in calls { try await self.script.next().succeed("made") }
    for call in calls { _ = try await call.value }

    let detached = stores[4]
    let twice = [detached.begin("1"), detached.begin("2")]
    let run = try await self.script.next()
    expect(self.script.runCount, equals: 6)
    run.succeed("made")
    try await self.script.next().succeed("made")
    for call in twice { _ = try await call.value }
  }

  @Test func `Values of different types name different scopes`() async throws {
    let mutation = Mutation(script: self.script)
    let first = self.client.store(for: mutation.scope(1))
    let second = self.client.store(for: Mutation(script: self.script, path: ["other"]).scope(UInt8(1)))
    let calls = [first.begin("a"), second.begin("b")]
    try await self.script.runs(count: 2)
    for _ in calls { try await self.script.next().succeed("made") }
    for call in calls { _ = try await call.value }
  }

  @Test func `A call that is cancelled while it waits ends at once, and no other call starts early`() async throws {
    let store = self.store()
    let calls = (0..<4).map { store.begin("\($0)") }
    let first = try await self.script.next()
    expect(first.arguments, equals: "0")

    for number in [1, 2] {
      calls[number].cancel()
      await #expect(throws: CancellationError.self) { try await calls[number].value }
      expect(self.script.runCount, equals: 1)
    }
    expect(store.history.map(\.arguments), equals: ["0", "3"])

    first.succeed("made")
    let last = try await self.script.next()
    expect(last.arguments, equals: "3")
    last.succeed("made")
    _ = try await calls[3].value
    expect(self.script.runCount, equals: 2)
  }

  @Test func `A call that is cancelled during its turn lets the next one run`() async throws {
    let store = self.store()
    let calls = [store.begin("a"), store.begin("b")]
    _ = try await self.script.next()
    calls[0].cancel()
    let run = try await self.script.next()
    expect(run.arguments, equals: "b")
    run.succeed("made")
    _ = try await calls[1].value
    await #expect(throws: CancellationError.self) { try await calls[0].value }
  }

  @Test func `A cancelled call whose failure cannot represent that keeps its position`() async throws {
    let gate = Gate()
    let order = Log<Int>()
    let mutation = ClosureMutation<Int, Int, Refused> { arguments, _ throws(Refused) in
      order.append(arguments)
      if arguments == 1 { await gate.waitIgnoringCancellation() }
      if Task.isCancelled { throw Refused() }
      return arguments
    }.scope("x")
    let store = self.client.store(for: mutation)
    let calls = (1...3).map { number in Task.immediate { try await store.mutate(with: number) } }
    try await gate.arrivals(count: 1)
    calls[1].cancel()
    expect(order.all, equals: [1])
    gate.open()
    await #expect(throws: Refused.self) { try await calls[1].value }
    try await expect(calls[2].value, equals: 3)
    expect(order.all, equals: [1, 2, 3])
  }

  @Test func `A mutation that is called inside another of the scope does not wait for its end`() async throws {
    let inner = self.client.store(for: Mutation(script: Script(default: .value("inner"))).scope("x"))
    let outer = ClosureMutation<String, String, any Error> { _, _ in try await inner.mutate(with: "a") }.scope("x")
    try await expect(self.client.store(for: outer).mutate(with: "b"), equals: "inner")
  }

  @Test func `A call that outlives the call that made it waits like any other`() async throws {
    let store = self.store(["inner"])
    let gate = Gate()
    let left = Log<Task<String, any Error>>()
    let outer = ClosureMutation<String, String, any Error> { _, _ in
      left.append(
        Task {
          try await gate.wait()
          return try await store.mutate(with: "left")
        }
      )
      return "made"
    }.scope("posts")
    try await self.client.store(for: outer).mutate(with: "b")

    let call = store.begin("first")
    let run = try await self.script.next()
    gate.open()
    let history = EventRecorder<MutationState<String, String, any Error>>()
    let subscription = store.subscribe(with: history.handler)
    try await history.firstState { $0.activeTasks.count == 2 }
    expect(self.script.runCount, equals: 1)
    run.succeed("made")
    try await self.script.next().succeed("made")
    _ = try await call.value
    _ = try await left.all[0].value
    subscription.cancel()
  }

  @Test func `An update outside of the scope is shown while the call waits`() async throws {
    let feeds = Feeds()
    let feed = feeds.store()
    let store = feeds.client.store(for: Mutation(script: self.script).scope("x").appending())
    let calls = [store.begin("a"), store.begin("b")]
    expect(feed.currentValue, equals: ["old", "a", "b"])
    calls[1].cancel()
    _ = try? await calls[1].value
    expect(feed.currentValue, equals: ["old", "a"])
    try await self.script.next().succeed("made")
    _ = try await calls[0].value
    expect(self.script.runCount, equals: 1)
    expect(feed.currentValue, equals: ["old", "a"])
  }

  @Test func `An unused scope has no queue`() async throws {
    let queues = ScopeQueues()
    let owner = Gate()
    guard
      case .turn = await queues.admission(to: ["a"], of: owner, in: OperationContext(), canLeave: true, isolation: nil)
    else {
      Issue.record("The first caller waits.")
      return
    }
    expect(queues.scopes, equals: [["a"]])

    let script = Script(default: .value("made"))
    let store = OperationClient().store(for: Mutation(script: script).scope("own"))
    for number in 1...100 { try await store.mutate(with: "\(number)") }
    #expect(!ScopeQueues.shared.scopes.contains(["own"]))
  }

  @Test func `A runner without client and store has the scopes of its operation`() async throws {
    var context = OperationContext()
    let contexts = Log<OperationContext>()
    try await OperationStore.detached(
      mutation: ClosureMutation<String, Void, any Error> { _, context in contexts.append(context) }
    ).mutate(with: "a")
    context = contexts.all[0]
    let runner = OperationRunner(operation: Mutation(script: self.script).scope("x"), initialContext: context)
    let runs = (0..<2).map { _ in Task.immediate { try await runner.run(isolation: nil) } }
    let first = try await self.script.next()
    expect(self.script.runCount, equals: 1)
    first.succeed("made")
    try await self.script.next().succeed("made")
    for run in runs { _ = try await run.value }
  }
}
