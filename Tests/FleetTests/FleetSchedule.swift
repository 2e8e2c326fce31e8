import OperationCore
import OperationFleet
import OperationTags
import TestFixtures

/// A random schedule of what nodes do, and of faults, and the rules that hold whatever happens.
///
/// Reads, subscriptions, invalidations of paths and tags, nodes that die and come, networks that are cut, delayed, lossy
/// and doubled, a backend that stops and that forgets, and clocks that run at other rates.
struct FleetSchedule {
  private struct Invalidation {
    let item: Int
    let count: Int
    let node: String
    let time: Duration
  }

  /// A value that a node has set.
  private struct Setting {
    let item: Int
    let count: Int
    let time: Duration
    /// Whether a run of a node was under way, whose value comes after the one that was set.
    let isDuringRun: Bool
    /// Whether another node had set a value just before. The one that reaches the backend last is the last one.
    let isDuringSetting: Bool
  }

  private struct Call {
    let node: Int
    let item: Int
    let start: Duration
    let end = Box<Duration?>(nil)
  }

  private enum Happening {
    case read(node: Int, item: Int)
    case subscribe(node: Int, item: Int)
    case unsubscribe
    case invalidatePath(node: Int, depth: Int, item: Int)
    case invalidateTag(node: Int, item: Int)
    case set(node: Int, item: Int)
    case cut(node: Int)
    case restore(node: Int)
    case stop
    case start
    case forget
    case crash(node: Int)
    case join
  }

  private static let items = 0..<3
  private var generator: SeededGenerator
  private let fleet: Fleet
  private let network: InMemoryFleet.Network
  /// Whether only reads and invalidations happen, in a network that loses and doubles nothing.
  private let isSound: Bool
  private var nodes: [Fleet.Node?] = []
  private var subscriptions: [(node: Int, item: Int, subscription: OperationSubscription)] = []
  private var invalidations: [Invalidation] = []
  private var settings: [Setting] = []
  private var calls: [Call] = []
  private var crashes = 0
  private var forgettings = 0
  /// The nodes that have died, for their counts.
  private var dead: [Fleet.Node] = []

  init(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    self.isSound = generator.next() % 3 == 0
    var network = InMemoryFleet.Network()
    switch generator.next() % 3 {
    case 0: break
    case 1: network.latency = .milliseconds(1)...(.milliseconds(20))
    // Three answers in a row may take longer than the lookup timeout.
    default: network.latency = .milliseconds(1)...(.milliseconds(self.isSound ? 60 : 120))
    }
    if !self.isSound, generator.next() % 3 == 0 { network.duplication = 0.2 }
    if !self.isSound, generator.next() % 2 == 0 { network.loss = 0.05 }
    self.network = network
    // What the backend forgets ends other values, too: an invalidation is one of everything then.
    let maximum = !self.isSound && generator.next() % 4 == 0 ? 4 : 1_000
    let settings = FleetSettings(
      nodeName: "node",
      lookupTimeout: .milliseconds(500),
      leaseDuration: .seconds(3),
      heartbeat: .seconds(5),
      maximumPendingInvalidations: generator.next() % 4 == 0 ? 2 : 100
    )
    self.fleet = Fleet(
      network: network,
      seed: seed,
      settings: settings,
      runDuration: .milliseconds(Int64(generator.next() % 4) * 200),
      maximumInvalidations: maximum
    )
    self.generator = generator
  }

  private mutating func random(_ count: Int) -> Int { Int(self.generator.next() % UInt64(count)) }

  /// Performs the schedule. Returns the first rule that was broken; nil if all were kept.
  mutating func failure() -> String? {
    for _ in 0..<(2 + self.random(2)) { self.join() }
    if self.random(2) == 0 { self.fleet.advance(by: .seconds(1)) }
    for _ in 0..<(10 + self.random(20)) {
      self.fleet.advance(by: .milliseconds(Int64([0, 5, 50, 300, 2_000][self.random(5)])))
      self.perform(self.nextHappening())
    }
    self.settle()
    defer { self.end() }
    return self.staleValue() ?? self.missingValue() ?? self.surplusRun() ?? self.lateCall() ?? self.lostSetting()
  }

  private mutating func nextHappening() -> Happening {
    let (node, item) = (self.random(max(self.nodes.count, 1)), self.random(Self.items.count))
    switch self.random(self.isSound ? 11 : 17) {
    case 0...3: return .read(node: node, item: item)
    case 4, 5: return .subscribe(node: node, item: item)
    case 6: return .unsubscribe
    case 7, 8: return .invalidatePath(node: node, depth: self.random(4), item: item)
    case 9: return .invalidateTag(node: node, item: item)
    case 10: return .set(node: node, item: item)
    case 11: return .cut(node: node)
    case 12: return .restore(node: node)
    case 13: return .stop
    case 14: return .start
    case 15: return self.random(2) == 0 ? .crash(node: node) : .join
    default: return self.random(3) == 0 ? .forget : .read(node: node, item: item)
    }
  }

  private mutating func join() {
    let rate = [1, 1, 0.9, 1.1][self.random(4)]
    self.nodes.append(self.fleet.addNode("\(self.nodes.count)", rate: self.isSound ? 1 : rate))
  }

  // MARK: - Happenings

  private mutating func perform(_ happening: Happening) {
    switch happening {
    case .read(let node, let item): self.read(item, on: node)
    case .subscribe(let index, let item):
      guard let node = self.nodes[index] else { return }
      let store = node.store(self.fleet.query(item, on: node.name))
      self.subscriptions.append((index, item, store.subscribe(with: QueryEventHandler())))
    case .unsubscribe: if !self.subscriptions.isEmpty { self.subscriptions.removeFirst() }
    case .invalidatePath(let index, let depth, let item):
      guard let node = self.nodes[index] else { return }
      let prefix = Self.path(of: item).prefix(depth)
      self.note(by: index) { other in Self.path(of: other).prefix(depth).elementsEqual(prefix) }
      node.client.invalidate(matching: OperationPath(prefix))
    case .invalidateTag(let index, let item):
      guard let node = self.nodes[index] else { return }
      self.note(by: index) { $0 == item }
      node.client.invalidate(tagged: .entity("item", item))
    case .set(let index, let item): self.set(item, on: index)
    case .cut(let node): self.nodes[node]?.connection.isCut = true
    case .restore(let node): self.nodes[node]?.connection.isCut = false
    case .stop: self.fleet.backend.isRunning = false
    case .start: self.fleet.backend.isRunning = true
    case .forget:
      self.fleet.backend.loseEverything()
      self.forgettings += 1
    case .crash(let node): self.crash(node)
    case .join: if self.nodes.count < 6 { self.join() }
    }
  }

  private static func path(of item: Int) -> OperationPath { ["items", item % 2, item] }

  private mutating func note(by index: Int, _ concerns: (Int) -> Bool) {
    let count = self.fleet.count()
    for item in Self.items where concerns(item) {
      self.invalidations.append(
        Invalidation(item: item, count: count, node: "\(index)", time: self.fleet.clock.elapsed)
      )
    }
  }

  private mutating func read(_ item: Int, on index: Int) {
    guard let node = self.nodes[index] else { return }
    let call = Call(node: index, item: item, start: self.fleet.clock.elapsed)
    let (query, clock) = (self.fleet.query(item, on: node.name), self.fleet.clock)
    _ = self.fleet.perform {
      _ = try? await node.client.store(for: query).fetch()
      call.end.value = clock.elapsed
    }
    self.calls.append(call)
  }

  private mutating func set(_ item: Int, on index: Int) {
    guard let node = self.nodes[index] else { return }
    let (count, store) = (self.fleet.count(), node.store(self.fleet.query(item, on: node.name)))
    let time = self.fleet.clock.elapsed
    self.settings.append(
      Setting(
        item: item,
        count: count,
        time: time,
        isDuringRun: self.nodes.contains { $0?.store(self.fleet.query(item, on: $0?.name ?? "")).isLoading ?? false },
        isDuringSetting: self.settings.contains { $0.item == item && time - $0.time < .seconds(2) }
      )
    )
    store.currentValue = Reading(item: item, began: count)
  }

  private mutating func crash(_ index: Int) {
    guard let node = self.nodes[index], self.nodes.count(where: { $0 != nil }) > 1 else { return }
    // What it has not sent dies with it.
    if node.fleetNode.hasPendingInvalidations { self.invalidations.removeAll { $0.node == node.name } }
    node.connection.crash()
    node.fleetNode.leave()
    self.subscriptions.removeAll { $0.node == index }
    self.calls.removeAll { $0.node == index }
    self.dead.append(node)
    self.nodes[index] = nil
    self.crashes += 1
  }

  /// Ends all faults, and lets the fleet come to rest.
  private mutating func settle() {
    self.fleet.backend.isRunning = true
    var network = self.network
    network.loss = 0
    self.fleet.backend.network = network
    for node in self.nodes { node?.connection.isCut = false }
    self.fleet.advance(by: .seconds(40))
  }

  private mutating func end() {
    self.subscriptions = []
    for node in self.nodes { node?.fleetNode.leave() }
  }

  // MARK: - Rules

  private func lastInvalidation(of item: Int) -> Int { self.invalidations.last { $0.item == item }?.count ?? 0 }

  /// After rest no node shows a value as fresh that began before the last invalidation.
  private func staleValue() -> String? {
    for case let node? in self.nodes {
      for item in Self.items {
        let store = node.store(self.fleet.query(item, on: node.name))
        let last = self.lastInvalidation(of: item)
        if let value = store.currentValue, !store.isStale, value.began < last {
          return "node \(node.name) shows item \(item) of \(value.began) after \(last) as fresh"
        }
      }
    }
    return nil
  }

  /// After rest the subscribers have fresh values, and the nodes have sent what they had to.
  private func missingValue() -> String? {
    for case let node? in self.nodes {
      if node.fleetNode.connection == .connected, !node.fleetNode.hasPendingInvalidations { continue }
      return "node \(node.name) is \(node.fleetNode.connection)"
    }
    for (index, item, _) in self.subscriptions {
      guard let node = self.nodes[index] else { continue }
      let store = node.store(self.fleet.query(item, on: node.name))
      if store.isStale || store.isLoading { return "node \(node.name) has no fresh value of item \(item)" }
    }
    return nil
  }

  private var all: [Fleet.Node] { self.dead + self.nodes.compactMap(\.self) }

  /// One run a key and freshness while its holder lives.
  private func surplusRun() -> String? {
    let alone = self.all.map { $0.sources["alone"] ?? 0 }.reduce(0, +)
    if self.isSound, alone > 0 { return "\(alone) runs alone without a fault" }
    let aways = self.all.map(\.aways).reduce(0, +)
    let faults = self.isSound ? 0 : self.crashes + self.forgettings * Self.items.count + aways
    for item in Self.items {
      let runs = self.fleet.completedRuns(of: item)
      let periods = 1 + self.invalidations(of: item) + self.settings(of: item)
      if runs > periods + faults + alone {
        return "\(runs) runs of item \(item) in \(periods) periods, with \(faults) faults and \(alone) runs alone"
      }
    }
    return nil
  }

  /// The invalidations of an item, also those that have died with their nodes, and those of everything in their place.
  private func invalidations(of item: Int) -> Int {
    let sent = self.fleet.backend.statistics.invalidations
    return max(self.invalidations.count { $0.item == item }, self.isSound ? 0 : sent)
  }

  private func settings(of item: Int) -> Int { self.settings.count { $0.item == item } }

  /// Without faults, a node that comes later reads the last value that was set, or one that a run has read after it.
  private mutating func lostSetting() -> String? {
    if !self.isSound { return nil }
    self.join()
    let node = self.nodes.count - 1
    for item in Self.items {
      guard let last = self.settings.last(where: { $0.item == item }), !last.isDuringRun, !last.isDuringSetting,
        // One that the setter had not heard of may have ended the value, and not the one that a run began after it.
        !self.invalidations.contains(where: {
          $0.item == item && $0.count < last.count && last.time - $0.time < .seconds(2)
        })
      else { continue }
      self.read(item, on: node)
      self.fleet.advance(by: .seconds(2))
      let value = self.nodes[node]?.store(self.fleet.query(item, on: "\(node)")).currentValue
      if value.map({ $0.began < last.count }) ?? true {
        return "a new node reads \(String(describing: value)) of item \(item) after \(last.count) was set"
      }
    }
    return nil
  }

  /// No call is delayed for longer than the lookup timeout, besides its own run and those it waits for.
  private func lateCall() -> String? {
    let (run, settings) = (self.fleet.runDuration, self.fleet.settings)
    for call in self.calls {
      guard let end = call.end.value else { return "a call of item \(call.item) on node \(call.node) has not ended" }
      let periods = 1 + self.invalidations(of: call.item) + self.settings(of: call.item)
      let waits = periods + self.crashes + self.all.map(\.aways).reduce(0, +)
      // By the slowest clock.
      let own = (settings.lookupTimeout + run) / 0.9
      let others = (run + settings.lookupTimeout * 2 + (self.isSound ? .zero : settings.leaseDuration)) / 0.9 * waits
      if end - call.start > own + others {
        return "a call of item \(call.item) on node \(call.node) took \(end - call.start)"
      }
    }
    return nil
  }
}
