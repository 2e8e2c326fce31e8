import OperationCore
import OperationMutation
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct MutatingTests {
  private let script = Script()

  private var store: MutationStore { .detached(mutation: Mutation(script: self.script)) }

  @Test func `A call receives its arguments, and its value is returned and shown`() async throws {
    let store = self.store
    let call = store.begin("a")
    let run = try await self.script.next()
    expect(run.arguments, equals: "a")
    #expect(store.isLoading)
    #expect(store.status.isLoading)
    expect(store.history.map(\.arguments), equals: ["a"])
    #expect(store.history[0].status.isLoading)

    run.succeed("made")

    try await expect(call.value, equals: "made")
    expect(store.currentValue, equals: "made")
    expect(store.status.resultValue, equals: "made")
    expect(store.valueUpdateCount, equals: 1)
    #expect(!store.isLoading)
    expect(store.history[0].status.resultValue, equals: "made")
    expect(store.history[0].value, equals: MutationOperationValue(arguments: "a", returnValue: "made"))
  }

  @Test func `A client calls a mutation, and its store shows the call`() async throws {
    let client = OperationClient()
    let mutation = Mutation(script: self.script)
    self.script.enqueue(.value("made"), .error(Refused(code: 1)))

    try await expect(client.mutate(mutation, with: "a"), equals: "made")
    expect(client.store(for: mutation).history.map(\.arguments), equals: ["a"])
    await #expect(throws: Refused(code: 1)) { try await client.mutate(mutation, with: "b") }
  }

  @Test func `An error is thrown and shown until the next value`() async throws {
    let store = self.store
    self.script.enqueue(.error(Refused(code: 1)), .value("made"))

    await #expect(throws: Refused(code: 1)) { try await store.mutate(with: "a") }

    expect(store.error as? Refused, equals: Refused(code: 1))
    #expect(store.status.isFailure)
    expect(store.errorUpdateCount, equals: 1)
    #expect(store.history[0].status.isFailure)
    expect(store.history[0].value, equals: nil)

    try await store.mutate(with: "b")

    #expect(store.error == nil)
    expect(store.errorUpdateCount, equals: 1)
    #expect(store.errorLastUpdatedAt != nil)
    expect(store.status.resultValue, equals: "made")
  }

  @Test func `The yields of a call are shown in the state and in its entry`() async throws {
    let store = self.store
    let call = store.begin("a")
    let run = try await self.script.next()

    run.yield("half")

    expect(store.currentValue, equals: "half")
    #expect(store.status.isLoading)
    try expect(store.history[0].currentResult?.get(), equals: "half")
    #expect(store.history[0].status.isLoading)
    run.succeed("whole")
    _ = try await call.value
    expect(store.currentValue, equals: "whole")
    expect(store.valueUpdateCount, equals: 2)
  }

  @Test func `A mutation without arguments is called without arguments`() async throws {
    let store = OperationStore.detached(mutation: ScriptedMutation<Void>(script: Script(default: .value("made"))))

    try await expect(store.mutate(), equals: "made")
    try await expect(store.mutateTask().runIfNeeded(), equals: "made")
    try await expect(store.run(), equals: "made")
    try await expect(store.retryLatest(), equals: "made")
    expect(store.history.count, equals: 4)
  }

  @Test func `A task calls the mutation when it is run, and changes nothing before`() async throws {
    let store = self.store
    self.script.enqueue(.value("made"))
    let task = store.mutateTask(with: "a")
    #expect(store.history.isEmpty)
    #expect(!store.isLoading)

    try await expect(task.runIfNeeded(), equals: "made")

    expect(store.history.map(\.task.id), equals: [task.id])
    #expect(store.history[0].task.isFinished)
  }

  @Test func `A handler of a call receives only the events of that call, with its arguments`() async throws {
    let store = self.store
    let events = Log<String>()
    let calls = ["a", "b"].map { name in
      store.begin(name, handler: Self.handler { events.append("\(name): \($0)") })
    }
    let first = try await self.script.next()
    let second = try await self.script.next()
    second.yield("half")
    second.succeed("2")
    _ = try await calls[1].value
    first.fail(Refused())
    await #expect(throws: Refused.self) { try await calls[0].value }

    expect(
      events.all,
      equals: [
        "a: started a", "b: started b", "b: yielded b half", "b: returned b 2", "b: ended b", "a: threw a",
        "a: ended a",
      ]
    )
  }

  @Test func `Subscribers and attached handlers receive all calls, and a subscription makes none`() async throws {
    let events = Log<String>()
    let attached = Log<String>()
    let store = MutationStore.detached(
      mutation: Mutation(script: self.script).handleEvents(with: Self.handler { attached.append($0) })
    )
    let subscription = store.subscribe(with: Self.handler { events.append($0) })
    expect(self.script.runCount, equals: 0)
    #expect(!store.isAutomaticRunningEnabled)
    self.script.enqueue(.value("1"), .error(Refused()))

    try await store.mutate(with: "a")
    _ = try? await store.mutate(with: "b")

    let expected = ["started a", "returned a 1", "ended a", "started b", "threw b", "ended b"]
    expect(events.all, equals: expected)
    expect(attached.all, equals: expected)
    subscription.cancel()
  }

  @Test func `Setting and resetting work as in any store, and a reset cancels all calls`() async throws {
    let store = MutationStore.detached(mutation: Mutation(script: self.script), initialValue: "first")
    expect(store.currentValue, equals: "first")
    #expect(store.status.isIdle)
    store.currentValue = "set"
    expect(store.status.resultValue, equals: "set")
    let calls = [store.begin("a"), store.begin("b")]
    for _ in calls { _ = try await self.script.next() }

    store.resetState()

    expect(store.currentValue, equals: "first")
    #expect(store.history.isEmpty)
    #expect(!store.isLoading)
    expect(store.valueUpdateCount, equals: 0)
    for call in calls { await #expect(throws: CancellationError.self) { try await call.value } }
    #expect(store.status.isIdle)
  }

  @Test func `A default value is shown while there is no value`() async throws {
    let mutation = Mutation(script: self.script).defaultValue("default")
    let store = OperationStore.detached(mutation: mutation)
    expect(store.currentValue, equals: "default")
    self.script.enqueue(.value("made"))
    try await expect(store.mutate(with: "a"), equals: "made")
    expect(store.currentValue, equals: "made")
    expect(store.history.map(\.arguments), equals: ["a"])
    expect(OperationClient().store(for: mutation).currentValue, equals: "default")
  }

  @Test func `A client keeps one store for a mutation`() async throws {
    let client = OperationClient()
    let mutation = Mutation(script: self.script)
    let store = client.store(for: mutation, initialValue: "first")
    // Debug builds report that the store was created before these modifiers.
    WarningRecorder().recording {
      #expect(client.store(for: mutation.scope("x").maxHistory(length: 2).tryingAgain()) === store)
    }
    expect(store.currentValue, equals: "first")
  }

  @Test func `The tasks of calls have the name of the mutation`() async throws {
    let store = MutationStore.detached(mutation: Mutation(script: self.script).tryingAgain())
    expect(store.mutateTask(with: "a").configuration.name, equals: "ScriptedMutation<String>: mutate")
  }

  private static func handler(report: @escaping @Sendable (String) -> Void) -> Handler {
    Handler(
      onMutatingStarted: { arguments, _ in report("started \(arguments)") },
      onMutationResultReceived: { arguments, result, context in
        let isYield = context.operationResultUpdateReason == .yieldedResult
        switch result {
        case .success(let value): report("\(isYield ? "yielded" : "returned") \(arguments) \(value)")
        case .failure: report("threw \(arguments)")
        }
      },
      onMutatingEnded: { arguments, _ in report("ended \(arguments)") }
    )
  }
}
