#if os(Linux)
  import OperationCore
  import OperationTesting
  import Synchronization
  import Testing

  @testable import OperationEventLoop

  @Suite struct TimerTests {
    private let loop = EventLoop()

    @Test func `Timers fire in the order of their times, not before them`() async throws {
      let start = ContinuousClock.now
      let fired = Log<(Int, Duration)>()
      let last = Gate()
      let milliseconds = [40, 10, 30, 0, 20, 10]
      let registrations = milliseconds.map { milliseconds in
        self.loop.schedule(after: .milliseconds(milliseconds)) {
          if fired.append((milliseconds, start.duration(to: .now))) == 6 { last.open() }
        }
      }
      try await last.wait()
      #expect(fired.all.map(\.0) == milliseconds.sorted())
      #expect(fired.all.allSatisfy { $0.1 >= .milliseconds($0.0) })
      for registration in registrations { registration.cancel() }
      #expect(!self.loop.isRunning)
    }

    @Test func `Timers of one time fire in the order in which they came`() async throws {
      let heap = (1...50).map { number in
        let entry = Entry(.timer(after: .zero, every: nil)) { _ in }
        entry.number = UInt64(number)
        return entry
      }
      let due = ContinuousClock.now
      var timers = TimerHeap()
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
      #expect(numbers == Array(1...10) + Array(21...50))
    }

    @Test func `A timer that comes later and is due earlier is not held up`() async throws {
      let (late, early) = (Gate(), Gate())
      let first = self.loop.schedule(after: .seconds(3_600)) { late.open() }
      let second = self.loop.schedule(after: .milliseconds(1)) { early.open() }
      try await early.wait()
      #expect(!late.isOpen)
      first.cancel()
      second.cancel()
    }

    @Test func `A repeated timer fires until it is cancelled, and the loop sleeps in between`() async throws {
      let fired = Log<Duration>()
      let enough = Gate()
      let start = ContinuousClock.now
      let registration = self.loop.repeat(every: .milliseconds(10)) {
        if fired.append(Process.threadTime) == 10 { enough.open() }
      }
      try await enough.wait()
      registration.cancel()
      let count = fired.all.count
      #expect(start.duration(to: .now) >= .milliseconds(100))
      #expect(fired.all[9] - fired.all[0] < .milliseconds(45))
      #expect(!self.loop.isRunning)
      #expect(fired.all.count == count)
    }

    @Test func `A repeated timer makes up for lost time by one call`() async throws {
      let fired = Log<Duration>()
      let (busy, enough) = (Gate(), Gate())
      let start = ContinuousClock.now
      let registration = self.loop.repeat(every: .milliseconds(20)) {
        if fired.append(start.duration(to: .now)) == 1 {
          // Five times pass.
          let end = ContinuousClock.now.advanced(by: .milliseconds(110))
          while ContinuousClock.now < end {}
          busy.open()
        }
        if fired.all.count == 3 { enough.open() }
      }
      try await busy.wait()
      try await enough.wait()
      registration.cancel()
      #expect(fired.all[1] >= .milliseconds(130))
      #expect(fired.all[2] >= fired.all[1])
    }

    @Test func `No time and all time are spans like others`() async throws {
      let fired = Gate()
      let never = self.loop.schedule(after: .seconds(Int64.max)) { Issue.record("eternity is over") }
      let rarely = self.loop.repeat(every: .seconds(Int64.max)) { Issue.record("eternity is over") }
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
      #expect(lifetimes.aliveCount == 1_000)
      for other in others.shuffled() { other.cancel() }
      #expect(lifetimes.aliveCount == 0)
      #expect(self.loop.state.withLock { $0.timers.first == nil })
      one.cancel()
      #expect(!self.loop.isRunning)
    }
  }
#endif
