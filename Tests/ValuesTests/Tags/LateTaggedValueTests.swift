import Dispatch
import OperationCore
import OperationDedupe
import OperationTags
import OperationTesting
import TestFixtures
import Testing

/// Values of runs that began before an invalidation by a tag, and arrive where another value has the tag already.
@Suite(.bounded, .warningsAreIssues) struct LateTaggedValueTests {
  private let client = OperationClient()
  private let script = OperationScript<Int, any Error>()

  private var query: some QueryRequest<Int, any Error> & Sendable {
    self.script.query(path: ["late"]).stale(after: .seconds(1_000_000), whenNoValue: false)
      .tagged { [.entity("number", $0 % 10)] }
  }

  private func store() -> OperationStore<QueryState<Int, any Error>> { self.client.store(for: self.query) }

  @Test func `A late value with the tag of the one that was set is stale`() async throws {
    let store = self.store()
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    // No value has the tag, so the invalidation finds no store.
    self.client.invalidate(tagged: .entity("number", 1))
    store.currentValue = 11
    #expect(!store.isStale)
    run.succeed(1)
    try await expect(fetch.value, equals: 1)
    #expect(store.isStale)
    store.currentValue = 21
    #expect(!store.isStale)
  }

  @Test func `Who asks after an invalidation gets no value from before it, although the run is joined`() async throws {
    let first = Task.immediate { try await self.client.ensureValue(for: self.query) }
    let run = try await self.script.next()
    self.client.invalidate(tagged: .entity("number", 1))
    // Nobody knows the tag of the value yet, so both wait for the run.
    let second = Task.immediate { try await self.client.ensureValue(for: self.query) }
    run.succeed(1)
    try await expect(first.value, equals: 1)
    try await self.script.next().succeed(11)
    try await expect(second.value, equals: 11)
    #expect(!self.store().isStale)
    expect(self.script.runCount, equals: 2)
  }

  @Test(arguments: [(true, false), (true, true), (false, true)])
  func `The handler of a caller that needs a second run hears of both, and is released after it`(
    _ isIntercepted: Bool,
    _ isDelayed: Bool
  ) async throws {
    // Otherwise the store would run for the subscriber, too, which leaves at any time.
    let query = self.query.deduplicated().disableAutomaticRunning().context { context in
      if isIntercepted { context.callInterceptors.append(Passing()) }
    }
    let store = self.client.store(for: query)
    let (released, log) = (Gate(), Log<String>())
    let first = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    self.client.invalidate(tagged: .entity("number", 1))
    let second = { () -> Task<Int, any Error> in
      let callback = ReleaseCallback { released.open() }
      let handler = QueryEventHandler<QueryState<Int, any Error>>(
        onFetchingStarted: { _ in log.append("start") },
        onFetchingEnded: { _ in log.append("end") },
        onResultReceived: { result, _ in
          callback.touch()
          log.append((try? result.get()).map { "\($0)" } ?? "error")
        }
      )
      return Task.immediate { try await store.fetch(handler: handler) }
    }()
    // Another thread delivers an event. The events of the first run wait until it has.
    let delivery = isDelayed ? try await SlowDelivery(in: store) : nil
    run.succeed(1)
    try await expect(first.value, equals: 1)
    let next = try await self.script.next()
    await delivery?.end()
    next.succeed(11)
    try await expect(second.value, equals: 11)
    try await released.wait()
    expect(log.all, equals: ["start", "1", "end", "start", "11", "end"])
  }

  @Test func `An invalidation that has found the store by its tag is not made twice`() async throws {
    let store = self.store()
    store.currentValue = 11
    let subscription = store.subscribe(with: QueryEventHandler())
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    self.client.invalidate(tagged: .entity("number", 1))
    run.succeed(1)
    try await expect(fetch.value, equals: 1)
    try await self.script.next().succeed(31)
    for await element in store.states where element.state.currentValue == 31 { break }
    await store.settled()
    #expect(!store.isStale)
    expect(self.script.runCount, equals: 2)
    subscription.cancel()
  }
}

/// Passes calls on.
private final class Passing: StoreCallInterceptor {
  nonisolated(nonsending) func call(_ call: StoreCall) async -> StoreCallAnswer { await call.proceed() }
}

/// The delivery of an event, on a thread of its own, which a handler holds up.
private final class SlowDelivery: Sendable {
  private let mayEnd = DispatchSemaphore(value: 0)
  private let (hasBegun, hasEnded) = (Gate(), Gate())

  /// Begins a delivery in `store`, and waits until its handler was called.
  init(in store: OperationStore<QueryState<Int, any Error>>) async throws {
    DispatchQueue(label: "delivery").async { [mayEnd, hasBegun, hasEnded] in
      // The current state is an event for the new subscriber.
      let subscription = store.subscribe(
        with: QueryEventHandler(onStateChanged: { [isFirst = Box(true)] _, _ in
          guard isFirst.replace(with: false) else { return }
          hasBegun.open()
          #expect(mayEnd.waitForSignal())
        }),
        isolation: nil
      )
      subscription.cancel()
      hasEnded.open()
    }
    try await self.hasBegun.wait()
  }

  /// Lets the delivery end, and waits until that thread has delivered all that was queued meanwhile.
  func end() async {
    self.mayEnd.signal()
    await self.hasEnded.waitIgnoringCancellation()
  }
}
