import OperationCore
import OperationLimits
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct LimitOrderTests {
  /// The pseudocode of RFC 8289, section 5, for waits in milliseconds. The last run is the one packet that it keeps.
  private struct Reference {
    let target: Double
    let interval: Double
    var queue: [(id: Int, arrival: Double)] = []
    var firstAbove = 0.0
    var isDropping = false
    var dropNext = 0.0
    var (count, lastCount) = (0, 0)

    init(target: Double, interval: Double) {
      self.target = target
      self.interval = interval
    }

    private mutating func take(_ now: Double) -> (id: Int?, isOkToDrop: Bool) {
      guard !self.queue.isEmpty else {
        self.firstAbove = 0
        return (nil, false)
      }
      let first = self.queue.removeFirst()
      if now - first.arrival < self.target || self.queue.isEmpty {
        self.firstAbove = 0
        return (first.id, false)
      }
      if self.firstAbove == 0 {
        self.firstAbove = now + self.interval
        return (first.id, false)
      }
      return (first.id, now >= self.firstAbove)
    }

    private func law(_ time: Double) -> Double { time + self.interval / Double(self.count).squareRoot() }

    mutating func next(at now: Double) -> (id: Int?, dropped: [Int]) {
      var dropped: [Int] = []
      var first = self.take(now)
      if self.isDropping {
        if !first.isOkToDrop { self.isDropping = false }
        while self.isDropping, now >= self.dropNext {
          if let id = first.id { dropped.append(id) }
          self.count += 1
          first = self.take(now)
          if !first.isOkToDrop { self.isDropping = false } else { self.dropNext = self.law(self.dropNext) }
        }
      } else if first.isOkToDrop {
        if let id = first.id { dropped.append(id) }
        first = self.take(now)
        self.isDropping = true
        let delta = self.count - self.lastCount
        self.count = delta > 1 && now - self.dropNext < 16 * self.interval ? delta : 1
        self.dropNext = self.law(now)
        self.lastCount = self.count
      }
      return (first.id, dropped)
    }
  }

  @Test(arguments: ModelRuns.seeds)
  func `Controlled delay rejects the runs that RFC 8289 drops`(seed: UInt64) async {
    await ModelRuns.check(60, seed: seed) { Self.failure(of: &$0) }
  }

  private static func failure(of generator: inout SeededGenerator) -> String? {
    var machine = PermitMachine(
      limit: 1,
      maximumWaiting: 100_000,
      order: .controlledDelay(target: .milliseconds(5), interval: .milliseconds(100))
    )
    // The times begin above zero, which stands for none in the pseudocode.
    var (reference, now, isBusy) = (Reference(target: 5, interval: 100), 1.0, false)
    var waiters: [LimitWaiter] = []
    let load = Double.random(in: 0.5...3, using: &generator)
    for step in 0..<400 {
      now += Double(Int.random(in: 0...10, using: &generator))
      let time = Duration.milliseconds(Int(now))
      if Double.random(in: 0..<1 + load, using: &generator) < load {
        let waiter = LimitWaiter(deadlines: SystemDeadlineSource(), due: nil)
        waiters.append(waiter)
        if machine.join(waiter, at: time) == nil {
          reference.queue.append((waiters.count - 1, now))
        } else {
          isBusy = true
        }
      } else if isBusy {
        machine.giveBack(at: time)
        let expected = reference.next(at: now)
        if expected.id == nil { isBusy = false }
        let admitted = machine.decided.filter { $0.decision == .admitted }.map { waiter in
          waiters.firstIndex { $0 === waiter }
        }
        let dropped = machine.decided.filter { $0.decision != .admitted }.map { waiter in
          waiters.firstIndex { $0 === waiter }
        }
        machine.decided = []
        guard admitted == (expected.id.map { [$0] } ?? []), dropped == expected.dropped else {
          return "step \(step): \(admitted), \(dropped), not \(expected)"
        }
      }
    }
    return machine.rejections >= reference.lastCount ? nil : "only \(machine.rejections) rejections"
  }

  @Test(arguments: [false, true])
  func `A line that was emptied by cancellations or longest waits forgets that it stood`(expires: Bool) {
    let deadlines = SystemDeadlineSource()
    var machine = PermitMachine(
      limit: 1,
      maximumWaiting: 10,
      order: .controlledDelay(target: .milliseconds(5), interval: .milliseconds(100))
    )
    let hasBegun = machine.take()
    #expect(hasBegun)
    let early = (0..<3).map { _ in LimitWaiter(deadlines: deadlines, due: expires ? .milliseconds(35) : nil) }
    for waiter in early { _ = machine.join(waiter, at: .zero) }
    expect(machine.waiterCount, equals: 3)
    // The first one has waited longer than the target.
    machine.giveBack(at: .milliseconds(10))
    if expires { machine.wake(at: .milliseconds(35)) } else { for waiter in early[1...] { machine.remove(waiter) } }
    expect(machine.waiterCount, equals: 0)
    machine.giveBack(at: .milliseconds(40))
    // Ten idle minutes later, a burst.
    _ = machine.take()
    let burst = (0..<4).map { _ in LimitWaiter(deadlines: deadlines, due: nil) }
    for waiter in burst { _ = machine.join(waiter, at: .seconds(600)) }
    expect(machine.waiterCount, equals: 4)
    for number in 0..<4 { machine.giveBack(at: .seconds(600) + .milliseconds(6 * (number + 1))) }
    expect(burst.map(\.decision), equals: [.admitted, .admitted, .admitted, .admitted])
  }

  @Test func `A run waits for the target at most once the queue stands, and for the interval before`() async {
    let limiting = Limiting(ConcurrencyLimit(1, order: .boundedDelay()))
    let running = limiting.begin()
    let early = limiting.begin()
    limiting.clock.advance(by: .milliseconds(99))
    let other = limiting.begin()
    limiting.clock.advance(by: .milliseconds(1))
    await #expect(throws: OperationRejected.self) { try await early.value }
    expect(limiting.limit.waitingCount, equals: 1)
    // The queue has stood for 100 ms.
    let late = limiting.begin()
    expect(limiting.clock.remainingTimes().first, equals: .milliseconds(5))
    limiting.clock.advance(by: .milliseconds(5))
    await #expect(throws: OperationRejected.self) { try await late.value }
    expect(limiting.limit.waitingCount, equals: 1)
    limiting.clock.advance(by: .milliseconds(94))
    await #expect(throws: OperationRejected.self) { try await other.value }
    // The queue was empty, so it stands no longer.
    let again = limiting.begin()
    expect(limiting.clock.remainingTimes(), equals: [.milliseconds(100)])
    for task in [again, running] {
      task.cancel()
      _ = await task.result
    }
    expect(limiting.limit.snapshot().rejections, equals: 3)
  }

  @Test func `Bounded delay makes no longest wait longer`() async {
    let limiting = Limiting(ConcurrencyLimit(1, order: .boundedDelay()), maximumWait: .milliseconds(20))
    let running = limiting.begin()
    let waiting = limiting.begin()
    expect(limiting.clock.remainingTimes(), equals: [.milliseconds(20)])
    limiting.clock.advance(by: .milliseconds(20))
    await #expect(throws: OperationRejected.self) { try await waiting.value }
    running.cancel()
    _ = await running.result
  }

  @Test func `Bounded delay holds for partitions, and an update of the order leaves waits as they are`() async {
    let shares = PartitionedLimit(1, order: .boundedDelay(target: .milliseconds(1), interval: .milliseconds(50))) { _ in
      "gold"
    }
    let partitioned = Limiting(shares)
    let tasks = (0..<2).map { _ in partitioned.begin() }
    expect(partitioned.clock.remainingTimes(), equals: [.milliseconds(50)])
    partitioned.clock.advance(by: .milliseconds(50))
    await #expect(throws: OperationRejected.self) { try await tasks[1].value }
    tasks[0].cancel()
    _ = await tasks[0].result
    let limiting = Limiting(ConcurrencyLimit(1, order: .boundedDelay()))
    let running = limiting.begin()
    let waiting = limiting.begin()
    limiting.limit.update(order: .firstComeFirstServed)
    let patient = limiting.begin()
    limiting.clock.advance(by: .milliseconds(100))
    await #expect(throws: OperationRejected.self) { try await waiting.value }
    expect(limiting.limit.waitingCount, equals: 1)
    for task in [patient, running] {
      task.cancel()
      _ = await task.result
    }
  }

  @Test func `Adaptive LIFO serves the newest run first once the queue stands`() async throws {
    let limiting = Limiting(ConcurrencyLimit(1, order: .adaptiveLIFO(after: .milliseconds(100))))
    let first = limiting.begin()
    let waiting = (0..<4).map { _ in limiting.begin() }
    limiting.clock.advance(by: .milliseconds(99))
    try await limiting.script.next().succeed(0)
    _ = try await first.value
    // The queue has stood for less than 0.1 s: the oldest run is next.
    try await limiting.script.next().succeed(1)
    try await expect(waiting[0].value, equals: 1)
    let second = try await limiting.script.next()
    limiting.clock.advance(by: .milliseconds(1))
    second.succeed(2)
    try await expect(waiting[1].value, equals: 2)
    try await limiting.script.next().succeed(3)
    try await expect(waiting[3].value, equals: 3)
    try await limiting.script.next().succeed(4)
    try await expect(waiting[2].value, equals: 4)
  }

  @Test func `In a full queue that stands, a new run takes the place of the oldest`() async throws {
    let limiting = Limiting(ConcurrencyLimit(1, queue: 2, order: .adaptiveLIFO(after: .milliseconds(100))))
    let first = limiting.begin()
    let waiting = (0..<2).map { _ in limiting.begin() }
    await limiting.expectRejection(nil)
    limiting.clock.advance(by: .milliseconds(100))
    let newest = limiting.begin()
    await #expect(throws: OperationRejected.self) { try await waiting[0].value }
    for _ in 0..<3 { try await limiting.script.next().succeed(1) }
    _ = try await (first.value, newest.value, waiting[1].value)
    expect(limiting.limit.snapshot().rejections, equals: 2)
  }

  @Test func `Negative durations of an order are reported and count as zero, and huge ones are possible`() {
    let order = expectWarning(.invalidArgument) { LimitOrder.controlledDelay(target: .seconds(-1)) }
    expect(order, equals: .controlledDelay(target: .zero))
    let interval = expectWarning(.invalidArgument) { LimitOrder.controlledDelay(interval: .seconds(Int64.min)) }
    expect(interval, equals: .controlledDelay(interval: .zero))
    let bounded = expectWarning(.invalidArgument) { LimitOrder.boundedDelay(target: .seconds(-1)) }
    expect(bounded, equals: .boundedDelay(target: .zero))
    let newest = expectWarning(.invalidArgument) { LimitOrder.adaptiveLIFO(after: .seconds(-1)) }
    expect(newest, equals: .adaptiveLIFO(after: .zero))
    for order in [
      LimitOrder.controlledDelay(target: .seconds(Int64.max), interval: .seconds(Int64.max)),
      .adaptiveLIFO(after: .seconds(Int64.max)), .controlledDelay(target: .zero, interval: .zero),
      .adaptiveLIFO(after: .zero), .boundedDelay(target: .seconds(Int64.max), interval: .seconds(Int64.max)),
      .boundedDelay(target: .zero, interval: .zero),
    ] {
      var machine = PermitMachine(limit: 1, maximumWaiting: 100, order: order)
      let isTaken = machine.take()
      #expect(isTaken)
      for number in 0..<10 {
        let waiter = LimitWaiter(deadlines: SystemDeadlineSource(), due: nil)
        let decision = machine.join(waiter, at: .seconds(number))
        expect(decision, equals: nil)
      }
      for number in 0..<11 where machine.inUse > 0 { machine.giveBack(at: .seconds(1000 + number)) }
      #expect(machine.inUse == 0 && machine.waiterCount == 0)
    }
  }
}
