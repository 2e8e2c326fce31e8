import Synchronization
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

/// Deadlines of a machine that sleeps: its clock counts the sleep, and its timer stands still.
@Suite(.bounded) struct SuspendedMachineTests {
  private let alarm = SleepyAlarm()
  private let queue: DeadlineQueue
  private let fired = Log<String>()

  init() {
    self.queue = DeadlineQueue(self.alarm)
  }

  private func schedule(_ name: String, after duration: Duration) -> Deadline {
    self.queue.schedule(after: duration) { [fired] in fired.append(name) }
  }

  @Test func `After a sleep, a new deadline ends after its time, and an overdue one at once`() {
    _ = self.schedule("pending", after: .seconds(60))
    self.alarm.sleep(for: .seconds(3_600))
    self.alarm.advance(by: .milliseconds(10))
    expect(self.fired.all, equals: [])
    _ = self.schedule("new", after: .seconds(1))
    self.alarm.advance(by: .zero)
    expect(self.fired.all, equals: ["pending"])
    self.alarm.advance(by: .milliseconds(999))
    expect(self.fired.all, equals: ["pending"])
    self.alarm.advance(by: .milliseconds(1))
    expect(self.fired.all, equals: ["pending", "new"])
    expect(self.queue.count, equals: 0)
  }

  @Test func `What is overdue after a sleep fires when the queue is told of it`() {
    _ = self.schedule("overdue", after: .seconds(60))
    _ = self.schedule("later", after: .seconds(7_200))
    self.alarm.sleep(for: .seconds(3_600))
    self.queue.noteWakeUp()
    self.alarm.advance(by: .zero)
    expect(self.fired.all, equals: ["overdue"])
    // Without a sleep it changes nothing.
    let count = self.alarm.settings
    self.queue.noteWakeUp()
    expect(self.alarm.settings, equals: count)
    self.alarm.advance(by: .seconds(3_600))
    expect(self.fired.all, equals: ["overdue", "later"])
  }

  @Test func `A timer that is late, and not standing still, is not set for each new deadline`() {
    _ = self.schedule("first", after: .seconds(1))
    self.alarm.sleep(for: .seconds(2))
    for number in 0..<100 { _ = self.schedule("\(number)", after: .seconds(5)) }
    expect(self.alarm.settings, equals: 2)
    self.alarm.advance(by: .zero)
    expect(self.fired.all, equals: ["first"])
    expect(self.alarm.settings, equals: 3)
  }

  @Test func `A thousand overdue deadlines fire over a second, in their order, and delay no other`() {
    for number in 0..<1_000 { _ = self.schedule("\(number)", after: .seconds(60) + .milliseconds(number)) }
    let cancelled = self.schedule("cancelled", after: .seconds(62))
    self.alarm.sleep(for: .seconds(3_600))
    self.queue.noteWakeUp()
    self.alarm.advance(by: .zero)
    expect(self.fired.count, equals: 51)
    expect(self.queue.count, equals: 950)
    _ = self.schedule("new", after: .milliseconds(20))
    self.queue.cancel(cancelled)
    expect(self.queue.count, equals: 950)
    self.alarm.advance(by: .milliseconds(20))
    expect(self.fired.all.last, equals: "new")
    self.alarm.advance(by: .milliseconds(980))
    expect(self.fired.all.filter { $0 != "new" }, equals: (0..<1_000).map { "\($0)" })
    expect(self.queue.count, equals: 0)
  }

  @Test func `A hundred overdue deadlines fire at once`() {
    for number in 0..<100 { _ = self.schedule("\(number)", after: .seconds(60)) }
    self.alarm.sleep(for: .seconds(3_600))
    self.queue.noteWakeUp()
    self.alarm.advance(by: .zero)
    expect(self.fired.count, equals: 100)
  }
}

/// A clock that counts the sleep of its machine, with a timer that does not.
private final class SleepyAlarm: DeadlineAlarm {
  private struct State: Sendable {
    var now = ContinuousClock.now
    /// The time that the machine was awake.
    var awake = Duration.zero
    var timer: (at: Duration, action: @Sendable () -> Void)?
    var settings = 0
  }

  private let state = Mutex(State())

  var now: ContinuousClock.Instant { self.state.withLock { $0.now } }

  /// How often the timer was set.
  var settings: Int { self.state.withLock { $0.settings } }

  func set(for instant: ContinuousClock.Instant, _ action: @escaping @Sendable () -> Void) {
    self.state.withLock { state in
      state.settings += 1
      state.timer = (state.awake + max(.zero, state.now.duration(to: instant)), action)
    }
  }

  func sleep(for duration: Duration) {
    self.state.withLock { $0.now += duration }
  }

  func advance(by duration: Duration) {
    let end = self.state.withLock { $0.awake + duration }
    while true {
      let action = self.state.withLock { state -> (@Sendable () -> Void)? in
        let next = min(state.timer?.at ?? end, end)
        state.now += next - state.awake
        state.awake = next
        guard let timer = state.timer, timer.at <= end else { return nil }
        state.timer = nil
        return timer.action
      }
      guard let action else { return }
      action()
    }
  }
}
