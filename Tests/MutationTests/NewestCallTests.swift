import OperationCore
import OperationMutation
import OperationTesting
import TestFixtures
import Testing

/// Of several active calls, the state shows the one that was started last.
@Suite(.bounded, .warningsAreIssues)
struct NewestCallTests {
  private typealias Call = Task<String, any Error>
  private typealias Run = ScriptedRun<String, any Error>

  private let script = Script()
  private let store: MutationStore

  init() {
    self.store = .detached(mutation: Mutation(script: self.script).clock(.timeFreeze()))
  }

  /// Starts calls in order, and waits until their runs have begun.
  private func begin(_ names: String...) async throws -> [(call: Call, run: Run)] {
    var calls: [(call: Call, run: Run)] = []
    for name in names {
      let call = self.store.begin(name)
      calls.append((call, try await self.script.next()))
    }
    return calls
  }

  private func succeed(_ call: (call: Call, run: Run), _ value: String) async throws {
    call.run.succeed(value)
    _ = try await call.call.value
  }

  private func fail(_ call: (call: Call, run: Run), _ code: Int = 0) async {
    call.run.fail(Refused(code: code))
    _ = try? await call.call.value
  }

  private func cancel(_ call: (call: Call, run: Run)) async {
    call.call.cancel()
    _ = try? await call.call.value
  }

  @Test(arguments: [true, false])
  func `A slow call that ends after a later one changes only its own entry`(succeeds: Bool) async throws {
    let calls = try await self.begin("a", "b")
    try await self.succeed(calls[1], "b made")
    expect(self.store.status.resultValue, equals: "b made")
    #expect(self.store.isLoading)

    if succeeds { try await self.succeed(calls[0], "a made") } else { await self.fail(calls[0]) }

    expect(self.store.currentValue, equals: "b made")
    #expect(self.store.error == nil)
    expect(self.store.status.resultValue, equals: "b made")
    expect(self.store.valueUpdateCount, equals: 1)
    expect(self.store.errorUpdateCount, equals: 0)
    expect(self.store.errorLastUpdatedAt, equals: nil)
    expect(self.store.history.map(\.status.isSuccessful), equals: [succeeds, true])
    #expect(!self.store.isLoading)
  }

  @Test func `The failure of the last call stays, together with the earlier value`() async throws {
    let calls = try await self.begin("a", "b", "c")
    try await self.succeed(calls[0], "a made")
    await self.fail(calls[2], 3)
    try await self.succeed(calls[1], "b made")
    expect(self.store.currentValue, equals: "a made")
    expect(self.store.error as? Refused, equals: Refused(code: 3))
    expect(self.store.status.resultError as? Refused, equals: Refused(code: 3))
    expect(self.store.history.map(\.status.isSuccessful), equals: [true, true, false])
  }

  @Test func `While the last call has no result, that of the previous call is shown`() async throws {
    let calls = try await self.begin("a", "b", "c")
    await self.fail(calls[0], 1)
    expect(self.store.error as? Refused, equals: Refused(code: 1))
    try await self.succeed(calls[1], "b made")
    expect(self.store.currentValue, equals: "b made")
    #expect(self.store.error == nil)
    #expect(self.store.status.isLoading)

    calls[2].run.yield("c half")
    expect(self.store.currentValue, equals: "c half")
    #expect(self.store.status.isLoading)
    try await self.succeed(calls[2], "c made")
    expect(self.store.status.resultValue, equals: "c made")
    expect(self.store.valueUpdateCount, equals: 3)
  }

  @Test func `The yield of a later call hides the end of an earlier one until it is cancelled`() async throws {
    let calls = try await self.begin("a", "b")
    calls[1].run.yield("b half")
    try await self.succeed(calls[0], "a made")
    expect(self.store.currentValue, equals: "b half")
    #expect(self.store.status.isLoading)

    await self.cancel(calls[1])

    expect(self.store.currentValue, equals: "a made")
    expect(self.store.status.resultValue, equals: "a made")
    expect(self.store.valueUpdateCount, equals: 1)
  }

  @Test func `When the last call is cancelled, the previous call is the last`() async throws {
    let calls = try await self.begin("a", "b")
    await self.cancel(calls[1])
    #expect(self.store.status.isLoading)
    await self.fail(calls[0], 1)
    expect(self.store.status.resultError as? Refused, equals: Refused(code: 1))
  }

  @Test func `A value that is set is shown until a call yields, also after an earlier call has ended`() async throws {
    let calls = try await self.begin("a", "b", "c")
    try await self.succeed(calls[1], "b made")
    self.store.currentValue = "set"
    expect(self.store.currentValue, equals: "set")
    #expect(self.store.status.isLoading)

    try await self.succeed(calls[0], "a made")
    expect(self.store.currentValue, equals: "set")

    calls[2].run.yield("c half")
    self.store.setResult(to: .failure(Refused(code: 9)))
    expect(self.store.currentValue, equals: "c half")
    expect(self.store.error as? Refused, equals: Refused(code: 9))

    await self.cancel(calls[2])
    expect(self.store.currentValue, equals: "set")
    expect(self.store.status.resultError as? Refused, equals: Refused(code: 9))
    self.store.currentValue = "set again"
    expect(self.store.status.resultValue, equals: "set again")
  }

  @Test func `Calls are ordered by their starts, not by the creation of their tasks`() async throws {
    let tasks = ["a", "b"].map { self.store.mutateTask(with: $0) }
    var calls: [(call: Call, run: Run)] = []
    for task in tasks.reversed() {
      let call = Call.immediate { try await task.runIfNeeded() }
      calls.append((call, try await self.script.next()))
    }
    expect(self.store.history.map(\.arguments), equals: ["b", "a"])
    expect(self.store.activeTasks.map(\.id), equals: [tasks[1].id, tasks[0].id])
    try await self.succeed(calls[1], "a made")
    try await self.succeed(calls[0], "b made")
    expect(self.store.currentValue, equals: "a made")
  }

  @Test func `The last call is also shown below a default value`() async throws {
    let store = OperationStore.detached(mutation: Mutation(script: self.script).defaultValue("default"))
    let calls = ["a", "b"].map { name in Task.immediate { try await store.mutate(with: name) } }
    let runs = [try await self.script.next(), try await self.script.next()]
    runs[1].yield("half")
    expect(store.currentValue, equals: "half")
    calls[1].cancel()
    _ = try? await calls[1].value
    expect(store.currentValue, equals: "default")
    expect(store.valueUpdateCount, equals: 0)
    runs[0].succeed("a made")
    _ = try await calls[0].value
    expect(store.currentValue, equals: "a made")
  }
}
