import OperationCore
import OperationLimits
import OperationTesting
import TestFixtures
import Testing

/// Random schedules of runs that matter more or less, compared with a simple model.
@Suite(.bounded, .warningsAreIssues) struct CriticalityModelTests {
  /// The model: an array of waiters, searched from the beginning for each decision.
  private struct Model {
    var limit: Int
    let maximumWaiting: Int
    var inUse = 0
    var waiting: [LimitWaiter] = []
    var decided: [(ObjectIdentifier, LimitWaiter.Decision)] = []

    private mutating func take(at index: Int, _ decision: LimitWaiter.Decision) {
      self.decided.append((ObjectIdentifier(self.waiting.remove(at: index)), decision))
    }

    mutating func join(_ waiter: LimitWaiter, at now: Duration) -> LimitWaiter.Decision? {
      if self.inUse < self.limit {
        self.inUse += 1
        return .admitted
      }
      if let due = waiter.due, due <= now { return .rejected(retryAfter: nil) }
      if self.waiting.count >= self.maximumWaiting {
        let lowest = self.waiting.map(\.criticality).min()
        guard let lowest, lowest < waiter.criticality,
          let index = self.waiting.lastIndex(where: { $0.criticality == lowest })
        else { return .rejected(retryAfter: nil) }
        self.take(at: index, .rejected(retryAfter: nil))
      }
      self.waiting.append(waiter)
      return nil
    }

    mutating func admit() {
      while self.inUse < self.limit, let highest = self.waiting.map(\.criticality).max(),
        let index = self.waiting.firstIndex(where: { $0.criticality == highest })
      {
        self.inUse += 1
        self.take(at: index, .admitted)
      }
    }

    mutating func expire(at now: Duration) {
      while let index = self.waiting.firstIndex(where: { $0.due.map { $0 <= now } ?? false }) {
        self.take(at: index, .rejected(retryAfter: nil))
      }
    }
  }

  @Test(arguments: ModelRuns.seeds)
  func `Runs that matter more begin first, and others in the order in which they came`(seed: UInt64) async {
    await ModelRuns.check(300, seed: seed) { Self.failure(of: &$0) }
  }

  /// Runs one schedule. Returns what differs from the model.
  private static func failure(of generator: inout SeededGenerator) -> String? {
    let deadlines = SystemDeadlineSource()
    let maximumWaiting = Int.random(in: 0...6, using: &generator)
    var machine = PermitMachine(limit: 2, maximumWaiting: maximumWaiting)
    var model = Model(limit: 2, maximumWaiting: maximumWaiting)
    var now = Duration.zero
    for _ in 0..<Int.random(in: 1...50, using: &generator) {
      switch Int.random(in: 0..<12, using: &generator) {
      case 0..<6:
        let due = generator.wait(upTo: 5).map { now + $0 }
        let waiter = LimitWaiter(deadlines: deadlines, due: due, criticality: generator.criticality())
        guard machine.join(waiter, at: now) == model.join(waiter, at: now) else { return "another decision at once" }
      case 6..<9:
        guard model.inUse > 0 else { continue }
        machine.giveBack(at: now)
        model.inUse -= 1
        model.admit()
      case 9:
        guard let index = model.waiting.indices.randomElement(using: &generator) else { continue }
        machine.remove(model.waiting.remove(at: index))
      case 10:
        now += .seconds(Int.random(in: 0...3, using: &generator))
        machine.wake(at: now)
        model.expire(at: now)
      default:
        model.limit = Int.random(in: 1...4, using: &generator)
        machine.setLimit(model.limit, at: now)
        model.admit()
      }
      guard machine.inUse == model.inUse, machine.waiterCount == model.waiting.count else { return "other numbers" }
      guard machine.alarm?.due == model.waiting.compactMap(\.due).min() else { return "another alarm" }
      // Runs that have waited too long leave in any order.
      let (mine, others) = (machine.decided, model.decided)
      let admitted = mine.filter { $0.decision == .admitted }.map(ObjectIdentifier.init)
      guard admitted == others.filter({ $0.1 == .admitted }).map(\.0) else { return "another order" }
      guard Set(mine.map(ObjectIdentifier.init)) == Set(others.map(\.0)), mine.count == others.count else {
        return "other decisions"
      }
    }
    while model.inUse > 0 {
      machine.giveBack(at: now)
      model.inUse -= 1
      model.admit()
    }
    return machine.inUse == 0 && machine.waiterCount == 0 && machine.alarm == nil ? nil : "something is left"
  }
}
