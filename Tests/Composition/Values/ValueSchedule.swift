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

  private var generator: SeededGenerator
  let service = ModelService()
  let clock = EventClock()
  private let executor = SteppedExecutor()
  private let network: InMemoryFleet.Network
  private let fleet: InMemoryFleet
  let items: [ModelItem]
  private let runDuration: Duration
  /// The times between steps, in milliseconds.
  private let pauses: [Int]
  /// The first two processes have the same storage.
  private let storages = [InMemoryStorage(), InMemoryStorage()]
  var nodes: [ModelNode] = []
  var subscriptions: [Subscription] = []
  var invalidations: [Invalidation] = []
  /// The users who have signed out of each node.
  private var users = [0, 0, 0]
  /// Whether no value of a former user was handed over to the node that signs out.
  var isUserKnown = true
  private var starts: UInt64 = 0
  /// Whether something was invalidated, and not run again.
  private var leavesStale = false
  /// What readers were given that they should not have been given.
  let answers = Log<String>()
  private var log: [String] = []

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
    self.fleet = InMemoryFleet(network: self.network, seed: seed, deadlines: self.clock)
    self.generator = generator
  }

  private func random(_ count: Int) -> Int { Int.random(in: 0..<count, using: &self.generator) }

  /// Performs the schedule. Returns the first rule that was broken, with what was done; nil if all were kept.
  func failure() async -> String? {
    for number in 0..<3 { self.nodes.append(self.start(number)) }
    self.advance(by: .seconds(1))
    for _ in 0..<(20 + self.random(30)) {
      await self.step()
      if let failure = self.brokenRule() { return await self.end(failure) }
      self.advance(by: .milliseconds(self.pauses[self.random(self.pauses.count)]))
      if let failure = self.brokenRule() { return await self.end(failure) }
    }
    self.settle()
    let failure = self.brokenRuleAtRest()
    return await self.end(failure)
  }

  private func end(_ failure: String?) async -> String? {
    self.subscriptions = []
    for node in self.nodes {
      node.fleetNode.leave()
      node.storage.kill()
    }
    return failure.map { "\($0); \(self.items.map(\.text)); after \(self.log.suffix(60).joined(separator: ", "))" }
  }

  private func start(_ number: Int) -> ModelNode {
    self.starts += 1
    return ModelNode(
      number: number,
      items: self.items,
      service: self.service,
      storage: self.storages[number / 2],
      fleet: self.fleet,
      clock: self.clock,
      executor: self.executor,
      identity: self.starts,
      user: self.users[number],
      runDuration: self.runDuration
    )
  }

  func advance(by duration: Duration) {
    let end = self.clock.elapsed + duration
    self.executor.runAll()
    while self.clock.advance(upTo: end) { self.executor.runAll() }
    self.executor.runAll()
  }

  /// Performs a body on the thread of the schedule.
  private func perform(_ body: @escaping @Sendable () async -> Void) {
    Task(executorPreference: self.executor) { await body() }
    self.executor.runAll()
  }

  // MARK: - Steps

  private func note(_ text: String) { self.log.append("\(self.clock.elapsed / .milliseconds(1)): \(text)") }

  private func step() async {
    let (number, item) = (self.random(3), self.random(self.items.count))
    let node = self.nodes[number]
    if self.items[item].isList { return self.stepOnList(self.items[item], on: node) }
    switch self.random(27) {
    case 0, 1, 2:
      self.read(item, on: node, "fetch") { try await node.store(item).fetch() }
    case 3:
      self.read(item, on: node, "ensure") { try await node.client.ensureValue(for: node.query(item)) }
    case 4:
      self.read(item, on: node, "value of a second at most of") {
        try await node.store(item).value(maximumAge: .seconds(1))
      }
    case 5, 6, 7:
      self.note("subscribe \(item) on \(number)")
      let subscription = node.store(item).subscribe(with: QueryEventHandler())
      self.subscriptions.append(Subscription(node: number, item: item, subscription: subscription))
    case 8: if !self.subscriptions.isEmpty { self.subscriptions.remove(at: self.random(self.subscriptions.count)) }
    case 9, 10, 11: self.invalidate(item, on: node)
    case 12: if self.items[item].sources.isEmpty { self.set(item, on: node) }
    case 13, 14: self.edit(item, on: node)
    case 15:
      self.note("\(item) fails or no longer")
      self.service.toggleFailing(item)
    case 16:
      self.note("reset \(item) on \(number)")
      node.store(item).resetState()
    case 17:
      self.note("clear the store of \(item) on \(number)")
      self.subscriptions.removeAll { $0.node == number && $0.item == item }
      node.client.clearStore(with: self.items[item].path)
    case 18:
      let other = self.nodes[self.random(3)]
      self.note("hand over from \(other.number) to \(number)")
      if number == 2 { self.isUserKnown = false }
      node.client.hydrate(other.client.dehydrate())
    case 19:
      self.note("\(number) is cut off, or no longer")
      node.connection.isCut.toggle()
    case 20:
      self.note("flush \(number)")
      await node.client.persistence.flush()
    case 21: await self.restart(number, isKilled: self.random(2) == 0)
    case 22: if number == 2 { await self.signOut(number) }
    case 23:
      self.note("the fleet is down, or no longer")
      self.fleet.isRunning.toggle()
    case 24:
      self.note("clear all stores of \(number)")
      self.subscriptions.removeAll { $0.node == number }
      node.client.clearStores()
    case 25:
      self.note("remove \(item) from \(number) if nobody has it")
      node.client.remove(matching: self.items[item].path) { $0.subscriberCount == 0 }
    default:
      self.note("take a run of \(item) on \(number) back")
      self.perform {
        let fetch = Task.immediate { try await node.store(item).fetch() }
        fetch.cancel()
        _ = try? await fetch.value
      }
    }
  }

  private func stepOnList(_ item: ModelItem, on node: ModelNode) {
    switch self.random(12) {
    case 0, 1:
      self.note("fetch the next page on \(node.number)")
      self.perform { _ = try? await node.store(ofList: item).fetchNextPage() }
    case 2:
      self.note("fetch all pages on \(node.number)")
      self.perform { _ = try? await node.store(ofList: item).refetchAllPages() }
    case 3:
      self.note("ensure the pages on \(node.number)")
      let invalidations = self.invalidations.filter { $0.node == node.number && $0.items.contains(item.number) }
      let answers = self.answers
      self.perform {
        guard let pages = try? await node.client.ensureValue(for: node.list(item)) else { return }
        let last = invalidations.last?.time ?? 0
        guard let old = pages.first(where: { $0.value.time < last }) else { return }
        answers.append("ensured pages on \(node.number) have one from before \(last): \(old)")
      }
    case 4:
      self.note("subscribe the list on \(node.number)")
      let subscription = node.store(ofList: item).subscribe(with: PaginatedEventHandler())
      self.subscriptions.append(Subscription(node: node.number, item: item.number, subscription: subscription))
    case 5:
      self.note("reset the list on \(node.number)")
      node.store(ofList: item).resetState()
    case 6: self.invalidate(item.number, on: node)
    case 7:
      self.note("fetch the first page alone on \(node.number)")
      self.perform { _ = try? await node.store(ofList: item).refetchFirstPage() }
    case 8:
      self.note("begin the list anew on \(node.number)")
      self.perform { _ = try? await node.store(ofList: item).refetchFirstPage(keeping: .none) }
    case 9:
      self.note("fetch the second page alone on \(node.number)")
      self.perform { _ = try? await node.store(ofList: item).refetchPages { $0.id == 1 } }
    case 10:
      self.note("the list fails or no longer")
      self.service.toggleFailing(item.number)
    default:
      self.note("clear the list on \(node.number)")
      self.subscriptions.removeAll { $0.node == node.number && $0.item == item.number }
      node.client.clearStore(with: item.path)
    }
  }

  /// Reads a value, which must have seen what the node has invalidated before.
  private func read(
    _ item: Int,
    on node: ModelNode,
    _ how: String,
    _ body: @escaping @Sendable () async throws -> Reading
  ) {
    self.note("\(how) \(item) on \(node.number)")
    let invalidations = self.invalidations.filter { $0.node == node.number }
    let mayBeStale = self.items.contains { $0.servesStale }
    let answers = self.answers
    self.perform {
      guard let value = try? await body(), !mayBeStale else { return }
      for part in value.parts where !part.isFallback {
        let last = invalidations.last { $0.items.contains(part.item) }
        guard let last, part.time < last.time else { continue }
        answers.append("\(how) \(item) on \(node.number) has returned a value from before \(last.time): \(value)")
      }
    }
  }

  /// Invalidates a prefix of the path, or the tag, of an item.
  private func invalidate(_ item: Int, on node: ModelNode) {
    if self.items[item].isTagged, self.random(2) == 0 {
      self.note("invalidate the tag of \(item) on \(node.number)")
      self.noteInvalidation(by: node) { $0.isTagged && $0.group == self.items[item].group }
      node.client.invalidate(tagged: .entity("group", self.items[item].group))
      return
    }
    let prefix = OperationPath(self.items[item].path.prefix(self.random(4)))
    let reruns: OperationReruns = [.subscribed, .subscribed, .all, .none][self.random(4)]
    self.note("invalidate \(prefix) on \(node.number), rerunning \(reruns)")
    self.noteInvalidation(by: node) { $0.path.prefix(prefix.count).elementsEqual(prefix) }
    node.client.invalidate(matching: prefix, rerunning: reruns)
    if reruns == .none { self.leavesStale = true }
  }

  private func noteInvalidation(by node: ModelNode, at time: Int? = nil, of concerns: (ModelItem) -> Bool) {
    let items = Set(self.items.filter(concerns).map(\.number))
    self.invalidations.append(Invalidation(items: items, time: time ?? self.service.tick(), node: node.number))
  }

  private func set(_ item: Int, on node: ModelNode) {
    self.note("set \(item) on \(node.number)")
    node.store(item).currentValue = Reading(
      item: item,
      node: node.number,
      time: self.service.tick(),
      user: node.user.value
    )
  }

  private func edit(_ item: Int, on node: ModelNode) {
    let edit = self.service.newEdit(on: node.number)
    self.note("edit \(edit) of \(item) on \(node.number)")
    self.perform { try? await node.client.store(for: node.edit(item)).mutate(with: edit) }
  }

  private func restart(_ number: Int, isKilled: Bool) async {
    let node = self.nodes[number]
    self.note("\(isKilled ? "kill" : "end") and start \(number)")
    if !isKilled { await node.client.persistence.flush() }
    node.storage.kill()
    // What it has not stored or sent dies with it.
    if isKilled || node.connection.isCut || node.fleetNode.hasPendingInvalidations {
      self.invalidations.removeAll { $0.node == number }
    }
    node.connection.crash()
    node.fleetNode.leave()
    self.subscriptions.removeAll { $0.node == number }
    self.nodes[number] = self.start(number)
  }

  private func signOut(_ number: Int) async {
    let node = self.nodes[number]
    self.note("sign out of \(number)")
    let isDone = Box(false)
    let user = node.user.value + 1
    self.perform {
      try? await node.client.clearEverything(within: .seconds(2)) { node.user.value = user }
      isDone.value = true
    }
    for _ in 0..<100 where !isDone.value {
      self.advance(by: .milliseconds(100))
      // The storage answers on another thread.
      await node.client.persistence.flush()
    }
    // Without the fleet it throws, and the user stays.
    self.users[number] = node.user.value
    self.subscriptions.removeAll { $0.node == number }
  }

  /// Runs what was invalidated and not run again, if it is on a screen.
  private func refresh(_ store: OpaqueOperationStore) {
    guard store.isInvalidated, store.subscriberCount > 0, !store.isLoading else { return }
    self.perform { _ = try? await store.fetch() }
  }

  /// Ends all faults, and lets everything come to rest.
  private func settle() {
    self.note("rest")
    self.service.setFailing([])
    self.fleet.isRunning = true
    var network = self.network
    network.loss = 0
    self.fleet.network = network
    for node in self.nodes { node.connection.isCut = false }
    self.advance(by: .seconds(60))
    if self.leavesStale {
      for node in self.nodes { for store in node.client.stores(matching: []) { self.refresh(store) } }
      self.advance(by: .seconds(10))
    }
    // What has failed or was reset is not fetched until somebody asks.
    for node in self.nodes {
      for item in self.items where item.isList {
        let store = node.store(ofList: item)
        if store.error != nil || store.currentValue.isEmpty {
          self.perform { _ = try? await node.client.ensureValue(for: node.list(item)) }
        }
      }
      for item in self.items where !item.isList {
        let store = node.store(item.number)
        // A fallback whose part has changed is a fallback all the same.
        let isValue =
          store.valueStamp.kind != .fallback
          && store.currentValue.map { !$0.parts.contains { $0.isFallback } } ?? false
        if store.error != nil || !isValue { self.perform { _ = try? await store.fetch() } }
      }
      self.advance(by: .seconds(5))
    }
  }
}
