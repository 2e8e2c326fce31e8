import OperationCore
import OperationMutation
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct OptimisticTests {
  private let feeds = Feeds()
  private let script = Script()

  private func mutation() -> some MutationRequest<String, String, any Error> {
    Mutation(script: self.script).appending()
  }

  @Test func `An update is shown at once in all matching stores, and stays when the call succeeds`() async throws {
    let (first, second) = (self.feeds.store(1), self.feeds.store(2))
    let other = self.feeds.client.store(for: FeedScript().query(path: ["other"]), initialValue: ["old"])
    let number = self.feeds.client.store(
      for: OperationScript<Int, any Error>().query(path: ["feed", "count"]),
      initialValue: 1
    )
    let store = self.feeds.client.store(for: self.mutation())
    let call = store.begin("new")
    expect(first.currentValue, equals: ["old", "new"])
    expect(second.currentValue, equals: ["old", "new"])
    expect(other.currentValue, equals: ["old"])
    expect(number.currentValue, equals: 1)
    expect(first.valueUpdateCount, equals: 0)

    try await self.script.next().succeed("made")
    _ = try await call.value

    expect(first.currentValue, equals: ["old", "new"])
    expect(second.currentValue, equals: ["old", "new"])
    // The update is part of the value now, so it is not applied to a value that is set.
    first.currentValue = []
    expect(first.currentValue, equals: [])
  }

  @Test func `The path can depend on the arguments`() async throws {
    let (first, second) = (self.feeds.store(1), self.feeds.store(2))
    let path: @Sendable (Int) -> OperationPath = { ["feed", $0] }
    let mutation = ClosureMutation<Int, Void, any Error> { _, _ in throw Refused() }
      .optimistic(on: path, of: FeedState.self) { feed, _ in feed = ["new"] }
    let recorders = [first, second].map { store in
      let recorder = EventRecorder<FeedState>()
      return (recorder, store.subscribe(with: recorder.handler))
    }

    await #expect(throws: Refused.self) { try await self.feeds.client.store(for: mutation).mutate(with: 2) }

    expect(recorders[0].0.stateValues, equals: [["old"]])
    expect(recorders[1].0.stateValues, equals: [["old"], ["new"], ["old"]])
  }

  @Test(arguments: [true, false])
  func `When one of two calls fails, its update is removed and the other stays`(isFirst: Bool) async throws {
    let feed = self.feeds.store()
    let store = self.feeds.client.store(for: self.mutation())
    let calls = [store.begin("a"), store.begin("b")]
    let runs = [try await self.script.next(), try await self.script.next()]
    expect(feed.currentValue, equals: ["old", "a", "b"])
    let (failing, succeeding) = isFirst ? (0, 1) : (1, 0)

    runs[failing].fail(Refused())
    await #expect(throws: Refused.self) { try await calls[failing].value }
    expect(feed.currentValue, equals: ["old", isFirst ? "b" : "a"])

    runs[succeeding].succeed("made")
    _ = try await calls[succeeding].value
    expect(feed.currentValue, equals: ["old", isFirst ? "b" : "a"])
  }

  @Test func `A new value is shown with the updates applied to it, in order`() async throws {
    let feed = self.feeds.store()
    let store = self.feeds.client.store(for: self.mutation())
    let calls = [store.begin("a"), store.begin("b")]
    let runs = [try await self.script.next(), try await self.script.next()]

    self.feeds.script.enqueue(.value(["fresh"]))
    try await feed.fetch()
    expect(feed.currentValue, equals: ["fresh", "a", "b"])
    expect(feed.status.resultValue, equals: ["fresh", "a", "b"])

    self.feeds.script.enqueue(.error(Refused(code: 7)))
    _ = try? await feed.fetch()
    expect(feed.error as? Refused, equals: Refused(code: 7))
    expect(feed.currentValue, equals: ["fresh", "a", "b"])

    runs[0].fail(Refused())
    _ = try? await calls[0].value
    expect(feed.currentValue, equals: ["fresh", "b"])
    feed.currentValue = ["set"]
    expect(feed.currentValue, equals: ["set", "b"])
    runs[1].fail(Refused())
    _ = try? await calls[1].value
    expect(feed.currentValue, equals: ["set"])
  }

  @Test func `A store that is created during the call shows the update too`() async throws {
    let store = self.feeds.client.store(for: self.mutation())
    let call = store.begin("new")
    let run = try await self.script.next()
    let late = self.feeds.store(3)
    expect(late.currentValue, equals: ["old", "new"])
    let empty = self.feeds.store(4, initialValue: nil)
    expect(empty.currentValue, equals: nil)
    self.feeds.script.enqueue(.value(["fresh"]))
    try await empty.fetch()
    expect(empty.currentValue, equals: ["fresh", "new"])

    run.fail(Refused())
    _ = try? await call.value

    expect(late.currentValue, equals: ["old"])
    expect(empty.currentValue, equals: ["fresh"])
    expect(self.feeds.store(5).currentValue, equals: ["old"])
  }

  @Test func `The update of a cancelled call is removed`() async throws {
    let feed = self.feeds.store()
    let store = self.feeds.client.store(for: self.mutation())
    let other = store.begin("b")
    let call = store.begin("a")
    let run = try await self.script.next()
    _ = try await self.script.next()
    expect(feed.currentValue, equals: ["old", "b", "a"])

    call.cancel()

    await #expect(throws: CancellationError.self) { try await call.value }
    expect(feed.currentValue, equals: ["old", "b"])
    run.succeed("made")
    _ = try await other.value
    expect(feed.currentValue, equals: ["old", "b"])
  }

  @Test func `The update of a cancelled call is removed although its body succeeds`() async throws {
    let script = Script(endsOnCancellation: false)
    let feed = self.feeds.store()
    let store = self.feeds.client.store(for: Mutation(script: script).appending())
    let call = store.begin("a")
    let run = try await script.next()
    call.cancel()
    try await run.cancelled()
    run.succeed("made")
    _ = try await call.value
    expect(feed.currentValue, equals: ["old"])
    #expect(store.history.isEmpty)
  }

  @Test func `The update of a call that is cancelled before its start is never shown`() async throws {
    let feed = self.feeds.store()
    let recorder = EventRecorder<FeedState>()
    let subscription = feed.subscribe(with: recorder.handler)
    let task = self.feeds.client.store(for: self.mutation()).mutateTask(with: "a")
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.runIfNeeded() }
    expect(recorder.stateValues, equals: [["old"]])
    subscription.cancel()
  }

  @Test(arguments: [true, false])
  func `With a retry inside, an update is shown once, through all attempts`(succeeds: Bool) async throws {
    let feed = self.feeds.store()
    let recorder = EventRecorder<FeedState>()
    let subscription = feed.subscribe(with: recorder.handler)
    self.script.enqueue(.error(Refused(code: 1)), succeeds ? .value("made") : .error(Refused(code: 2)))
    let mutation = Mutation(script: self.script).tryingAgain().appending()
    _ = try? await self.feeds.client.store(for: mutation).mutate(with: "new")
    expect(self.script.runCount, equals: 2)
    let end = succeeds ? ["old", "new"] : ["old"]
    expect(recorder.stateValues, equals: [["old"], ["old", "new"], end])
    subscription.cancel()
  }

  @Test func `With a retry between two modifiers of the mutation, an update is shown once as well`() async throws {
    let feed = self.feeds.store()
    let recorder = EventRecorder<FeedState>()
    let subscription = feed.subscribe(with: recorder.handler)
    self.script.enqueue(.error(Refused(code: 1)), .value("made"))
    let mutation = Mutation(script: self.script).appending().tryingAgain().invalidates(matching: ["elsewhere"])
    try await self.feeds.client.store(for: mutation).mutate(with: "new")
    expect(recorder.stateValues, equals: [["old"], ["old", "new"], ["old", "new"]])
    subscription.cancel()
  }

  @Test func `Two updates of one mutation are shown together, and stay when the call succeeds`() async throws {
    let feed = self.feeds.store()
    let mutation = Mutation(script: self.script).appending()
      .optimistic(on: ["feed"], of: FeedState.self) { feed, _ in feed?.append("outer") }
    let store = self.feeds.client.store(for: mutation)
    let call = store.begin("inner")
    expect(feed.currentValue, equals: ["old", "outer", "inner"])
    try await self.script.next().succeed("made")
    _ = try await call.value
    expect(feed.currentValue, equals: ["old", "outer", "inner"])
  }

  @Test func `A mutation that is called inside another with its context has updates of its own`() async throws {
    let feed = self.feeds.store()
    let inner = self.feeds.client.store(for: self.mutation())
    let outer = ClosureMutation<String, String, any Error> { _, context in
      _ = try? await inner.mutate(with: "inner", using: context)
      return "made"
    }.appending()
    let store = self.feeds.client.store(for: outer)
    let call = store.begin("outer")
    let run = try await self.script.next()
    expect(feed.currentValue, equals: ["old", "outer", "inner"])
    run.fail(Refused())
    _ = try await call.value
    expect(feed.currentValue, equals: ["old", "outer"])
  }

  @Test func `A state below a default value can have updates`() async throws {
    let query = self.feeds.script.query(path: ["feed", 9]).disableAutomaticRunning().defaultValue([])
    let feed = self.feeds.client.store(for: query)
    let mutation = Mutation(script: self.script)
      .optimistic(on: ["feed"], of: DefaultOperationState<FeedState>.self) { feed, arguments in feed.append(arguments) }
    let call = self.feeds.client.store(for: mutation).begin("new")
    expect(feed.currentValue, equals: ["new"])
    try await self.script.next().fail(Refused())
    _ = try? await call.value
    expect(feed.currentValue, equals: [])
  }

  @Test(arguments: [true, false])
  func `An update of a state is shown in stores that add a default value to it`(succeeds: Bool) async throws {
    let query = self.feeds.script.query(path: ["feed", 9]).disableAutomaticRunning().defaultValue(["default"])
    let feed = self.feeds.client.store(for: query)
    let plain = self.feeds.store()
    feed.currentValue = ["set"]
    let call = self.feeds.client.store(for: self.mutation()).begin("new")
    expect(feed.currentValue, equals: ["set", "new"])
    expect(plain.currentValue, equals: ["old", "new"])
    // Also in a store that is created later.
    let late = self.feeds.client.store(
      for: self.feeds.script.query(path: ["feed", 10]).disableAutomaticRunning().defaultValue([])
    )
    late.currentValue = ["late"]
    expect(late.currentValue, equals: ["late", "new"])

    let run = try await self.script.next()
    if succeeds { run.succeed("made") } else { run.fail(Refused()) }
    _ = try? await call.value

    expect(feed.currentValue, equals: (succeeds ? ["set", "new"] : ["set"]))
    expect(late.currentValue, equals: (succeeds ? ["late", "new"] : ["late"]))
    feed.currentValue = []
    expect(feed.currentValue, equals: [])
  }

  @Test func `An update may read the store that shows it`() async throws {
    let feed = self.feeds.store()
    let mutation = Mutation(script: self.script).optimistic(on: ["feed"], of: FeedState.self) { value, arguments in
      value?.append("\(arguments) after \(feed.valueUpdateCount)")
    }
    let call = self.feeds.client.store(for: mutation).begin("new")
    expect(feed.currentValue, equals: ["old", "new after 0"])
    feed.currentValue = ["set"]
    try await self.script.next().succeed("made")
    _ = try await call.value
    expect(feed.currentValue?.first, equals: "set")
  }
}
