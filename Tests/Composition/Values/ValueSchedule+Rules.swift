import Operation
import TestFixtures

/// What holds whatever happens.
extension ValueSchedule {
  /// The rules that hold at any time.
  func brokenRule() -> String? {
    if let answer = self.answers.all.first { return answer }
    for node in self.nodes {
      for store in node.client.stores(matching: []) {
        let pages = store.currentValue as? Pages<Int, Reading>
        for value in pages?.map(\.value) ?? [store.currentValue as? Reading].compactMap(\.self) {
          let what = "item \(value.item) on node \(node.number)"
          if store.isStale != store.staleness.isStale { return "\(what): isStale and staleness differ" }
          if let broken = self.brokenRule(of: value, in: store, on: node) { return "\(what): \(broken): \(value)" }
        }
      }
    }
    return nil
  }

  private func brokenRule(of value: Reading, in store: OpaqueOperationStore, on node: ModelNode) -> String? {
    for part in value.parts {
      if !store.isStale {
        if part.isDraft { return "a first value is fresh" }
        if part.isFallback { return "a fallback is fresh" }
        let last = self.invalidations.last { $0.node == node.number && $0.items.contains(part.item) }
        if let last, !part.isFallback, part.time < last.time { return "fresh after its invalidation at \(last.time)" }
      }
      if part.isFallback, part.node != node.number { return "a fallback has left its node" }
      for edit in part.edits where self.service.editor(of: edit) != node.number && !self.service.isConfirmed(edit) {
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
      let store = node.store(subscription.item)
      let what = "the subscribed item \(subscription.item) on node \(node.number)"
      guard let value = store.currentValue else { return "\(what) has no value" }
      if !isPolled, store.isLoading { return "\(what) is loading" }
      if !isPolled, store.isStale { return "\(what) is stale: \(store.staleness)" }
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
    if isPolled { return nil }
    let runs = self.service.runs
    self.advance(by: .seconds(60))
    if self.service.runs != runs { return "\(self.service.runs - runs) bodies have run at rest" }
    return nil
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
