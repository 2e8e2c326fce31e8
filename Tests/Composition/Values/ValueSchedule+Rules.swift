import Foundation
import Operation
import OperationPersistence
import TestFixtures

/// What holds whatever happens.
extension ValueSchedule {
  /// The rules that hold at any time.
  func brokenRule() -> String? {
    if let broken = self.answers.all.first ?? self.service.leak { return broken }
    for node in self.nodes {
      for store in node.client.stores(matching: []) {
        let shown = store.currentValue
        let values = (shown as? Reading).map { [$0] } ?? (shown as? Pages<Int, Reading>)?.map(\.value) ?? []
        guard let item = values.first?.item else { continue }
        // Asked once for all pages and parts: it costs more than the rules.
        let isStale = store.isStale
        let what = "item \(item) on node \(node.number)"
        // A thread that has heard of a removal by another process may reset the store meanwhile.
        if isStale != store.staleness.isStale, isStale == store.isStale {
          return "\(what): isStale and staleness differ"
        }
        for value in values {
          if let broken = self.brokenRule(of: value, isStale, on: node) { return "\(what): \(broken): \(value)" }
        }
      }
    }
    return nil
  }

  /// What holds of the stored values: none has an edit that the service has not accepted, and no process brings back what
  /// another one has removed from their storage with its user.
  func brokenRuleOfStorages() async -> String? {
    var known: [StorageEntry: [Reading]] = [:]
    defer { self.knownEntries = known }
    for (number, storage) in self.storages.enumerated() {
      for entry in (try? await storage.entries(withPrefix: "value/")) ?? [] {
        let readings = self.knownEntries[entry] ?? Reading.all(in: entry)
        known[entry] = readings
        for reading in readings {
          if let edit = reading.edits.first(where: { !self.service.isConfirmed($0) }) {
            return "the storage \(number) has the unconfirmed edit \(edit): \(reading)"
          }
          guard let time = self.emptied[number], !self.handedOver.contains(number), reading.time < time,
            !self.setUnread.contains(reading.time)
          else { continue }
          return "the storage \(number) was emptied at \(time), and has \(reading)"
        }
      }
    }
    return nil
  }

  private func brokenRule(of value: Reading, _ isStale: Bool, on node: ModelNode) -> String? {
    for part in value.parts {
      if !isStale {
        if part.isDraft { return "a first value is fresh" }
        if part.isFallback { return "a fallback is fresh" }
        let last = self.invalidations.last { $0.node == node.number && $0.items.contains(part.item) }
        if let last, !part.isFallback, part.time < last.time { return "fresh after its invalidation at \(last.time)" }
      }
      if part.isFallback, part.node != node.number { return "a fallback has left its node" }
      for edit in part.edits where !self.service.isConfirmed(edit) {
        let editor = self.service.editor(of: edit)
        // A process makes the calls that another one with its storage has left.
        if self.journalsEdits ? editor / 2 == node.number / 2 : editor == node.number { continue }
        return "the unconfirmed edit \(edit) has left its node"
      }
      if self.isUserKnown, node.number == 2, part.node == 2, !part.isFallback, part.user < node.user.value {
        return "a value of a user who has signed out"
      }
    }
    return nil
  }

  /// The rules that hold when nothing has happened for a while.
  func brokenRuleAtRest() -> String? {
    if let failure = self.brokenRule() { return failure }
    // A poll may be under way.
    let isPolled = self.items.contains { $0.isPolled }
    for subscription in self.subscriptions {
      let node = self.nodes[subscription.node]
      if self.items[subscription.item].isList {
        if let failure = self.brokenRuleOfList(self.items[subscription.item], on: node) { return failure }
        continue
      }
      let item = self.items[subscription.item]
      let store = node.store(subscription.item)
      let what = "the subscribed item \(subscription.item) on node \(node.number)"
      guard let value = store.currentValue else { return "\(what) has no value" }
      if !isPolled, store.isLoading { return "\(what) is loading" }
      if !isPolled, store.isStale { return "\(what) is stale: \(store.staleness)" }
      let storage = node.number / 2
      let begin = self.handedOver.contains(storage) ? nil : self.emptied[storage]
      if self.isOfStorageAlone(item), let time = begin, value.time < time {
        return "\(what) is from before its storage was emptied at \(time): \(value)"
      }
      for part in value.parts {
        let last = self.invalidations.last { $0.items.contains(part.item) }
        if let last, part.time < last.time { return "\(what) is from before \(last.time): \(value)" }
        if let edit = part.edits.first(where: { !self.service.isConfirmed($0) }) {
          return "\(what) shows the refused edit \(edit)"
        }
      }
      for source in value.sources {
        let store = node.store(source.item)
        if !isPolled, let shown = store.currentValue, !store.isStale, shown != source {
          return "\(what) was made of \(source), and its source is \(shown)"
        }
      }
    }
    if self.journalsEdits, let node = self.nodes.first(where: { !$0.client.journal.entries.isEmpty }) {
      return "\(node.number) has not made the calls \(node.client.journal.entries)"
    }
    if isPolled { return nil }
    let runs = self.service.runs
    self.advance(by: .seconds(60))
    if self.service.runs != runs { return "\(self.service.runs - runs) bodies have run at rest" }
    return nil
  }

  /// Whether the values of an item are kept in the storage of a process, and nowhere else.
  private func isOfStorageAlone(_ item: ModelItem) -> Bool {
    item.isPersisted && item.sources.isEmpty && !item.isShared && !item.isKeptInFleet
  }

  private func brokenRuleOfList(_ item: ModelItem, on node: ModelNode) -> String? {
    let store = node.store(ofList: item)
    let what = "the subscribed list on node \(node.number)"
    if store.isLoading { return "\(what) is loading" }
    if store.isStale { return "\(what) is stale: \(store.staleness)" }
    let last = self.invalidations.last { $0.items.contains(item.number) }?.time ?? 0
    let old = store.currentValue.first { $0.value.time < last }
    return old.map { "\(what) has a page from before \(last): \($0)" }
  }
}

extension Reading {
  /// The readings of a stored value: one, or those of the pages of a list.
  fileprivate static func all(in entry: StorageEntry) -> [Self] {
    let content = Data(entry.value.drop { $0 != UInt8(ascii: "\n") })
    return (try? JSONSerialization.jsonObject(with: content)).map(self.all(in:)) ?? []
  }

  private static func all(in object: Any) -> [Self] {
    if let elements = object as? [Any] { return elements.flatMap(self.all(in:)) }
    guard let members = object as? [String: Any] else { return [] }
    guard members["isDraft"] != nil else { return members.values.flatMap(self.all(in:)) }
    return (try? JSONSerialization.data(withJSONObject: members))
      .flatMap { try? JSONDecoder().decode(Self.self, from: $0) }.map { [$0] } ?? []
  }
}
