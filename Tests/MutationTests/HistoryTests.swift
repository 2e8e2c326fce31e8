import FoundationEssentials
import OperationCore
import OperationMutation
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct HistoryTests {
  private let script = Script()

  @Test func `A state prints its status, its value and its error in one line`() async throws {
    let script = Script()
    script.enqueue(.value("done"), .error(Refused(code: 3)))
    let store = MutationStore.detached(mutation: Mutation(script: script))
    expect("\(store.state)", equals: "MutationState(idle, no value)")
    try await store.mutate(with: "a")
    expect("\(store.state)", equals: "MutationState(success, value done)")
    _ = try? await store.mutate(with: "b")
    expect("\(store.state)", equals: "MutationState(failure, value done, error Refused(code: 3))")
    var text = ""
    dump(store.state, to: &text)
    #expect(text.contains("errorUpdateCount: 1"))
  }

  @Test func `The history has the ten newest calls by default`() async throws {
    let script = Script(default: .value("made"))
    let store = MutationStore.detached(mutation: Mutation(script: script))
    for number in 1...25 { try await store.mutate(with: "\(number)") }
    expect(store.history.map(\.arguments), equals: (16...25).map(String.init))
    expect(store.valueUpdateCount, equals: 25)

    let inner = MutationStore.detached(mutation: Mutation(script: script).maxHistory(length: 2).maxHistory(length: 5))
    for number in 1...9 { try await inner.mutate(with: "\(number)") }
    expect(inner.history.map(\.arguments), equals: ["8", "9"])
  }

  @Test func `Entries are dated by the clock of the context`() async throws {
    let clock = ManualClock()
    let store = MutationStore.detached(mutation: Mutation(script: self.script).manualTime(clock))
    let start = store.context.operationClock.now()
    let call = store.begin("a")
    let run = try await self.script.next()
    clock.advance(by: .seconds(5))
    run.succeed("made")
    _ = try await call.value

    let entry = try #require(store.history.first)
    expect(entry.startDate, equals: start)
    expect(entry.lastUpdatedAt, equals: start.addingTimeInterval(5))
    expect(store.valueLastUpdatedAt, equals: entry.lastUpdatedAt)
  }

  @Test func `Ended calls are removed before active ones, and the newest call never`() async throws {
    let store = MutationStore.detached(mutation: Mutation(script: self.script).maxHistory(length: 2))
    var calls: [Task<String, any Error>] = []
    var runs: [ScriptedRun<String, any Error>] = []
    for name in ["a", "b", "c", "d"] {
      calls.append(store.begin(name))
      runs.append(try await self.script.next())
    }
    expect(store.history.map(\.arguments), equals: ["c", "d"])
    expect(store.activeTasks.count, equals: 4)

    runs[3].succeed("4")
    _ = try await calls[3].value
    expect(store.history.map(\.arguments), equals: ["c", "d"])

    runs[0].succeed("1")
    _ = try await calls[0].value
    expect(store.currentValue, equals: "4")
    expect(store.history.map(\.arguments), equals: ["c", "d"])

    runs[2].succeed("3")
    runs[1].fail(Refused())
    _ = try await calls[2].value
    _ = try? await calls[1].value
    #expect(!store.isLoading)
    expect(store.history.map(\.arguments), equals: ["c", "d"])
  }

  @Test func `A cancelled call is removed, and the calls that it displaced are back`() async throws {
    let store = MutationStore.detached(mutation: Mutation(script: self.script).maxHistory(length: 2))
    self.script.enqueue(.value("1"), .value("2"))
    for name in ["a", "b"] { try await store.mutate(with: name) }
    let call = store.begin("c")
    let run = try await self.script.next()
    expect(store.history.map(\.arguments), equals: ["b", "c"])
    run.yield("half")
    expect(store.currentValue, equals: "half")

    call.cancel()

    await #expect(throws: CancellationError.self) { try await call.value }
    expect(store.history.map(\.arguments), equals: ["a", "b"])
    expect(store.currentValue, equals: "2")
    expect(store.valueUpdateCount, equals: 2)
    expect(store.status.resultValue, equals: "2")
  }

  @Test func `Results of other calls stay in their entries when a call is cancelled`() async throws {
    let store = MutationStore.detached(mutation: Mutation(script: self.script))
    let calls = ["a", "b", "c", "d"].map { store.begin($0) }
    var runs: [ScriptedRun<String, any Error>] = []
    for _ in calls { runs.append(try await self.script.next()) }
    runs[0].yield("a half")
    runs[1].succeed("b")
    _ = try await calls[1].value
    runs[3].yield("d half")
    runs[2].fail(Refused(code: 3))
    _ = try? await calls[2].value
    runs[0].yield("a nearly")
    try expect(store.history[0].currentResult?.get(), equals: "a nearly")
    expect(store.currentValue, equals: "d half")
    #expect(store.error == nil)

    calls[0].cancel()
    _ = try? await calls[0].value

    expect(store.currentValue, equals: "d half")
    #expect(store.error == nil)
    expect(store.valueUpdateCount, equals: 2)
    expect(store.errorUpdateCount, equals: 1)
    expect(store.history.map(\.arguments), equals: ["b", "c", "d"])
    expect(store.history.map(\.status.isSuccessful), equals: [true, false, false])
    expect(store.history[0].status.resultValue, equals: "b")
    #expect(store.history[1].status.resultError is Refused)
    #expect(store.history[2].status.isLoading)
    expect(store.activeTasks.count, equals: 1)
    runs[3].succeed("d")
    _ = try await calls[3].value
    expect(store.history[2].status.resultValue, equals: "d")
  }

  @Test func `A call is found by the identifier of its task`() async throws {
    let script = Script(default: .value("made"))
    let store = MutationStore.detached(mutation: Mutation(script: script).maxHistory(length: 2))
    let tasks = ["a", "b", "c"].map { store.mutateTask(with: $0) }
    for task in tasks { try await task.runIfNeeded() }
    expect(store.history[id: tasks[1].id]?.arguments, equals: "b")
    expect(store.state.history[id: tasks[2].id]?.arguments, equals: "c")
    #expect(store.history[id: tasks[0].id] == nil)
  }

  @Test func `An active call can be retried`() async throws {
    let store = MutationStore.detached(mutation: Mutation(script: self.script))
    let call = store.begin("a")
    let retry = Task.immediate { try await store.retryLatest() }
    for number in 1...2 {
      let run = try await self.script.next()
      expect(run.arguments, equals: "a")
      run.succeed("\(number)")
    }
    try await expect(call.value, equals: "1")
    try await expect(retry.value, equals: "2")
  }

  @Test func `retryLatest calls the mutation again with the newest arguments`() async throws {
    let store = MutationStore.detached(mutation: Mutation(script: self.script))
    self.script.enqueue(.value("1"), .error(Refused()), .value("2"), .value("3"))
    try await store.mutate(with: "a")
    await #expect(throws: Refused.self) { try await store.mutate(with: "b") }
    expect(self.script.runCount, equals: 2)

    let started = Log<String>()
    let handler = Handler(onMutatingStarted: { arguments, _ in started.append(arguments) })
    try await expect(store.retryLatest(handler: handler), equals: "2")
    expect(started.all, equals: ["b"])

    let task = store.retryLatestTask()
    try await expect(task.runIfNeeded(), equals: "3")
    expect(store.history.map(\.arguments), equals: ["a", "b", "b", "b"])
  }

  @Test func `A cancelled call is not retried`() async throws {
    let store = MutationStore.detached(mutation: Mutation(script: self.script))
    self.script.enqueue(.error(Refused()))
    _ = try? await store.mutate(with: "a")
    let call = store.begin("b")
    try await self.script.runs(count: 2)
    call.cancel()
    _ = try? await call.value

    let retry = Task.immediate { try await store.retryLatest() }
    _ = try await self.script.next()  // The cancelled one.
    let run = try await self.script.next()
    expect(run.arguments, equals: "a")
    run.succeed("made")
    try await expect(retry.value, equals: "made")
  }
}
