import CoreFixtures
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

@Suite(.bounded) struct SleepTests {
  private let clock = ManualClock()

  @Test func `A sleep ends at its time`() async throws {
    let sleep = Task { try await clock.sleep(for: .seconds(5)) }
    try await clock.sleepers(count: 1)
    clock.advance(by: .milliseconds(4_999))
    expect(clock.sleeperCount(), equals: 1)
    clock.advance(by: .milliseconds(1))
    expect(clock.sleeperCount(), equals: 0)
    try await sleep.value
  }

  @Test func `A cancelled sleep ends at once and leaves nothing`() async throws {
    let sleep = Task.immediate { try await clock.sleep(for: .seconds(5)) }
    expect(clock.sleeperCount(), equals: 1)
    sleep.cancel()
    expect(clock.sleeperCount(), equals: 0)
    await #expect(throws: CancellationError.self) { try await sleep.value }
  }

  @Test func `A sleep in a cancelled task does not begin`() async {
    let sleep = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await clock.sleep(for: .seconds(5))
    }
    await #expect(throws: CancellationError.self) { try await sleep.value }
    expect(clock.sleeperCount(), equals: 0)
  }

  @Test func `The system's sleep is cancelled at once`() async throws {
    let queue = DeadlineQueue(SystemDeadlineAlarm())
    let source = QueueDeadlines(queue: queue)
    let sleeps = (0..<1_000).map { _ in
      Task.immediate { try await source.sleep(for: .seconds(Int64.max)) }
    }
    expect(queue.count, equals: 1_000)
    for sleep in sleeps { sleep.cancel() }
    expect(queue.count, equals: 0)
    for sleep in sleeps { await #expect(throws: CancellationError.self) { try await sleep.value } }
    try await SystemDeadlineSource().sleep(for: .seconds(-1))
    try await source.sleep(for: .milliseconds(1))
  }

  @Test func `A sleep ends once when time and cancellation race`() async throws {
    for _ in 0..<300 {
      let clock = ManualClock()
      let sleep = Task.immediate { try await clock.sleep(for: .seconds(1)) }
      await onThreads(2) { number in
        if number == 0 { sleep.cancel() } else { clock.advance(by: .seconds(1)) }
      }
      // Either may be first; resumed twice, it would have trapped.
      if case .failure(let error) = await sleep.result { #expect(error is CancellationError) }
      expect(clock.sleeperCount(), equals: 0)
    }
  }
}

/// The deadlines of a queue that is not shared.
private struct QueueDeadlines: DeadlineSource {
  let queue: DeadlineQueue

  var elapsed: Duration { .zero }

  func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> OperationSubscription {
    let deadline = self.queue.schedule(after: duration, action)
    return OperationSubscription { self.queue.cancel(deadline) }
  }
}
