import Operation
import OperationFleet
import OperationPersistence
import TestFixtures

/// What is done at random.
extension ValueSchedule {
  func step() async {
    let (number, item) = (self.random(3), self.random(self.items.count))
    let node = self.nodes[number]
    if self.items[item].isList { return self.stepOnList(self.items[item], on: node) }
    switch self.random(29) {
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
      self.handedOver.insert(number / 2)
      node.client.hydrate(other.client.dehydrate())
    case 19:
      self.note("\(number) is cut off, or no longer")
      node.connection.isCut.toggle()
    case 20:
      self.note("flush \(number)")
      if !node.storage.isHeld { await node.client.persistence.flush() }
    case 21: await self.restart(number, isKilled: self.random(2) == 0)
    case 22: await self.signOut(number)
    case 23:
      self.note("the fleet is down, or no longer")
      self.fleet.isRunning.toggle()
    case 24:
      self.note("clear all stores of \(number)")
      self.subscriptions.removeAll { $0.node == number }
      node.client.clearStores()
    case 25:
      self.note("remove \(item) from \(number) unless a store has it")
      node.client.remove(matching: self.items[item].path) { $0.subscriberCount == 0 }
    case 26, 27: await self.holdStorage(of: node)
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
      self.listHasFailed = true
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
    let store = node.store(item)
    let time = self.service.tick()
    if !node.storage.hasToldEra { self.setUnread.insert(time) }
    store.currentValue = Reading(item: item, node: node.number, time: time, user: node.user.value)
  }

  private func holdStorage(of node: ModelNode) async {
    guard self.holdsStorages else { return }
    self.note("\(node.number)'s storage is held, or no longer")
    if node.storage.isHeld { node.storage.release() } else { node.storage.hold() }
    await self.endWriting()
  }

  private func edit(_ item: Int, on node: ModelNode) {
    let edit = self.service.newEdit(on: node.number)
    self.note("edit \(edit) of \(item) on \(node.number)")
    self.perform { try? await node.makeEdit(edit, of: item) }
  }

  private func restart(_ number: Int, isKilled: Bool) async {
    let node = self.nodes[number]
    self.note("\(isKilled ? "kill" : "end") and start \(number)")
    if !isKilled {
      node.storage.release()
      self.executor.runAll()
      await node.client.persistence.flush()
    }
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
    let (user, time) = (node.user.value + 1, self.service.tick())
    self.perform {
      try? await node.client.clearEverything(within: .seconds(2)) { node.user.value = user }
      isDone.value = true
    }
    for _ in 0..<100 where !isDone.value {
      self.advance(by: .milliseconds(100))
      await self.endWriting()
    }
    // Without the fleet it throws, and the user stays.
    self.users[number] = node.user.value
    if node.user.value == user {
      self.emptied[number / 2] = time
      self.service.noteSigningOut(of: number, at: time)
    }
    self.subscriptions.removeAll { $0.node == number }
  }
}
