import Foundation
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

/// How many threads the actions of deadlines take, with a manual clock for the deadlines that watch them.
@Suite(.bounded) struct WorkerQueuesTests {
  private let alarm = ManualAlarm()
  private let queues: WorkerQueues
  private let release = DispatchSemaphore(value: 0)

  init() {
    self.queues = WorkerQueues(usualCount: 4, maximumCount: 8, DeadlineQueue(self.alarm))
  }

  /// Begins work that blocks its thread until `release` is signalled. Returns a gate for each piece, which opens when it begins.
  private func block(_ count: Int) -> [Gate] {
    (0..<count).map { _ in
      let begun = Gate()
      self.queues.perform { [release] in
        begun.open()
        release.wait()
      }
      return begun
    }
  }

  private func unblock(_ count: Int) {
    for _ in 0..<count { self.release.signal() }
  }

  @Test func `Ten thousand actions that are due together take four queues`() async throws {
    let blocked = self.block(4)
    for gate in blocked { try await gate.wait() }
    let done = Gate()
    let remaining = Countdown(from: 10_000, done)
    for _ in 0..<10_000 { self.queues.perform { remaining.step() } }
    #expect(self.queues.count == 4 && self.queues.waitingCount == 10_000)
    self.unblock(4)
    try await done.wait()
    #expect(self.queues.count == 4 && self.queues.waitingCount == 0)
  }

  @Test func `Actions that all block are passed after a moment, by twice as many queues`() async throws {
    let blocked = self.block(4)
    for gate in blocked { try await gate.wait() }
    let later = self.block(3)
    #expect(self.queues.count == 4 && self.queues.waitingCount == 3)
    self.alarm.advance(by: .milliseconds(9))
    #expect(self.queues.count == 4 && self.queues.waitingCount == 3)
    self.alarm.advance(by: .milliseconds(1))
    for gate in later { try await gate.wait() }
    #expect(self.queues.count == 7 && self.queues.waitingCount == 0)
    self.unblock(7)
  }

  @Test func `No further queue is taken while actions begin`() async throws {
    let blocked = self.block(4)
    for gate in blocked { try await gate.wait() }
    let later = self.block(2)
    self.unblock(1)
    try await later[0].wait()
    self.alarm.advance(by: .milliseconds(10))
    #expect(self.queues.count == 4 && self.queues.waitingCount == 1)
    self.alarm.advance(by: .milliseconds(10))
    try await later[1].wait()
    #expect(self.queues.count == 5 && self.queues.waitingCount == 0)
    self.unblock(5)
  }

  @Test func `Beyond the maximum, what waits runs on the queue of the system`() async throws {
    let begun = self.block(8)
    self.alarm.advance(by: .milliseconds(10))
    for gate in begun { try await gate.wait() }
    #expect(self.queues.count == 8 && self.queues.waitingCount == 0)
    let done = Gate()
    self.queues.perform { done.open() }
    #expect(self.queues.count == 8 && self.queues.waitingCount == 1)
    self.alarm.advance(by: .milliseconds(10))
    try await done.wait()
    self.unblock(8)
  }

  @Test func `What was performed is released`() async throws {
    let lifetimes = LifetimeTracker()
    for _ in 0..<100 { self.queues.perform { [token = lifetimes.token()] in token.touch() } }
    try await lifetimes.noneAlive()
  }
}

/// Opens a gate after a number of steps.
private final class Countdown: Sendable {
  private let remaining: Atomic<Int>
  private let done: Gate

  init(from count: Int, _ done: Gate) {
    self.remaining = Atomic(count)
    self.done = done
  }

  func step() {
    if self.remaining.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { self.done.open() }
  }
}

/// A clock that a test advances.
private final class ManualAlarm: DeadlineAlarm {
  private struct State: Sendable {
    var now = ContinuousClock.now
    var timer: (at: ContinuousClock.Instant, action: @Sendable () -> Void)?
  }

  private let state = Mutex(State())

  var now: ContinuousClock.Instant { self.state.withLock { $0.now } }

  func set(for instant: ContinuousClock.Instant, _ action: @escaping @Sendable () -> Void) {
    self.state.withLock { $0.timer = (instant, action) }
  }

  func advance(by duration: Duration) {
    let action = self.state.withLock { state -> (@Sendable () -> Void)? in
      state.now += duration
      guard let timer = state.timer, timer.at <= state.now else { return nil }
      state.timer = nil
      return timer.action
    }
    action?()
  }
}
