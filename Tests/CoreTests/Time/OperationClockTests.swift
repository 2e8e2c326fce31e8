import FoundationEssentials
import OperationTesting
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

@Suite(.bounded) struct OperationClockTests {
  private let date = Date(timeIntervalSinceReferenceDate: 1_000)

  @Test func `The system's clock shows the date`() {
    let before = Date()
    let now = SystemTimeClock().now()
    #expect(before <= now)
    #expect(now <= Date())
    #expect(OperationContext().operationClock is SystemTimeClock)
  }

  @Test func `A custom clock calls its function`() {
    let clock = ManualClock(date: date)
    let custom: CustomOperationClock = .custom { clock.now() }
    expect(custom.now(), equals: date)
    clock.advance(by: .seconds(1))
    expect(custom.now(), equals: date.addingTimeInterval(1))
  }

  @Test func `A frozen clock stands still`() {
    let clock = ManualClock(date: date)
    let frozen = clock.frozen()
    clock.advance(by: .seconds(1))
    expect(frozen.now(), equals: date)
    expect(frozen.frozen().now(), equals: date)
    expect(TimeFreezeClock.timeFreeze(date).now(), equals: date)
    let now: TimeFreezeClock = .timeFreeze()
    expect(now.now(), equals: now.now())
  }

  @Test func `A context stops its clock`() {
    let clock = ManualClock(date: date)
    var context = OperationContext()
    context.operationClock = clock
    let stopped = context.stoppingClock()
    clock.advance(by: .seconds(1))
    expect(stopped.operationClock.now(), equals: date)
    expect(context.operationClock.now(), equals: date.addingTimeInterval(1))
    var restarted = stopped
    restarted.operationClock = clock
    expect(restarted.operationClock.now(), equals: date.addingTimeInterval(1))
  }

  @Test func `A store dates its value and its error by the clock`() async throws {
    let clock = ManualClock(date: date)
    let script = OperationScript<Int, any Error>(default: .value(1))
    let store = OperationStore.detached(query: script.query().clock(clock))
    try await store.fetch()
    expect(store.valueLastUpdatedAt, equals: date)
    clock.advance(by: .seconds(2))
    store.setResult(to: .failure(CancellationError()))
    expect(store.errorLastUpdatedAt, equals: date.addingTimeInterval(2))
  }

  @Test(arguments: [
    (Duration.zero, Duration.zero),
    (.seconds(-1), .zero),
    (.seconds(Int64.min), .zero),
    (.seconds(1), .seconds(1)),
    (.seconds(Int64.max), .seconds(100 * 365 * 86_400)),
  ])
  func `Durations are clamped for clocks`(duration: Duration, expected: Duration) {
    expect(duration.clampedForClock, equals: expected)
    // Clocks take it.
    _ = ContinuousClock.now.advanced(by: duration.clampedForClock)
  }
}
