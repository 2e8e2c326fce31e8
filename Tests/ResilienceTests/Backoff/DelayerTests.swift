import OperationBackoff
import OperationCore
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@Suite(.bounded) struct DelayerTests {
  @Test func `A delay in the present task ends once its time has passed`() async throws {
    let start = ContinuousClock.now
    try await TaskSleepDelayer().delay(for: .microseconds(1))
    #expect(ContinuousClock.now - start >= .microseconds(1))
  }

  @Test(arguments: [Duration.zero, .seconds(-1), Duration(attoseconds: .min)])
  func `A zero or negative delay returns at once`(duration: Duration) async throws {
    let hasEnded = Mutex(false)
    let task = Task.immediate {
      try await TaskSleepDelayer().delay(for: duration)
      try await AnySendableDelayer(.taskSleep).delay(for: duration)
      hasEnded.withLock { $0 = true }
    }
    // A delay that waits would have suspended the task, which would end later and on another thread.
    #expect(hasEnded.withLock { $0 })
    try await task.value
  }

  @Test(arguments: [Duration.zero, .seconds(3_600), Duration(attoseconds: .max)])
  func `A delay in a cancelled task ends at once`(duration: Duration) async {
    let task = Task.immediate {
      withUnsafeCurrentTask { $0?.cancel() }
      await #expect(throws: CancellationError.self) { try await TaskSleepDelayer().delay(for: duration) }
    }
    await task.value
  }

  @Test func `A delayer that does not wait throws in a cancelled task`() async {
    let task = Task.immediate {
      withUnsafeCurrentTask { $0?.cancel() }
      await #expect(throws: CancellationError.self) { try await NoDelayer().delay(for: .zero) }
    }
    await task.value
  }

  @Test func `A delay ends at once when its task is cancelled`() async {
    let task = Task.immediate { try await TaskSleepDelayer().delay(for: .seconds(3_600)) }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test(arguments: oddDurations + [.seconds(2)])
  func `A clock receives no negative and no endless duration`(duration: Duration) async throws {
    let clock = RecordingClock()
    try await ClockDelayer(clock).delay(for: duration)
    let requested = try #require(clock.deadlines.first)
    expect(clock.deadlines.count, equals: 1)
    #expect(requested >= .zero && requested <= .seconds(101 * 365 * 86_400))
    if duration == .seconds(2) { expect(requested, equals: .seconds(2)) }
  }

  @Test func `Delayers can be written as implicit members`() async throws {
    var context = OperationContext()
    context.operationDelayer = .noDelay
    try await context.operationDelayer.delay(for: .seconds(3_600))
    context.operationDelayer = .taskSleep
    #expect(context.operationDelayer is TaskSleepDelayer)
    let clock = RecordingClock()
    context.operationDelayer = .clock(clock)
    try await AnySendableDelayer(context.operationDelayer).delay(for: .seconds(3))
    expect(clock.deadlines, equals: [.seconds(3)])
    let optional: (any OperationDelayer & Sendable)? = .noDelay
    #expect(optional is NoDelayer)
  }
}

/// A clock that does not wait, and records the deadlines.
final class RecordingClock: Clock {
  struct Instant: InstantProtocol {
    var offset: Duration
    func advanced(by duration: Duration) -> Instant { Instant(offset: self.offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - self.offset }
    static func < (lhs: Instant, rhs: Instant) -> Bool { lhs.offset < rhs.offset }
  }

  private let recorded = Mutex<[Duration]>([])

  var deadlines: [Duration] { self.recorded.withLock { $0 } }
  var now: Instant { Instant(offset: .zero) }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    self.recorded.withLock { $0.append(deadline.offset) }
  }
}
