import Operation
import OperationDerivation
import OperationFleet
import OperationPersistence
import TestFixtures

/// A random schedule of what three processes do, and the rules that hold after each step and at rest.
final class ValueSchedule {
  /// What makes the values of some items old.
  struct Invalidation: Sendable {
    let items: Set<Int>
    let time: Int
    let node: Int
  }

  struct Subscription {
    let node: Int
    let item: Int
    let subscription: OperationSubscription
  }

  var generator: SeededGenerator
  let service = ModelService()
  let clock = EventClock()
  let executor = SteppedExecutor()
  let network: InMemoryFleet.Network
  let fleet: InMemoryFleet
  let items: [ModelItem]
  let runDuration: Duration
  /// The times between steps, in milliseconds.
  let pauses: [Int]
  /// The first two processes have the same storage.
  let storages: [InMemoryStorage]
  /// Whether storages are held at times, so that they suspend.
  let holdsStorages: Bool
  /// Whether a storage that is held has read and written before it answers.
  let storagesAnswerLate: Bool
  /// Whether edits are stored before they are sent.
  let journalsEdits: Bool
  /// The entries that were read last, with what they have.
  var knownEntries: [StorageEntry: [Reading]] = [:]
  var nodes: [ModelNode] = []
  var subscriptions: [Subscription] = []
  var invalidations: [Invalidation] = []
  /// The users who have signed out of each node.
  var users = [0, 0, 0]
  /// Whether no value of a former user was handed over to the node that signs out.
  var isUserKnown = true
  /// When a process has last emptied its storage with its user, by the storage.
  var emptied: [Int: Int] = [:]
  /// The storages whose processes were handed values over, which may be of any age.
  var handedOver: Set<Int> = []
  /// When values were set in processes that had not read their storage yet. Such a process cannot know that another one has
  /// removed all values since, and stores what was set.
  var setUnread: Set<Int> = []
  var starts: UInt64 = 0
  /// Whether something was invalidated, and not run again.
  var leavesStale = false
  /// Whether the runs of the list have failed.
  var listHasFailed = false
  /// What readers were given that they should not have been given.
  let answers = Log<String>()
  var log: [String] = []

  init(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    func oneOf(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }
    let hasPolls = oneOf(4)
    self.items = (0..<6).map { number in
      var item = ModelItem(number: number)
      if number == 5 {
        (item.isList, item.isTagged, item.hasEntities) = (true, true, oneOf(2))
        return item
      }
      if number == 3 { item.sources = [0, 1] }
      if number == 4 { item.sources = [[2], [3], [1, 2]][Int.random(in: 0..<3, using: &generator)] }
      item.isPersisted = oneOf(2)
      item.isShared = oneOf(2)
      item.isKeptInFleet = !item.isShared && oneOf(4)
      item.isSharedInside = oneOf(2)
      item.isTagged = oneOf(2)
      item.yieldsFirst = item.sources.isEmpty && oneOf(3)
      item.hasFallback = oneOf(4)
      item.servesStale = item.sources.isEmpty && oneOf(4)
      item.isHydratable = oneOf(3)
      item.isPolled = hasPolls && item.sources.isEmpty && oneOf(2)
      item.isDropped = oneOf(4)
      item.hasEntities = item.sources.isEmpty && oneOf(3)
      item.cachesFailures = item.sources.isEmpty && oneOf(4)
      item.saysTime = oneOf(4)
      item.isSelected = oneOf(3)
      return item
    }
    let latency: ClosedRange<Duration> = oneOf(2) ? .zero ... .zero : .milliseconds(1)...(.milliseconds(60))
    self.runDuration = .milliseconds([0, 200, 600][Int.random(in: 0..<3, using: &generator)])
    self.pauses = oneOf(2) ? [0, 5, 100, 1_000, 5_000] : [0, 0, 0, 5, 50, 300]
    self.network = InMemoryFleet.Network(latency: latency, loss: oneOf(3) ? 0.05 : 0, duplication: oneOf(4) ? 0.1 : 0)
    (self.holdsStorages, self.storagesAnswerLate, self.journalsEdits) = (oneOf(3), oneOf(2), oneOf(2))
    self.storages = (0..<2).map { [clock = self.clock] _ in InMemoryStorage(elapsed: { clock.elapsed }) }
    self.fleet = InMemoryFleet(network: self.network, seed: seed, deadlines: self.clock)
    self.generator = generator
  }

  func random(_ count: Int) -> Int { Int.random(in: 0..<count, using: &self.generator) }

  /// Performs the schedule. Returns the first rule that was broken, with what was done; nil if all were kept.
  func failure() async -> String? {
    for number in 0..<3 { self.nodes.append(self.start(number)) }
    self.advance(by: .seconds(1))
    for _ in 0..<(20 + self.random(30)) {
      await self.step()
      if let failure = self.brokenRule() { return await self.end(failure) }
      self.advance(by: .milliseconds(self.pauses[self.random(self.pauses.count)]))
      await self.endWriting()
      if let failure = self.brokenRule() { return await self.end(failure) }
      if let failure = await self.brokenRuleOfStorages() { return await self.end(failure) }
    }
    await self.settle()
    let failure = self.brokenRuleAtRest()
    return await self.end(failure)
  }

  func end(_ failure: String?) async -> String? {
    self.subscriptions = []
    for node in self.nodes {
      node.fleetNode.leave()
      node.storage.kill()
    }
    guard let failure else { return nil }
    let settings = [
      (self.holdsStorages, self.storagesAnswerLate ? "storages are held late" : "storages are held"),
      (self.journalsEdits, "edits are journaled"),
    ]
    let (items, steps) = (self.items.map(\.text), self.log.suffix(60).joined(separator: ", "))
    return "\(failure); \(items); \(settings.filter(\.0).map(\.1)); after \(steps)"
  }

  func start(_ number: Int) -> ModelNode {
    self.starts += 1
    return ModelNode(
      number: number,
      items: self.items,
      service: self.service,
      storage: ProcessStorage(self.storages[number / 2], answersLate: self.storagesAnswerLate),
      fleet: self.fleet,
      clock: self.clock,
      executor: self.executor,
      identity: self.starts,
      user: self.users[number],
      runDuration: self.runDuration,
      journalsEdits: self.journalsEdits
    )
  }

  /// Waits until what is due is written: storages are written on other threads.
  func endWriting() async {
    // What is written may wait for what a store has begun to read, on the thread of the schedule.
    self.executor.runAll()
    for node in self.nodes where !node.storage.isHeld { await node.client.persistence.settled() }
    self.executor.runAll()
    for node in self.nodes where node.hasClearedStores.replace(with: false) {
      self.subscriptions.removeAll { $0.node == node.number }
    }
  }

  func advance(by duration: Duration) {
    let end = self.clock.elapsed + duration
    self.executor.runAll()
    while self.clock.advance(upTo: end) { self.executor.runAll() }
    self.executor.runAll()
  }

  func note(_ text: String) { self.log.append("\(self.clock.elapsed / .milliseconds(1)): \(text)") }

  /// Performs a body on the thread of the schedule.
  func perform(_ body: @escaping @Sendable () async -> Void) {
    Task(executorPreference: self.executor) { await body() }
    self.executor.runAll()
  }
}
