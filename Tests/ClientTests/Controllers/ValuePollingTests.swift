import CoreFixtures
import OperationCore
import OperationEvents
import OperationTesting
import TestFixtures
import Testing

/// `.rerun(every: { state in … })`: the interval, and the end, come from what was read.
@Suite(.bounded, .warningsAreIssues)
struct ValuePollingTests {
  private let clock = ManualClock()
  private let script = IntScript()

  /// Polls in as many seconds as the value says, and not for a negative one. Without a value in 10 s, after an error in
  /// 60 s.
  private static func interval(_ state: IntState) -> Duration? {
    if state.error != nil { return .seconds(60) }
    guard let value = state.currentValue else { return .seconds(10) }
    return value < 0 ? nil : .seconds(value)
  }

  private func store(
    onlyWhen specification: some OperationRunSpecification & Sendable = .always(true)
  ) -> IntStore {
    let query = self.script.query().rerun(every: { Self.interval($0) }, onlyWhen: specification).manualTime(self.clock)
    return IntStore.detached(query: query)
  }

  @Test
  func `A job is polled until it is done, at intervals that it says`() async throws {
    let store = self.store()
    let subscription = store.subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    expect(self.clock.remainingTimes(), equals: [.seconds(10)])
    self.clock.advance(by: .seconds(10))
    // The time counts from the end of a run.
    let first = try await self.script.next()
    self.clock.advance(by: .seconds(3))
    first.succeed(5)
    await store.settled()
    expect(self.clock.remainingTimes(), equals: [.seconds(5)])
    self.clock.advance(by: .seconds(5))
    try await self.script.next().fail(Refused())
    await store.settled()
    expect(self.clock.remainingTimes(), equals: [.seconds(60)])
    self.clock.advance(by: .seconds(60))
    try await self.script.next().succeed(-1)
    await store.settled()
    expect(self.clock.sleeperCount(), equals: 0)
    self.clock.advance(by: .seconds(1000))
    expect(self.script.runCount, equals: 3)
  }

  @Test
  func `After the end, the next value begins it again`() async throws {
    let store = self.store()
    let subscription = store.subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    store.currentValue = -1
    expect(self.clock.sleeperCount(), equals: 0)
    store.currentValue = 7
    expect(self.clock.remainingTimes(), equals: [.seconds(7)])
    store.currentValue = -1
    expect(self.clock.sleeperCount(), equals: 0)
    self.script.enqueue(.value(8))
    try await store.fetch()
    expect(self.clock.remainingTimes(), equals: [.seconds(8)])
    store.resetState()
    expect(self.clock.remainingTimes(), equals: [.seconds(10)])
  }

  @Test
  func `A run of another caller begins the time anew, and a value with the same interval does not`() async throws {
    let store = self.store()
    let subscription = store.subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    store.currentValue = 7
    self.clock.advance(by: .seconds(5))
    store.currentValue = 7
    expect(self.clock.remainingTimes(), equals: [.seconds(2)])
    self.script.enqueue(.value(7))
    try await store.fetch()
    expect(self.clock.remainingTimes(), equals: [.seconds(7)])
  }

  @Test
  func `Nothing is polled without subscribers, while a run is under way, or while the condition is false`() async throws
  {
    let specification = SwitchSpecification(false)
    let store = self.store(onlyWhen: specification)
    expect(self.clock.sleeperCount(), equals: 0)
    let subscription = store.subscribe(with: IntRecorder().handler)
    self.clock.advance(by: .seconds(10))
    #expect(!store.isLoading && self.clock.remainingTimes() == [.seconds(10)])
    specification.set(true)
    self.clock.advance(by: .seconds(10))
    let run = try await self.script.next()
    self.clock.advance(by: .seconds(30))
    expect(self.script.runCount, equals: 1)
    run.succeed(5)
    await store.settled()
    expect(self.clock.remainingTimes(), equals: [.seconds(5)])
    subscription.cancel()
    expect(self.clock.sleeperCount(), equals: 0)
  }

  @Test
  func `A cancelled poll is followed by the next`() async throws {
    let client = OperationClient()
    let query = self.script.query(path: ["job"]).rerun(every: { Self.interval($0) }).manualTime(self.clock)
    let store = client.store(for: query)
    let subscription = store.subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    self.clock.advance(by: .seconds(10))
    _ = try await self.script.next()
    await client.cancel()
    #expect(self.clock.remainingTimes().contains(.seconds(10)))
    self.clock.advance(by: .seconds(10))
    try await self.script.next().succeed(5)
  }

  @Test
  func `The closure may read the context`() {
    let query = self.script.query()
      .rerun(every: { state, context in state.currentValue == nil ? .seconds(context[NumberKey.self]) : nil })
      .context { $0[NumberKey.self] = 4 }
      .manualTime(self.clock)
    let store = IntStore.detached(query: query)
    let subscription = store.subscribe(with: IntRecorder().handler)
    expect(self.clock.remainingTimes(), equals: [.seconds(4)])
    subscription.cancel()
  }

  @Test
  func `A jitter shortens each interval by another share`() async throws {
    let store = IntStore.detached(
      query: self.script.query().rerun(every: { _ in .seconds(10) }, jitter: 0.5, using: SeededGenerator(seed: 1))
        .manualTime(self.clock)
    )
    let subscription = store.subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    var times: Set<Duration> = []
    for _ in 0..<20 {
      let time = try #require(self.clock.remainingTimes().first)
      #expect(time >= .seconds(5) && time <= .seconds(10))
      times.insert(time)
      self.clock.advance(by: time)
      try await self.script.next().succeed(1)
      await store.settled()
    }
    #expect(times.count > 15)
    let fixed = IntStore.detached(
      query: IntScript().query().rerun(every: .seconds(10), jitter: 1, using: SeededGenerator(seed: 2))
        .manualTime(self.clock)
    )
    let count = self.clock.sleeperCount()
    let other = fixed.subscribe(with: IntRecorder().handler)
    expect(self.clock.sleeperCount(), equals: count + 1)
    #expect(self.clock.remainingTimes().allSatisfy { $0 > .zero && $0 <= .seconds(10) })
    other.cancel()
  }

  @Test
  func `Its cause and its next poll are explained`() async throws {
    let store = self.store()
    let subscription = store.subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    expect(store.explain().plans.map(\.description), equals: ["polls in 10 s"])
    self.clock.advance(by: .seconds(10))
    let run = try await self.script.next()
    expect(run.context.operationRunCause?.description, equals: "polling every 10 s")
    run.succeed(-1)
    await store.settled()
    #expect(store.explain().plans.isEmpty)
  }

  @Test
  func `An interval of no length is reported and counts as none`() {
    let store = IntStore.detached(query: self.script.query().rerun(every: { _ in .zero }).manualTime(self.clock))
    let subscription = expectWarning(.invalidArgument) { store.subscribe(with: IntRecorder().handler) }
    expect(self.clock.sleeperCount(), equals: 0)
    subscription.cancel()
    _ = expectWarning(.invalidArgument) { self.script.query().rerun(every: .seconds(1), jitter: 2) }
  }

  @Test
  func `Nothing is left of the polling when the store is released`() {
    let releases = Counter()
    var (store, subscription): (IntStore?, OperationSubscription?)
    do {
      let object = ReleaseCallback { releases.increment() }
      let query = self.script.query()
        .rerun(every: { _ in withExtendedLifetime(object) { .seconds(10) } })
        .manualTime(self.clock)
      store = IntStore.detached(query: query)
      subscription = store?.subscribe(with: IntRecorder().handler)
    }
    #expect(self.clock.sleeperCount() == 1 && releases.value == 0)
    store = nil
    expect(self.clock.sleeperCount(), equals: 0)
    // A subscription keeps what is left of the store.
    subscription?.cancel()
    subscription = nil
    expect(releases.value, equals: 1)
  }

  @Test
  func `Values that are set on two threads leave one timer, with the interval of the last`() async {
    let store = self.store()
    let subscription = store.subscribe(with: IntRecorder().handler)
    for _ in 0..<200 {
      await withDiscardingTaskGroup { group in
        for value in [-1, 3, 5] { group.addTask { store.currentValue = value } }
      }
      let interval = Self.interval(store.state)
      expect(self.clock.remainingTimes(), equals: (interval.map { [$0] } ?? []))
    }
    subscription.cancel()
  }
}
