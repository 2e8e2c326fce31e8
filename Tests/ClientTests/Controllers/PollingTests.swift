import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// `.rerun(every:)`: polling while there are subscribers.
@Suite(.bounded, .warningsAreIssues)
struct PollingTests {
  private let clock = ManualClock()
  private let script = IntScript()

  private func store(
    onlyWhen specification: some OperationRunSpecification & Sendable = .always(true)
  ) -> IntStore {
    IntStore.detached(
      query: self.script.query().rerun(every: .seconds(10), onlyWhen: specification).manualTime(self.clock)
    )
  }

  @Test
  func `Nothing is polled without subscribers`() {
    let store = self.store()
    expect(self.clock.sleeperCount(), equals: 0)
    store.subscribe(with: IntRecorder().handler).cancel()
    expect(self.clock.sleeperCount(), equals: 0)
    self.clock.advance(by: .seconds(100))
    expect(self.script.runCount, equals: 0)
  }

  @Test
  func `The operation is run again at each interval while there are subscribers`() async throws {
    let store = self.store()
    let recorder = IntRecorder()
    let first = store.subscribe(with: recorder.handler)
    let second = store.subscribe(with: IntRecorder().handler)
    expect(self.clock.remainingTimes(), equals: [.seconds(10)])
    self.clock.advance(by: .seconds(9))
    expect(self.script.runCount, equals: 0)
    self.clock.advance(by: .seconds(1))
    try await self.script.next().succeed(1)
    try await recorder.first { $0.digest == .returned(1) }
    self.clock.advance(by: .seconds(10))
    try await self.script.next().succeed(2)
    try await recorder.first { $0.digest == .returned(2) }
    first.cancel()
    expect(self.clock.sleeperCount(), equals: 1)
    second.cancel()
    expect(self.clock.sleeperCount(), equals: 0)
    self.clock.advance(by: .seconds(100))
    expect(self.script.runCount, equals: 2)
  }

  @Test
  func `A failure does not end the polling`() async throws {
    let store = self.store()
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    self.clock.advance(by: .seconds(10))
    try await self.script.next().fail(Refused())
    try await recorder.first { $0.digest == .ended }
    self.clock.advance(by: .seconds(10))
    try await self.script.next().succeed(1)
    try await recorder.first { $0.digest == .returned(1) }
  }

  @Test
  func `An interval that finds a run under way is skipped`() async throws {
    let store = self.store()
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    self.clock.advance(by: .seconds(10))
    let run = try await self.script.next()
    self.clock.advance(by: .seconds(30))
    expect(self.script.runCount, equals: 1)
    run.succeed(1)
    try await recorder.first { $0.digest == .ended }
    self.clock.advance(by: .seconds(10))
    _ = try await self.script.next()
    expect(self.script.runCount, equals: 2)
  }

  @Test
  func `An interval during which the condition is false is skipped`() async throws {
    let specification = SwitchSpecification(false)
    let store = self.store(onlyWhen: specification)
    let subscription = store.subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    self.clock.advance(by: .seconds(20))
    expect(self.script.runCount, equals: 0)
    specification.set(true)
    expect(self.script.runCount, equals: 0)
    self.clock.advance(by: .seconds(10))
    try await self.script.next().succeed(1)
  }

  @Test
  func `A poll that is under way ends when the last subscriber leaves`() async throws {
    let store = self.store()
    let subscription = store.subscribe(with: IntRecorder().handler)
    self.clock.advance(by: .seconds(10))
    let run = try await self.script.next()
    subscription.cancel()
    try await run.cancelled()
    #expect(store.status.isIdle)
    expect(self.clock.sleeperCount(), equals: 0)
  }

  @Test
  func `The next first subscriber begins the interval anew`() {
    let store = self.store()
    let subscription = store.subscribe(with: IntRecorder().handler)
    self.clock.advance(by: .seconds(9))
    subscription.cancel()
    let again = store.subscribe(with: IntRecorder().handler)
    expect(self.clock.remainingTimes(), equals: [.seconds(10)])
    again.cancel()
  }

  @Test
  func `Nothing is left of the polling when the store is released`() {
    var store: IntStore? = self.store()
    let subscription = store?.subscribe(with: IntRecorder().handler)
    expect(self.clock.sleeperCount(), equals: 1)
    store = nil
    expect(self.clock.sleeperCount(), equals: 0)
    subscription?.cancel()
  }

  @Test
  func `An interval of no length is reported and not polled`() {
    let query = self.script.query().rerun(every: .zero).manualTime(self.clock)
    let store = expectWarning(.invalidArgument) { IntStore.detached(query: query) }
    let subscription = store.subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    expect(self.clock.sleeperCount(), equals: 0)
  }

  @Test
  func `Subscribers that come and go on two threads never leave the polling off`() async {
    let store = self.store()
    await withDiscardingTaskGroup { group in
      for _ in 0..<2 {
        group.addTask { for _ in 0..<500 { store.subscribe(with: IntRecorder().handler).cancel() } }
      }
    }
    let subscription = store.subscribe(with: IntRecorder().handler)
    expect(self.clock.sleeperCount(), equals: 1)
    subscription.cancel()
    expect(self.clock.sleeperCount(), equals: 0)
  }

  @Test
  func `A subscriber that comes while another leaves is polled for`() async {
    for _ in 0..<500 {
      let store = self.store()
      let leaving = store.subscribe(with: IntRecorder().handler)
      let staying = Box<OperationSubscription?>(nil)
      await withDiscardingTaskGroup { group in
        group.addTask { leaving.cancel() }
        group.addTask { staying.value = store.subscribe(with: IntRecorder().handler) }
      }
      expect(self.clock.sleeperCount(), equals: 1)
      staying.value = nil
    }
  }
}
