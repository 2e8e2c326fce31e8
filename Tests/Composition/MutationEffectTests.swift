import Operation
import OperationTesting
import TestFixtures
import Testing

/// The effects of a mutation on other stores, with modifiers that run it several times or once for several callers.
@Suite(.bounded, .warningsAreIssues)
struct MutationEffectTests {
  private typealias ListState = QueryState<[Int], any Error>

  private let script = OperationScript<Int, any Error>()
  private let client = OperationClient(storeCreator: .defaultTesting)
  private let list: OperationStore<QueryState<[Int], any Error>>

  init() {
    self.list = self.client.store(for: OperationScript<[Int], any Error>().query(path: ["list"]), initialValue: [1])
  }

  private var mutation: some MutationRequest<Int, Int, any Error> {
    ScriptedMutation(script: self.script)
      .optimistic(on: ["list"], of: ListState.self) { list, number in list?.append(number) }
  }

  @Test(arguments: [true, false])
  func `An update stays through the attempts of a retry around shared calls`(succeeds: Bool) async throws {
    let mutation = self.mutation.deduplicated().retry(limit: 1).backoff(.noBackoff).delayer(.noDelay)
    let store = self.client.store(for: mutation)
    let recorder = EventRecorder<ListState>()
    let subscription = self.list.subscribe(with: recorder.handler)
    let calls = (1...2).map { _ in Task.immediate { try await store.mutate(with: 2) } }
    try await self.script.next().fail(Refused())
    let last = try await self.script.next()
    expect(self.list.currentValue, equals: [1, 2])
    if succeeds { last.succeed(3) } else { last.fail(Refused()) }
    for call in calls { _ = try? await call.value }
    expect(self.list.currentValue, equals: (succeeds ? [1, 2] : [1]))
    expect(self.script.runCount, equals: 2)
    let values = recorder.stateValues.compactMap(\.self)
    let firstUpdate = try #require(values.firstIndex(of: [1, 2]))
    #expect(!values[firstUpdate...].dropLast().contains([1]))
    subscription.cancel()
  }

  /// The first caller of the shared run leaves. With a task name, the shared run has its own task, not that of the
  /// call.
  @Test(arguments: [nil, "named"])
  func `An update stays for the callers of a shared call when the first one leaves`(name: String?) async throws {
    let store = self.client.store(for: self.mutation.deduplicated().taskConfiguration { $0.name = name })
    let first = Task.immediate { try await store.mutate(with: 2) }
    let run = try await self.script.next()
    let second = Task.immediate { try await store.mutate(with: 2) }
    expect(self.list.currentValue, equals: [1, 2])

    first.cancel()
    _ = try? await first.value

    expect(self.list.currentValue, equals: [1, 2])
    run.succeed(3)
    try await expect(second.value, equals: 3)
    expect(self.list.currentValue, equals: [1, 2])
    self.list.currentValue = []
    expect(self.list.currentValue, equals: [])
  }
}
