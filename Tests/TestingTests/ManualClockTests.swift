import FoundationEssentials
import OperationBackoff
import OperationCore
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@Suite(.bounded, .issuesAreExpected) struct ManualClockTests {
  let clock = ManualClock()

  @Test func `Sleepers wake in the order of their deadlines and then of their arrival`() {
    let woken = Mutex<[String]>([])
    func sleep(_ name: String, _ seconds: Int) -> OperationSubscription {
      clock.schedule(after: .seconds(seconds)) { [clock] in
        let time = clock.elapsed
        woken.withLock { $0.append("\(name) at \(time)") }
      }
    }
    let subscriptions = [sleep("c", 3), sleep("a", 1), sleep("b", 2), sleep("a2", 1), sleep("d", 4)]
    clock.advance(by: .milliseconds(999))
    expect(woken.withLock { $0 }, equals: [])
    clock.advance(by: .milliseconds(2_001))
    expect(
      woken.withLock { $0 },
      equals: ["a at 1.0 seconds", "a2 at 1.0 seconds", "b at 2.0 seconds", "c at 3.0 seconds"]
    )
    expect(clock.elapsed, equals: .seconds(3))
    expect(clock.sleeperCount(), equals: 1)
    subscriptions[4].cancel()
    expect(clock.sleeperCount(), equals: 0)
    clock.advance(by: .seconds(10))
    expect(woken.withLock { $0.count }, equals: 4)
  }

  @Test func `A sleeper that schedules again wakes again within the same advance`() {
    let subscriptions = Mutex<[OperationSubscription]>([])
    let times = Mutex<[Duration]>([])
    @Sendable func sleep() {
      let subscription = clock.schedule(after: .seconds(2)) {
        times.withLock { $0.append(clock.elapsed) }
        sleep()
      }
      subscriptions.withLock { $0.append(subscription) }
    }
    sleep()
    clock.advance(by: .seconds(7))
    expect(times.withLock { $0 }, equals: [.seconds(2), .seconds(4), .seconds(6)])
    expect(clock.elapsed, equals: .seconds(7))
    expect(clock.remainingTimes(), equals: [.seconds(1)])
    subscriptions.withLock { $0.removeAll() }
    expect(clock.sleeperCount(), equals: 0)
  }

  @Test func `A zero or negative duration calls back at once`() async throws {
    let count = Atomic(0)
    for duration in [Duration.zero, .seconds(-1), .seconds(Int64.min)] {
      _ = clock.schedule(after: duration) { count.add(1, ordering: .relaxed) }
      try await clock.delay(for: duration)
      try await clock.sleep(for: duration)
    }
    expect(count.load(ordering: .relaxed), equals: 3)
    expect(clock.sleeperCount(), equals: 0)
  }

  @Test func `The longest durations do not overflow`() {
    clock.advance(by: .seconds(1))
    let subscription = clock.schedule(after: .seconds(Int64.max)) {}
    expect(clock.sleeperCount(), equals: 1)
    clock.advance(by: .seconds(Int64.max))
    expect(clock.sleeperCount(), equals: 0)
    clock.advance(by: .seconds(-1))
    clock.advance(by: .seconds(1))
    expect(clock.elapsed, equals: .seconds(Int64.max))
    subscription.cancel()
  }

  @Test func `Delays and deadlines are counted apart`() async throws {
    let delay = Task { try await clock.delay(for: .seconds(2)) }
    try await clock.sleepers(count: 1, .delay)
    let sleep = Task { try await clock.sleep(for: .seconds(1)) }
    try await clock.sleepers(count: 1, .deadline)
    expect(clock.sleeperCount(), equals: 2)
    expect(clock.remainingTimes(), equals: [.seconds(1), .seconds(2)])
    expect(clock.remainingTimes(.delay), equals: [.seconds(2)])
    expect(clock.advanceToNextSleeper(), equals: .seconds(1))
    try await sleep.value
    expect(clock.advanceToNextSleeper(), equals: .seconds(1))
    try await delay.value
    expect(clock.advanceToNextSleeper(), equals: nil)
    try await clock.delay(for: .zero)
    expect(clock.delays, equals: [.seconds(2), .zero])
  }

  @Test func `A cancelled sleeper leaves at once`() async throws {
    let sleeps = (0..<100).map { _ in Task { try await clock.delay(for: .seconds(1)) } }
    try await clock.sleepers(count: 100)
    for sleep in sleeps { sleep.cancel() }
    for sleep in sleeps { await #expect(throws: CancellationError.self) { try await sleep.value } }
    try await clock.noSleepers()
    expect(clock.elapsed, equals: .zero)
  }

  @Test func `A wait for sleepers sees one that is cancelled right away`() async throws {
    // The sleeper is there for a moment only, while no other task runs.
    let waiting = Task.immediate { try await clock.sleepers(count: 1) }
    clock.schedule(after: .seconds(1)) {}.cancel()
    expect(clock.sleeperCount(), equals: 0)
    try await waiting.value
  }

  @Test func `A wait for sleepers that times out has a message`() async throws {
    var issues = await recordedIssues {
      await #expect(throws: WaitTimedOut.self) { try await clock.sleepers(count: 2, .delay, within: .zero) }
    }
    expect(issues, equals: ["Waited 0.0 seconds for at least 2 delays of a manual clock; there are 0."])
    let subscription = clock.schedule(after: .seconds(1)) {}
    issues = await recordedIssues {
      await #expect(throws: WaitTimedOut.self) { try await clock.noSleepers(within: .milliseconds(1)) }
    }
    expect(issues, equals: ["Waited 0.001 seconds for all sleepers of a manual clock to end; there are 1."])
    subscription.cancel()
  }

  @Test func `A manual clock shows dates`() {
    let start = Date(timeIntervalSinceReferenceDate: 0)
    expect(clock.now(), equals: start)
    clock.advance(by: .milliseconds(1_500))
    expect(clock.now(), equals: start.addingTimeInterval(1.5))
    let subscription = clock.schedule(after: .seconds(1)) {}
    clock.setDate(start)
    expect(clock.now(), equals: start)
    expect(clock.elapsed, equals: .milliseconds(1_500))
    expect(clock.remainingTimes(), equals: [.seconds(1)])
    clock.advance(by: .seconds(1))
    expect(clock.now(), equals: start.addingTimeInterval(1))
    subscription.cancel()
  }

  @Test func `A manual clock is installed in contexts and operations`() async throws {
    var context = OperationContext()
    context.use(clock)
    expect(context.operationClock.now(), equals: clock.now())
    #expect(context.operationDelayer is ManualClock)
    #expect(context.operationDeadlines is ManualClock)

    let script = OperationScript<Int, any Error>(default: .value(1))
    let store = OperationStore.detached(
      query: script.query().stale(after: .seconds(60)).rerun(every: .seconds(10)).manualTime(clock)
    )
    try await store.fetch()
    expect(store.valueLastUpdatedAt, equals: clock.now())
    clock.advance(by: .seconds(59))
    #expect(!store.isStale)
    clock.advance(by: .seconds(1))
    #expect(store.isStale)

    let recorder = EventRecorder<QueryState<Int, any Error>>()
    let subscription = store.subscribe(with: recorder.handler)
    expect(clock.sleeperCount(.deadline), equals: 1)
    clock.advance(by: .seconds(10))
    try await script.runs(count: 2)
    subscription.cancel()
    // The run may finish on another thread, which then notifies the poller that the last subscriber has left.
    try await clock.noSleepers()
  }
}
