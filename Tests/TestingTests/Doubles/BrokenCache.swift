import FoundationEssentials
import OperationCore
import Synchronization

/// A cache that evicts each store after its cache time, with a fault.
final class BrokenCache: OperationClient.StoreCache {
  enum Fault: Hashable, Sendable {
    case none
    case evictsAtOnce
    /// Each store has three seconds.
    case ignoresCacheTime
    /// No store is evicted.
    case keepsForever
    /// The dates of evictions are an hour late.
    case datesLate
    case forgetsNoAlarm
    /// Stores at the same path replace each other.
    case findsByPath
    case leaks
    case evictsLocked
    case releasesLocked
    /// The stores from before an eviction are written back after it.
    case writesLate
    case losesAdditions
  }

  private typealias Stores = [OperationClient.IdleStore.ID: OperationClient.IdleStore]

  private struct State {
    var stores: Stores = [:]
    var alarms: [OperationClient.IdleStore.ID: OperationSubscription] = [:]
    var removed: [OperationClient.IdleStore] = []
    // Without identifiers, which retain their stores.
    var others: [OperationClient.IdleStore] = []
    var alarmsOfOthers: [OperationSubscription] = []
  }

  private let fault: Fault
  private let state = Mutex(State())
  /// The dates of evictions, by path, so that nothing is retained.
  private let dates = Mutex<[OperationPath: Date]>([:])
  // Several meetings, because the first lost stores may be looked up or cleared again, and so be released all the same.
  private let meeting = Meeting(count: 8)

  init(_ fault: Fault) {
    self.fault = fault
  }

  func storeDidBecomeIdle(_ store: OperationClient.IdleStore) {
    if self.fault == .evictsAtOnce { return store.evict() }
    if self.fault == .none || self.fault == .datesLate {
      let lifetime = store.context.operationCacheTime + (self.fault == .none ? .zero : .seconds(3_600))
      let date = store.context.operationClock.now().addingTimeInterval(Double(lifetime.components.seconds))
      self.dates.withLock { $0[store.path] = date }
    }
    if self.fault == .releasesLocked { return self.releaseLocked(store) }
    if self.fault == .findsByPath {
      let same = self.state.withLock { $0.stores.values.filter { $0.path == store.path } }
      for other in same { self.storeDidBecomeActive(other.id) }
    }
    let others = self.state.withLock { $0.stores }
    if self.fault == .losesAdditions {
      self.meeting.meet()
      self.state.withLock { $0.stores = others.merging([store.id: store]) { $1 } }
    } else {
      self.state.withLock { $0.stores[store.id] = store }
    }
    if self.fault == .keepsForever { return }
    let cacheTime = self.fault == .ignoresCacheTime ? .seconds(3) : store.context.operationCacheTime
    let alarm = store.context.operationDeadlines.schedule(after: cacheTime) { [weak self, id = store.id] in
      self?.evict(id)
    }
    let previous = self.state.withLock { state in
      let previous = state.alarms[store.id]
      state.alarms[store.id] = alarm
      if self.fault == .forgetsNoAlarm, let previous { state.alarms[store.id] = .combined(previous, alarm) }
      return previous
    }
    if self.fault != .forgetsNoAlarm { previous?.cancel() }
  }

  func storeDidBecomeActive(_ id: OperationClient.IdleStore.ID) {
    let (store, alarm) = self.state.withLock { state in
      let store = state.stores.removeValue(forKey: id)
      if self.fault == .leaks, let store { state.removed.append(store) }
      return (store, self.fault == .forgetsNoAlarm ? nil : state.alarms.removeValue(forKey: id))
    }
    alarm?.cancel()
    withExtendedLifetime(store) {}
  }

  func evictionDate(of store: OperationClient.IdleStore) -> Date? { self.dates.withLock { $0[store.path] } }

  private func releaseLocked(_ store: OperationClient.IdleStore) {
    self.state.withLock { $0.others.append(store) }
    let alarm = store.context.operationDeadlines.schedule(after: store.context.operationCacheTime) { [weak self] in
      self?.state.withLock { $0.others.first }?.evict()
      self?.state.withLock { $0.others = [] }
    }
    self.state.withLock { $0.alarmsOfOthers.append(alarm) }
  }

  private func evict(_ id: OperationClient.IdleStore.ID) {
    switch self.fault {
    case .evictsLocked: self.state.withLock { $0.stores.removeValue(forKey: id)?.evict() }
    case .writesLate:
      var stores = self.state.withLock { $0.stores }
      stores.removeValue(forKey: id)?.evict()
      let rest = stores
      self.state.withLock { $0.stores = rest }
    default: self.state.withLock { $0.stores.removeValue(forKey: id) }?.evict()
    }
    let alarm = self.state.withLock { $0.alarms.removeValue(forKey: id) }
    withExtendedLifetime(alarm) {}
  }
}
