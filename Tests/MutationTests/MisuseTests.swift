import OperationCore
import OperationMutation
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct MisuseTests {
  @Test func `A run without arguments is reported and throws`() async throws {
    let script = Script()
    let store = MutationStore.detached(mutation: Mutation(script: script).tryingAgain(times: 0))

    let error = await #expect(throws: MutationError.self) {
      try await expectWarning(.missingArguments) { try await store.run() }
    }

    expect(error?.code, equals: .missingArguments)
    expect(script.runCount, equals: 0)
    #expect(store.history.isEmpty)
    #expect(store.error is MutationError)
    #expect(!store.isLoading)
  }

  @Test func `Effects without arguments or without a client are reported, and the call is made`() async throws {
    let script = Script(default: .value("made"))
    let mutation = Mutation(script: script).appending().invalidates(matching: ["feed"])
    let store = MutationStore.detached(mutation: mutation)

    let recorder = WarningRecorder()
    let value = try await recorder.recording { try await store.mutate(with: "a") }

    expect(value, equals: "made")
    expect(recorder.warnings.map(\.code), equals: [.noClient, .noClient])
    await #expect(throws: MutationError.self) { try await expectWarning(.missingArguments) { try await store.run() } }
  }

  @Test func `A retry before the first call throws an error`() async throws {
    let script = Script()
    let store = MutationStore.detached(mutation: Mutation(script: script))

    let error = await #expect(throws: MutationError.self) { try await store.retryLatest() }
    expect(error?.code, equals: .noHistory)
    let task = store.retryLatestTask()
    await #expect(throws: MutationError.self) { try await task.runIfNeeded() }

    expect(script.runCount, equals: 0)
    #expect(store.status.isIdle)
  }

  @Test func `A retry with a typed failure and no history is reported and returns nil`() async throws {
    let mutation = ClosureMutation<Int, Int, Refused> { arguments, _ throws(Refused) in arguments + 1 }
    let store = OperationStore.detached(mutation: mutation)

    try await expect(
      expectWarning(.noHistory) { () async throws(Refused) in try await store.retryLatest() },
      equals: nil
    )
    expect(expectWarning(.noHistory) { store.retryLatestTask() }, equals: nil)

    try await store.mutate(with: 1)
    try await expect(store.retryLatest(), equals: 2)
    try await expect(store.retryLatestTask()?.runIfNeeded(), equals: 2)
  }

  @Test func `A path that begins like none of the client's stores is hinted at once`() async throws {
    let client = OperationClient()
    let query = FeedScript(default: .value([])).query(path: [7])
    let queries = [client.store(for: query)]
    let mutation = Mutation(script: Script(default: .value("made"))).appending(to: ["feed"]).invalidates(matching: [
      "post", 7,
    ])
    let store = client.store(for: mutation)
    let recorder = WarningRecorder()

    for name in ["a", "b"] { _ = try await recorder.recording { try await store.mutate(with: name) } }

    expect(queries.count, equals: 1)
    expect(recorder.warnings.map(\.code), equals: [.pathMatchesNoStore, .pathMatchesNoStore])
    expect(recorder.warnings.map(\.severity), equals: [.hint, .hint])
    #expect(recorder.warnings.map(\.message).allSatisfy { $0.contains("a store at [7]") })
    // A hint is no issue of this test.
    try await store.mutate(with: "c")
    let empty = OperationClient()
    _ = try await recorder.recording { try await empty.store(for: mutation).mutate(with: "without stores of queries") }
    expect(recorder.warnings.count, equals: 2)
    expect(empty.stores().count, equals: 1)
  }

  @Test func `A path with another store's first element is not hinted at`() async throws {
    let feeds = Feeds()
    let feed = feeds.store()
    let mutation = Mutation(script: Script(default: .value("made"))).invalidates(matching: ["feed", 2])
    let recorder = WarningRecorder()

    _ = try await recorder.recording { try await feeds.client.store(for: mutation).mutate(with: "a") }

    #expect(recorder.warnings.isEmpty)
    expect(feed.path, equals: ["feed", 1])
  }

  @Test func `A history length below one is reported and is one`() async throws {
    let script = Script(default: .value("made"))
    let mutation = expectWarning(.invalidArgument) { Mutation(script: script).maxHistory(length: 0) }
    let store = MutationStore.detached(mutation: mutation)

    for name in ["a", "b"] { try await store.mutate(with: name) }

    expect(store.history.map(\.arguments), equals: ["b"])
  }

  @Test func `An update for a state that no matching store has is reported, with both states`() async throws {
    let feeds = Feeds()
    let feed = feeds.store()
    let script = Script(default: .value("made"))
    let mutation = Mutation(script: script)
      .optimistic(on: ["feed"], of: DefaultOperationState<FeedState>.self) { feed, name in feed.append(name) }
    let store = feeds.client.store(for: mutation)
    let recorder = WarningRecorder()

    _ = try await recorder.recording { try await store.mutate(with: "new") }

    expect(recorder.warnings.map(\.code), equals: [.stateMismatch])
    let message = try #require(recorder.warnings.first?.message)
    #expect(message.contains("\(FeedState.self)"))
    #expect(message.contains("\(DefaultOperationState<FeedState>.self)"))
    expect(feed.currentValue, equals: ["old"])

    // No warning if one of several stores has the state, or if no store matches.
    let query = feeds.script.query(path: ["feed", 2]).disableAutomaticRunning().defaultValue([])
    let matching = feeds.client.store(for: query)
    try await store.mutate(with: "new")
    expect(matching.currentValue, equals: ["new"])
    feeds.client.clearStores(matching: ["feed"])
    try await store.mutate(with: "new")
  }
}
