import OperationCore
import OperationLimits
import OperationTesting
import TestFixtures
import Testing

/// Random schedules of arrivals, cancellations, timeouts and releases, compared with a simple model.
@Suite(.bounded, .warningsAreIssues) struct PermitModelTests {
  /// The model: permits in use, and the waiters with their dues in an array.
  private struct Model {
    var limit: Int
    let maximumWaiting: Int
    var inUse = 0
    var waiting: [(waiter: LimitWaiter, due: Duration?)] = []
    /// The waiters that have received a permit, in order.
    var admitted: [LimitWaiter] = []
    var rejected: [LimitWaiter] = []

    mutating func admit() {
      while !self.waiting.isEmpty, self.inUse < self.limit {
        self.inUse += 1
        self.admitted.append(self.waiting.removeFirst().waiter)
      }
    }

    mutating func expire(at now: Duration) {
      let expired = self.waiting.enumerated().filter { $0.element.due.map { $0 <= now } ?? false }
      // Expired waiters may be rejected in any order.
      self.rejected += expired.map(\.element.waiter)
      self.waiting.removeAll { $0.due.map { $0 <= now } ?? false }
    }
  }

  @Test(arguments: ModelRuns.seeds)
  func `No permit is lost or created in random schedules`(seed: UInt64) async {
    await ModelRuns.check(800, seed: seed) { Self.failure(of: &$0) }
  }

  /// Runs one schedule. Returns what differs from the model.
  private static func failure(of generator: inout SeededGenerator) -> String? {
    let deadlines = SystemDeadlineSource()
    let limit = Int.random(in: 1...4, using: &generator)
    let maximumWaiting = Int.random(in: 0...6, using: &generator)
    var machine = PermitMachine(limit: limit, maximumWaiting: maximumWaiting)
    var model = Model(limit: limit, maximumWaiting: maximumWaiting)
    var now = Duration.zero
    for _ in 0..<Int.random(in: 1...40, using: &generator) {
      switch Int.random(in: 0..<12, using: &generator) {
      case 0..<5:
        let due = generator.wait(upTo: 5).map { now + $0 }
        let waiter = LimitWaiter(deadlines: deadlines, due: due)
        let decision = machine.join(waiter, at: now)
        let expected: LimitWaiter.Decision?
        if model.inUse < model.limit {
          model.inUse += 1
          expected = .admitted
        } else if model.waiting.count >= maximumWaiting || due.map({ $0 <= now }) == true {
          expected = .rejected(retryAfter: nil)
        } else {
          model.waiting.append((waiter, due))
          expected = nil
        }
        guard decision == expected else { return "a run got \(String(describing: decision))" }
      case 5..<7:
        guard machine.take() == (model.inUse < model.limit) else { return "a permit was taken or refused wrongly" }
        if model.inUse < model.limit { model.inUse += 1 }
      case 7..<9:
        guard model.inUse > 0 else { continue }
        machine.giveBack(at: now)
        model.inUse -= 1
        model.admit()
      case 9:
        guard let index = model.waiting.indices.randomElement(using: &generator) else { continue }
        machine.remove(model.waiting.remove(at: index).waiter)
      case 10:
        now += .seconds(Int.random(in: 0...3, using: &generator))
        machine.wake(at: now)
        model.expire(at: now)
      default:
        model.limit = Int.random(in: 1...4, using: &generator)
        machine.setLimit(model.limit, at: now)
        model.admit()
      }
      guard machine.inUse == model.inUse else { return "\(machine.inUse) permits in use, not \(model.inUse)" }
      guard machine.waiterCount == model.waiting.count else { return "\(machine.waiterCount) waiters" }
      guard machine.waiterCount == 0 || machine.inUse >= machine.limit else { return "a free permit and a waiter" }
      guard machine.alarm?.due == model.waiting.compactMap(\.due).min() else { return "a wrong alarm" }
      let admitted = machine.decided.filter { $0.decision == .admitted }
      let rejected = machine.decided.filter { $0.decision == .rejected(retryAfter: nil) }
      guard admitted.map(ObjectIdentifier.init) == model.admitted.map(ObjectIdentifier.init) else {
        return "a wrong order"
      }
      guard Set(rejected.map(ObjectIdentifier.init)) == Set(model.rejected.map(ObjectIdentifier.init)) else {
        return "wrong rejections"
      }
    }
    while model.inUse > 0 {
      machine.giveBack(at: now)
      model.inUse -= 1
      model.admit()
    }
    return machine.inUse == 0 && machine.waiterCount == 0 && machine.alarm == nil ? nil : "something is left"
  }

  @Test(arguments: 0..<20)
  func `Parallel runs never exceed the limit, and all permits come back`(seed: UInt64) async {
    let limit = ConcurrencyLimit(3, queue: 20)
    let runs = ParallelRuns()
    await runs.play(limitedBy: limit, seed: seed)
    #expect(runs.overlaps.maximum <= 3)
    expect(limit.activeCount, equals: 0)
    expect(limit.waitingCount, equals: 0)
    expect(runs.clock.sleeperCount(), equals: 0)
  }
}
