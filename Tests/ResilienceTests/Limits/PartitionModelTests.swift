import OperationCore
import OperationLimits
import OperationTesting
import TestFixtures
import Testing

/// Random schedules of runs of several tenants, compared with a model that searches arrays.
@Suite(.bounded, .warningsAreIssues) struct PartitionModelTests {
  private struct Model {
    var limit: Int
    var shares: [String: PartitionShare]
    var others: PartitionShare
    var maximumWaiting: Int
    var inUse: [String: Int] = [:]
    var turns = 0
    var lastTurns: [String: Int] = [:]
    /// In the order in which they came.
    var waiting: [(waiter: LimitWaiter, name: String, arrival: Duration)] = []
    var decided: [ObjectIdentifier] = []

    var total: Int { self.inUse.values.reduce(0, +) }

    func share(_ name: String) -> PartitionShare { self.shares[name] ?? self.others }

    func mayBegin(_ name: String) -> Bool {
      let used = self.inUse[name] ?? 0
      guard self.total < self.limit, used < self.share(name).maximum else { return false }
      if used < self.share(name).reserved { return true }
      let keptFree = self.shares.reduce(0) { $0 + max($1.value.reserved - (self.inUse[$1.key] ?? 0), 0) }
      return self.limit - self.total > keptFree
    }

    mutating func begin(_ name: String) {
      self.inUse[name, default: 0] += 1
      self.turns += 1
      self.lastTurns[name] = self.turns
    }

    /// Tenants without a share and without a run are forgotten.
    mutating func forgetIdle() {
      let waiting = Set(self.waiting.map(\.name))
      self.lastTurns = self.lastTurns.filter { name, _ in
        self.shares[name] != nil || self.inUse[name] ?? 0 > 0 || waiting.contains(name)
      }
    }

    mutating func join(_ waiter: LimitWaiter, _ name: String, at now: Duration) -> LimitWaiter.Decision? {
      if !self.waiting.contains(where: { $0.name == name }), self.mayBegin(name) {
        self.begin(name)
        return .admitted
      }
      if let due = waiter.due, due <= now { return .rejected(retryAfter: nil) }
      var victim: Int?
      if self.waiting.count >= self.maximumWaiting {
        let counts = Dictionary(grouping: self.waiting, by: \.name).mapValues(\.count)
        let longest = counts.values.max() ?? 0
        let isOwn = longest <= (counts[name] ?? 0) + 1
        // The partitions that are as long as the longest are equivalent here: a test uses at most one such.
        let candidates = isOwn ? [name] : counts.filter { $0.value == longest }.map(\.key)
        let lowest = self.waiting.filter { candidates.contains($0.name) }.map(\.waiter.criticality).min()
        victim = self.waiting.lastIndex {
          candidates.contains($0.name) && $0.waiter.criticality == lowest
        }
        guard let found = victim, !isOwn || self.waiting[found].waiter.criticality < waiter.criticality else {
          return .rejected(retryAfter: nil)
        }
      }
      self.waiting.append((waiter, name, now))
      if let victim { self.decided.append(ObjectIdentifier(self.waiting.remove(at: victim).waiter)) }
      return nil
    }

    /// The next waiter: below the guarantee first, then by the smallest part of the share, by turns, and by arrival.
    var next: Int? {
      let names = Set(self.waiting.map(\.name)).filter { self.mayBegin($0) }
      let keys = names.map { name -> (isBorrowing: Bool, part: Double, turn: Int, arrival: Duration, name: String) in
        let (used, share) = (self.inUse[name] ?? 0, self.share(name))
        let line = self.waiting.filter { $0.name == name }
        let highest = line.map(\.waiter.criticality).max()
        let first = line.first { $0.waiter.criticality == highest }
        return (
          used >= share.guaranteed, Double(used) / Double(max(share.guaranteed, 1)), self.lastTurns[name] ?? 0,
          first?.arrival ?? .zero, name
        )
      }
      let best = keys.min { one, other in
        if one.isBorrowing != other.isBorrowing { return !one.isBorrowing }
        if one.part != other.part { return one.part < other.part }
        return one.turn == other.turn ? one.arrival < other.arrival : one.turn < other.turn
      }
      guard let name = best?.name else { return nil }
      let highest = self.waiting.filter { $0.name == name }.map(\.waiter.criticality).max()
      return self.waiting.firstIndex { $0.name == name && $0.waiter.criticality == highest }
    }

    mutating func admit() {
      while let next {
        let waiter = self.waiting.remove(at: next)
        self.begin(waiter.name)
        self.decided.append(ObjectIdentifier(waiter.waiter))
      }
    }

    mutating func expire(at now: Duration) {
      while let index = self.waiting.firstIndex(where: { $0.waiter.due.map { $0 <= now } ?? false }) {
        self.decided.append(ObjectIdentifier(self.waiting.remove(at: index).waiter))
      }
    }
  }

  private static let names = ["gold", "silver", "x", "y", "z"]

  @Test(arguments: ModelRuns.seeds)
  func `Tenants get their shares, borrow what is free, and lose no permit`(seed: UInt64) async {
    await ModelRuns.check(150, seed: seed) { Self.failure(of: &$0) }
  }

  private static func shares(of limit: Int, using generator: inout SeededGenerator) -> [String: PartitionShare] {
    var left = limit
    var shares: [String: PartitionShare] = [:]
    for name in ["gold", "silver"] where Bool.random(using: &generator) {
      let guaranteed = Int.random(in: 0...left, using: &generator)
      left -= guaranteed
      shares[name] = PartitionShare(
        guaranteed: guaranteed,
        reserved: Int.random(in: 0...guaranteed, using: &generator),
        maximum: Bool.random(using: &generator) ? .max : max(guaranteed, 1)
      )
    }
    return shares
  }

  private static func failure(of generator: inout SeededGenerator) -> String? {
    let deadlines = SystemDeadlineSource()
    let limit = Int.random(in: 1...6, using: &generator)
    let shares = Self.shares(of: limit, using: &generator)
    let others = PartitionShare(guaranteed: 0, maximum: Int.random(in: 1...6, using: &generator))
    // Either no queue is full, or only one tenant waits: which of two equal lines pays is not defined.
    let isShort = Bool.random(using: &generator)
    let names = isShort ? Array(Self.names.prefix(2)) : Self.names
    let queue = isShort ? Int.random(in: 0...3, using: &generator) : 1000
    var machine = PartitionMachine(limit: limit, shares: shares, others: others, maximumWaiting: queue)
    var model = Model(limit: limit, shares: shares, others: others, maximumWaiting: queue)
    var now = Duration.zero
    var permits: [(slot: Int, name: String)] = []
    for step in 0..<Int.random(in: 1...60, using: &generator) {
      // A time of its own for each arrival, so that no two are equal.
      now += .milliseconds(1)
      switch Int.random(in: 0..<14, using: &generator) {
      case 0..<5:
        let name = names.randomElement(using: &generator) ?? "x"
        let due = generator.wait(upTo: 30, in: .milliseconds(1)).map { now + $0 }
        let waiter = LimitWaiter(deadlines: deadlines, due: due, criticality: generator.criticality())
        let decision = machine.join(waiter, to: name, at: now)
        guard decision == model.join(waiter, name, at: now) else { return "step \(step): another decision at once" }
        if decision == .admitted { permits.append((machine.slot(of: waiter), name)) }
      case 5..<7:
        let name = names.randomElement(using: &generator) ?? "x"
        let isFree = !model.waiting.contains { $0.name == name } && model.mayBegin(name)
        let slot = machine.take(for: name)
        guard (slot != nil) == isFree else { return "step \(step): a permit was taken or refused wrongly" }
        if let slot {
          model.begin(name)
          permits.append((slot, name))
        }
      case 7..<10:
        guard let index = permits.indices.randomElement(using: &generator) else { continue }
        let permit = permits.remove(at: index)
        machine.giveBack(permit.slot, at: now)
        model.inUse[permit.name, default: 0] -= 1
        model.admit()
      case 10:
        guard let index = model.waiting.indices.randomElement(using: &generator) else { continue }
        machine.remove(model.waiting.remove(at: index).waiter)
      case 11:
        now += .milliseconds(Int.random(in: 0...20, using: &generator))
        machine.wake(at: now)
        model.expire(at: now)
      default:
        model.limit = Int.random(in: 1...6, using: &generator)
        model.shares = Self.shares(of: model.limit, using: &generator)
        machine.update(
          limit: model.limit,
          shares: model.shares,
          others: others,
          maximumWaiting: queue,
          at: now
        )
        model.admit()
      }
      model.forgetIdle()
      for waiter in machine.decided.dropFirst(model.decided.count) {
        return "step \(step): one decision too many: \(String(describing: waiter.decision))"
      }
      guard Set(machine.decided.map(ObjectIdentifier.init)) == Set(model.decided) else {
        return "step \(step): other decisions"
      }
      let admitted = machine.decided.filter { $0.decision == .admitted }
      let order = admitted.map(ObjectIdentifier.init)
      guard order == model.decided.filter({ Set(order).contains($0) }) else { return "step \(step): another order" }
      for waiter in admitted {
        permits.append((machine.slot(of: waiter), machine.name(of: waiter)))
      }
      machine.decided = []
      model.decided = []
      guard machine.inUse == model.total, machine.waiterCount == model.waiting.count else {
        return "step \(step): other numbers"
      }
      guard permits.count == machine.inUse else { return "step \(step): a permit was lost or made" }
      for name in names {
        guard machine.use(of: name).active == model.inUse[name] ?? 0 else { return "step \(step): \(name) has others" }
      }
    }
    // Without shares, so that no run waits for permits that are reserved for others.
    machine.update(limit: 6, shares: [:], others: others, maximumWaiting: queue, at: now)
    for waiter in machine.decided { permits.append((machine.slot(of: waiter), machine.name(of: waiter))) }
    machine.decided = []
    while let permit = permits.popLast() {
      machine.giveBack(permit.slot, at: now)
      for waiter in machine.decided { permits.append((machine.slot(of: waiter), machine.name(of: waiter))) }
      machine.decided = []
    }
    guard machine.inUse == 0, machine.waiterCount == 0, machine.alarm == nil else { return "something is left" }
    return machine.uses.isEmpty ? nil : "a tenant without runs is left"
  }

  @Test(arguments: 0..<4)
  func `Parallel runs of tenants never exceed the limit, and all permits come back`(seed: UInt64) async {
    let limit = PartitionedLimit(
      4,
      shares: ["0": PartitionShare(guaranteed: 2, reserved: 1)],
      queue: 12,
      order: .adaptiveLIFO(after: .seconds(1))
    ) { $0.tenant }
    let runs = ParallelRuns()
    await runs.play(limitedBy: limit, seed: seed) { $0.tenant = "\(Int.random(in: 0...3, using: &$1))" }
    #expect(runs.overlaps.maximum <= 4)
    #expect(limit.activeCount == 0 && limit.waitingCount == 0)
    expect(limit.snapshot().partitions.map(\.name), equals: ["0"])
    expect(runs.clock.sleeperCount(), equals: 0)
  }
}

extension OperationContext {
  var tenant: String {
    get { self[TenantKey.self] }
    set { self[TenantKey.self] = newValue }
  }

  private enum TenantKey: Key {
    static let defaultValue = ""
  }
}
