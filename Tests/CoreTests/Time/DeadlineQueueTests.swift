import CoreFixtures
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

@Suite(.bounded) struct DeadlineQueueTests {
  private let queue = DeadlineQueue(SystemDeadlineAlarm())

  @Test func `A queue fires in the order of the deadlines`() async throws {
    let fired = Mutex<[Int]>([])
    let last = Gate()
    let milliseconds = [12, 3, 9, 1, 6]
    let deadlines = milliseconds.enumerated().map { number, milliseconds in
      queue.schedule(after: .milliseconds(milliseconds)) {
        let count = fired.withLock { fired in
          fired.append(number)
          return fired.count
        }
        if count == 5 { last.open() }
      }
    }
    try await last.wait()
    // The thread may have been held up between two of them.
    let expected = deadlines.indices.sorted { deadlines[$0].instant < deadlines[$1].instant }
    expect(fired.withLock { $0 }, equals: expected)
    expect(queue.count, equals: 0)
  }

  @Test func `An earlier deadline that is added later moves the timer`() async throws {
    let (late, early) = (Gate(), Gate())
    let first = queue.schedule(after: .seconds(3_600)) { late.open() }
    _ = queue.schedule(after: .milliseconds(1)) { early.open() }
    try await early.wait()
    #expect(!late.isOpen)
    expect(queue.count, equals: 1)
    queue.cancel(first)
    expect(queue.count, equals: 0)
  }

  @Test func `A cancelled deadline leaves nothing behind`() {
    let lifetimes = LifetimeTracker()
    let deadlines = (0..<100).map { number in
      queue.schedule(after: .seconds(3_600 + number)) { [token = lifetimes.token()] in token.touch() }
    }
    expect(queue.count, equals: 100)
    expect(lifetimes.aliveCount, equals: 100)
    for deadline in deadlines { queue.cancel(deadline) }
    expect(queue.count, equals: 0)
    expect(lifetimes.aliveCount, equals: 0)
    for deadline in deadlines { queue.cancel(deadline) }
    expect(queue.count, equals: 0)
  }

  @Test func `A deadline that fired leaves nothing behind`() async throws {
    let lifetimes = LifetimeTracker()
    let deadline = queue.schedule(after: .zero) { [token = lifetimes.token()] in token.touch() }
    try await lifetimes.noneAlive()
    expect(queue.count, equals: 0)
    queue.cancel(deadline)
  }

  @Test func `Actions run outside the lock`() async throws {
    let done = Gate()
    let queue = queue
    let other = queue.schedule(after: .seconds(3_600)) {}
    _ = queue.schedule(after: .zero) {
      queue.cancel(other)
      _ = queue.schedule(after: .zero) { done.open() }
    }
    try await done.wait()
    expect(queue.count, equals: 0)
  }

  @Test func `A queue takes every duration`() async throws {
    let (fired, never) = (Gate(), Gate())
    let count = Atomic(0)
    let durations: [Duration] = [
      .zero, .seconds(-1), .seconds(Int64.min), Duration(secondsComponent: .min, attosecondsComponent: 0),
    ]
    for duration in durations {
      _ = queue.schedule(after: duration) {
        if count.add(1, ordering: .relaxed).newValue == durations.count { fired.open() }
      }
    }
    let eternities = [Duration.seconds(Int64.max), .seconds(400 * 365 * 86_400), .milliseconds(Int64.max)]
    let late = eternities.map { queue.schedule(after: $0) { never.open() } }
    try await fired.wait()
    #expect(!never.isOpen)
    expect(queue.count, equals: late.count)
    for deadline in late { queue.cancel(deadline) }
    expect(queue.count, equals: 0)
  }

  @Test func `Ten thousand deadlines are scheduled and cancelled at random`() async throws {
    let count = 10_000
    let (queue, lifetimes, done) = (queue, LifetimeTracker(), Gate())
    let settled = Mutex<[Int: String]>([:])
    @Sendable func settle(_ number: Int, _ how: String) {
      let settledCount = settled.withLock { settled in
        settled[number] = how
        return settled.count
      }
      if settledCount == count { done.open() }
    }
    await onThreads(2) { half in
      var generator = SeededGenerator(seed: UInt64(half) + 1)
      var deadlines: [(Int, Deadline, AtomicFlag)] = []
      for number in stride(from: half, to: count, by: 2) {
        // What is first to set it has the last word: the action or the cancellation.
        let isSettled = AtomicFlag(false)
        let duration = Duration.microseconds(Int.random(in: -10...5_000, using: &generator))
        let deadline = queue.schedule(after: duration) { [token = lifetimes.token()] in
          token.touch()
          if !isSettled.set(true) { settle(number, "fired") }
        }
        deadlines.append((number, deadline, isSettled))
        if Bool.random(using: &generator) {
          let (number, deadline, isSettled) = deadlines.remove(at: Int.random(in: deadlines.indices, using: &generator))
          queue.cancel(deadline)
          if !isSettled.set(true) { settle(number, "cancelled") }
        }
      }
    }
    try await done.wait()
    expect(Set(settled.withLock { $0.values }), equals: ["fired", "cancelled"])
    expect(queue.count, equals: 0)
    try await lifetimes.noneAlive()
  }

  @Test func `Many threads may schedule for one moment`() async throws {
    let (queue, done) = (queue, Gate())
    let remaining = Atomic(400)
    await onThreads(4) { _ in
      for _ in 0..<100 {
        _ = queue.schedule(after: .milliseconds(1)) {
          if remaining.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { done.open() }
        }
      }
    }
    try await done.wait()
    expect(queue.count, equals: 0)
  }

  @Test func `The shared queue serves the system's deadlines`() async throws {
    let done = Gate()
    let source = SystemDeadlineSource()
    let before = source.elapsed
    let subscription = source.schedule(after: .milliseconds(1)) { done.open() }
    try await done.wait()
    #expect(source.elapsed - before >= .milliseconds(1))
    subscription.cancel()
  }
}
