internal import OperationCore
internal import OperationFoundation
internal import OperationTags

/// Puts the values that a program sets into the fleet, so that the other nodes take them.
///
/// A set value replaces what is there: first it waits for the run of another node, whose value would come after it. Of
/// several sets one after the other, the last one is put. While the backend is away nothing is put: then the value is the
/// node's own, and the run of another node may replace it in the fleet.
final class FleetSetValues<Value: Codable & Sendable>: StoreObserver {
  private enum Progress {
    case none
    case putting
    /// Another value was set meanwhile.
    case puttingAgain
  }

  private let settings: FleetSharing
  private let record: FleetRecord
  private let progress = Locked(Progress.none)

  init(_ settings: FleetSharing, _ record: FleetRecord) {
    self.settings = settings
    self.record = record
  }

  var observedEvents: StoreEvent.Kinds { .writes }

  func receive(_ event: StoreEvent, of store: StoreReference) {
    guard case .stateWritten(.valueSet) = event.what, !self.record.isDerived,
      let node = store.context.operationClient?.fleet, let key = node.key(of: event.path, self.settings)
    else { return }
    let begins = self.progress.withLock { progress in
      defer { progress = progress == .none ? .putting : .puttingAgain }
      return progress == .none
    }
    if begins { node.start("put a set value") { await self.put(store, key, node) } }
  }

  private func put(_ store: StoreReference, _ key: FleetKey, _ node: FleetNode) async {
    repeat {
      self.progress.withLock { $0 = .putting }
      // Whatever value is there: the set one is newer.
      guard case .admitted(let admission) = await node.enter(key, knownRevision: .max), let lease = admission.lease
      else { continue }
      if let (write, date) = await self.write(store, under: lease, node) {
        let answer = await node.store(write, admission)
        if case .stored(let revision) = answer { self.record.notePut(valueOf: date, as: revision) }
      } else {
        node.release(admission)
      }
    } while self.isDue()
  }

  /// Whether another value was set since the last one was read. If not, the next set begins anew.
  private func isDue() -> Bool {
    self.progress.withLock { progress in
      if progress == .puttingAgain { return true }
      progress = .none
      return false
    }
  }

  /// The set value and its date, if the store still has it and knows of no invalidation after it.
  private func write(
    _ store: StoreReference,
    under lease: FleetLease,
    _ node: FleetNode
  ) async -> (FleetWrite, Date)? {
    // The store knows all invalidations up to that epoch. One that it does not know is a later one, and refuses the value.
    guard let epoch = await node.epochKnownToStores(), let current = store.store, !current.isInvalidated,
      current.valueStamp.kind == .set
    else { return nil }
    let state = current.stateWithoutLayers
    guard let value = state.currentValue as? Value, let date = state.valueLastUpdatedAt,
      let write = node.write(value, in: current.context, self.settings, under: lease, epoch)
    else { return nil }
    return (write, date)
  }
}
