import OperationCore
import OperationMutation
import OperationTesting
import TestFixtures
import Testing

/// Updates and the refetches that replace them.
@Suite(.bounded, .warningsAreIssues)
struct RefetchTests {
  private let feeds = Feeds()
  private let script = Script()
  private let recorder = EventRecorder<FeedState>()

  private enum Order: CaseIterable {
    case invalidationOutside
    case invalidationInside
    case retryBetween
  }

  private func store(_ order: Order = .invalidationOutside) -> MutationStore {
    let mutation = Mutation(script: self.script)
    return switch order {
    case .invalidationOutside: self.feeds.client.store(for: mutation.appending().invalidates(matching: ["feed"]))
    case .invalidationInside:
      self.feeds.client.store(for: mutation.invalidates { _ in ["feed"] }.appending())
    case .retryBetween:
      self.feeds.client.store(for: mutation.appending().tryingAgain().invalidates(matching: ["feed"]))
    }
  }

  private func succeed(_ call: Task<String, any Error>) async throws {
    try await self.script.next().succeed("made")
    _ = try await call.value
  }

  @Test(arguments: Order.allCases)
  private func `A refetched value replaces the update in one step`(order: Order) async throws {
    let feed = self.feeds.store()
    let subscription = feed.subscribe(with: self.recorder.handler)
    let call = self.store(order).begin("new")

    try await self.succeed(call)  // The call does not wait for the refetch.

    let refetch = try await self.feeds.script.next()
    #expect(feed.isLoading)
    expect(feed.currentValue, equals: ["old", "new"])
    refetch.succeed(["old", "new from the server"])
    try await self.feeds.script.noActiveRuns()
    await feed.settled()
    expect(feed.currentValue, equals: ["old", "new from the server"])
    let values = self.recorder.stateValues
    expect(values.first, equals: ["old"])
    expect(values.last, equals: ["old", "new from the server"])
    #expect(values.dropFirst().dropLast().allSatisfy { $0 == ["old", "new"] })
    #expect(!feed.context.description.isEmpty)
    // The update is not applied to a new value.
    feed.currentValue = []
    expect(feed.currentValue, equals: [])
    subscription.cancel()
  }

  @Test func `A refetch that ends at once replaces the update as well`() async throws {
    let feed = self.feeds.store()
    let subscription = feed.subscribe(with: self.recorder.handler)
    let call = self.store().begin("new")
    self.feeds.script.enqueue(.value(["fresh"]))
    try await self.succeed(call)
    expect(feed.currentValue, equals: ["fresh"])
    expect(self.recorder.stateValues, equals: [["old"], ["old", "new"], ["old", "new"], ["fresh"]])
    subscription.cancel()
  }

  @Test func `A fetch that started before the success of the call does not replace the update`() async throws {
    let feed = self.feeds.store()
    let subscription = feed.subscribe(with: self.recorder.handler)
    let earlier = Task.immediate { try await feed.fetch() }
    let earlierRun = try await self.feeds.script.next()
    let call = self.store().begin("new")
    try await self.succeed(call)

    earlierRun.succeed(["older"])
    _ = try await earlier.value
    expect(feed.currentValue, equals: ["older", "new"])

    let refetch = try await self.feeds.script.next()
    expect(feed.currentValue, equals: ["older", "new"])
    refetch.succeed(["fresh"])
    try await self.recorder.firstState { $0.currentValue == ["fresh"] && !$0.isLoading }
    #expect(self.recorder.stateValues.allSatisfy { $0 != ["older"] })
    subscription.cancel()
  }

  @Test func `When the refetch fails, the update becomes part of the value`() async throws {
    let feed = self.feeds.store()
    let subscription = feed.subscribe(with: self.recorder.handler)
    let call = self.store().begin("new")
    try await self.succeed(call)
    try await self.feeds.script.next().fail(Refused())
    try await self.recorder.firstState { $0.error is Refused }
    await feed.settled()
    expect(feed.currentValue, equals: ["old", "new"])
    #expect(self.recorder.stateValues.dropFirst().allSatisfy { $0 == ["old", "new"] })
    feed.currentValue = []
    expect(feed.currentValue, equals: [])
    subscription.cancel()
  }

  @Test func `When the refetch is cancelled, the update becomes part of the value`() async throws {
    let feed = self.feeds.store()
    let subscription = feed.subscribe(with: self.recorder.handler)
    let call = self.store().begin("new")
    try await self.succeed(call)
    let refetch = try await self.feeds.script.next()
    subscription.cancel()
    try await refetch.cancelled()
    await feed.settled()
    expect(feed.currentValue, equals: ["old", "new"])
    feed.currentValue = []
    expect(feed.currentValue, equals: [])
    #expect(feed.isStale)
  }

  @Test func `Without subscribers the update becomes part of the value at once, and the value is stale`() async throws {
    let feed = self.feeds.client.store(
      for: self.feeds.script.query(path: ["feed", 1]).stale(after: .seconds(1000)),
      initialValue: ["old"]
    )
    feed.currentValue = ["old"]
    #expect(!feed.isStale)
    let call = self.store().begin("new")
    try await self.succeed(call)
    expect(feed.currentValue, equals: ["old", "new"])
    #expect(feed.isStale)
    expect(self.feeds.script.runCount, equals: 0)
    feed.currentValue = []
    expect(feed.currentValue, equals: [])
  }

  @Test func `A set value or a reset before the end of the refetch replaces the update`() async throws {
    let feed = self.feeds.store()
    let subscription = feed.subscribe(with: self.recorder.handler)
    var call = self.store().begin("new")
    try await self.succeed(call)
    var refetch = try await self.feeds.script.next()
    feed.currentValue = ["set"]
    refetch.fail(Refused())
    try await self.recorder.firstState { $0.error is Refused }
    await feed.settled()
    expect(feed.currentValue, equals: ["set"])

    call = self.store().begin("new")
    try await self.succeed(call)
    refetch = try await self.feeds.script.next()
    feed.resetState()
    try await refetch.cancelled()
    await feed.settled()
    expect(feed.currentValue, equals: ["old"])
    subscription.cancel()
  }

  @Test func `Each of two calls has its own refetch`() async throws {
    let feed = self.feeds.store()
    let subscription = feed.subscribe(with: self.recorder.handler)
    let store = self.store()
    let calls = [store.begin("a"), store.begin("b")]
    let runs = [try await self.script.next(), try await self.script.next()]
    runs[0].succeed("made")
    _ = try await calls[0].value
    let refetch = try await self.feeds.script.next()
    refetch.succeed(["a from the server"])
    try await self.recorder.firstState { $0.currentValue == ["a from the server", "b"] }
    runs[1].fail(Refused())
    _ = try? await calls[1].value
    await feed.settled()
    expect(feed.currentValue, equals: ["a from the server"])
    expect(self.feeds.script.runCount, equals: 1)
    subscription.cancel()
  }

  @Test func `A success invalidates, even that of a cancelled call, and a failure does not`() async throws {
    let script = Script(endsOnCancellation: false)
    let feed = self.feeds.client.store(for: FeedScript().query(path: ["feed", 1]).stale(after: .seconds(1000)))
    let store = self.feeds.client.store(for: Mutation(script: script).invalidates(matching: ["feed"]))
    feed.currentValue = ["old"]

    script.enqueue(.error(Refused()))
    _ = try? await store.mutate(with: "a")
    #expect(!feed.isStale)

    let call = store.begin("b")
    let run = try await script.next()
    call.cancel()
    run.succeed("made")
    _ = try? await call.value
    #expect(feed.isStale)
  }

  @Test func `Paths that cover each other make a store run once`() async throws {
    let feed = self.feeds.store()
    let subscription = feed.subscribe(with: self.recorder.handler)
    let mutation = Mutation(script: self.script)
      .invalidates(matching: ["feed", 1])
      .invalidates(matching: ["feed"])
      .invalidates { _ in ["feed", 1] }
    self.feeds.script.enqueue(.value(["fresh"]))
    self.script.enqueue(.value("made"))
    try await self.feeds.client.store(for: mutation).mutate(with: "a")
    await feed.settled()
    expect(self.feeds.script.runCount, equals: 1)
    expect(feed.currentValue, equals: ["fresh"])
    subscription.cancel()
  }
}
