import Operation
import OperationFleet
import OperationPersistence
import TestFixtures

/// The end of a schedule.
extension ValueSchedule {
  /// Runs what was invalidated and not run again, if it is on a screen.
  private func refresh(_ store: OpaqueOperationStore) {
    guard store.isInvalidated, store.subscriberCount > 0, !store.isLoading else { return }
    self.perform { _ = try? await store.fetch() }
  }

  /// Ends all faults, and lets everything come to rest.
  func settle() async {
    self.note("rest")
    for node in self.nodes { node.storage.release() }
    await self.endWriting()
    // What another process has removed with its user is heard of with the next write.
    for node in self.nodes { node.client.invalidate(matching: ["nothing"]) }
    await self.endWriting()
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
    // What has failed or was reset is not fetched until a reader asks for it.
    for node in self.nodes {
      for item in self.items where item.isList {
        let store = node.store(ofList: item)
        // The pages that a failed run has left old may be old still after another one has fetched some.
        let isOld = store.isStale && self.listHasFailed
        if store.error != nil || store.currentValue.isEmpty || isOld {
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
