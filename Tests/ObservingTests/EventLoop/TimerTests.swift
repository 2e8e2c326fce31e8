#if os(Linux)
  import OperationCore
  import OperationTesting
  import Synchronization
  import TestFixtures
  import Testing

  @testable import OperationEventLoop

  @Suite(.bounded) struct TimerTests {
    private let loop = EventLoop()

    @Test func `Timers fire in the order of their due times, and none before it`() async throws {
      let fired = Log<(Int, Duration)>()
      let (last, never) = (Gate(), Gate())
      let far = self.loop.schedule(after: .seconds(3_600)) { never.open() }
      // They are created in the order of their delays, so a pause between two of them does not change the order.
      let milliseconds = [0, 1, 1, 2, 5, 10]
      let registrations = milliseconds.enumerated().map { number, milliseconds in
        let made = ContinuousClock.now
        return self.loop.schedule(after: .milliseconds(milliseconds)) {
          if fired.append((number, made.duration(to: .now))) == 6 { last.open() }
        }
      }
      try await last.wait()
      expect(fired.all.map(\.0), equals: Array(0..<6))
      // Only a lower bound, because a slow machine adds to the delays.
      #expect(fired.all.allSatisfy { $0.1 >= .milliseconds(milliseconds[$0.0]) })
      #expect(!never.isOpen)
      for registration in registrations + [far] { registration.cancel() }
      #expect(!self.loop.isRunning)
    }

    @Test func `Timers with the same due time fire in the order of their registrations`() async throws {
      let heap = (1...50).map { number in
        let entry = Entry(.timer(after: .zero, every: nil)) { _ in }
        entry.number = UInt64(number)
        return entry
      }
      let due = ContinuousClock.now
      var timers = DeadlineHeap<Entry>()
      for entry in heap.shuffled() {
        entry.due = due
        timers.insert(entry)
      }
      for entry in heap[10..<20] { timers.remove(entry) }
      for entry in heap[10..<20] { timers.remove(entry) }
      var numbers: [UInt64] = []
      while let first = timers.first {
        timers.remove(first)
        numbers.append(first.number)
      }
      expect(numbers, equals: Array(1...10) + Array(21...50))
    }

    @Test func `A timer that is registered later and due earlier fires first`() async throws {
      let (late, early) = (Gate(), Gate())
      let first = self.loop.schedule(after: .seconds(3_600)) { late.open() }
      let second = self.loop.schedule(after: .milliseconds(1)) { early.open() }
      try await early.wait()
      #expect(!late.isOpen)
      first.cancel()
      second.cancel()
    }

    @Test func `A repeated timer fires until it is cancelled, and the loop sleeps in between`() async throws {
      let fired = Log<(processorTime: Duration, due: ContinuousClock.Instant?)>()
      let enough = Gate()
      let registration = self.loop.repeat(every: .milliseconds(10)) { [loop] in
        let due = loop.state.withLock { $0.running?.due }
        if fired.append((Process.threadTime, due)) == 10 { enough.open() }
      }
      try await enough.wait()
      registration.cancel()
      let count = fired.all.count
      let dues = fired.all.compactMap(\.due)
      expect(dues.count, equals: count)
      #expect(zip(dues, dues.dropFirst()).allSatisfy { $0.duration(to: $1) >= .milliseconds(10) })
      // A thread that does not sleep uses the processor all the time between the first call and the last.
      #expect(fired.all[9].processorTime - fired.all[0].processorTime < dues[0].duration(to: dues[9]) / 2)
      #expect(!self.loop.isRunning)
      expect(fired.all.count, equals: count)
    }

    @Test func `A repeated timer that misses several intervals is called once for them`() async throws {
      let dues = Log<ContinuousClock.Instant>()
      let enough = Gate()
      let registration = self.loop.repeat(every: .milliseconds(20)) { [loop] in
        loop.state.withLock { state in
          guard let timer = state.running else { return }
          switch dues.append(timer.due) {
          case 1: timer.due = timer.due.advanced(by: .milliseconds(-200))  // Ten intervals ago.
          case 3: enough.open()
          default: break
          }
        }
      }
      try await enough.wait()
      registration.cancel()
      #expect(zip(dues.all, dues.all.dropFirst()).allSatisfy { $0.duration(to: $1) >= .milliseconds(20) })
    }

    @Test func `Negative, zero and maximal delays are valid`() async throws {
      let fired = Gate()
      let never = self.loop.schedule(after: .seconds(Int64.max)) { Issue.record("the longest delay has passed") }
      let rarely = self.loop.repeat(every: .seconds(Int64.max)) { Issue.record("the longest delay has passed") }
      let now = self.loop.schedule(after: .seconds(-5)) { fired.open() }
      let often = Gate()
      let count = Log<Void>()
      let fast = self.loop.repeat(every: .zero) {
        if count.append(()) == 3 { often.open() }
      }
      try await fired.wait()
      try await often.wait()
      for registration in [never, rarely, now, fast] { registration.cancel() }
      #expect(!self.loop.isRunning)
    }

    @Test func `The values that a timer captures are released when it has fired or is cancelled`() async throws {
      let lifetimes = LifetimeTracker()
      let one = self.loop.schedule(after: .zero) { [token = lifetimes.token()] in token.touch() }
      try await lifetimes.noneAlive()
      let others = (0..<1_000).map { number in
        self.loop.schedule(after: .seconds(3_600 + number)) { [token = lifetimes.token()] in token.touch() }
      }
      expect(lifetimes.aliveCount, equals: 1_000)
      for other in others.shuffled() { other.cancel() }
      expect(lifetimes.aliveCount, equals: 0)
      #expect(self.loop.state.withLock { $0.timers.first == nil })
      one.cancel()
      #expect(!self.loop.isRunning)
    }
  }
#endif
