internal import OperationCore
internal import OperationPersistence
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
      let node = store.context.operationClient?.fleet, node.key(of: event.path, self.settings) != nil
    else { return }
    let begins = self.progress.withLock { progress in
      defer { progress = progress == .none ? .putting : .puttingAgain }
      return progress == .none
    }
    let key = self.settings.key(at: event.path)
    if begins { node.start("put a set value") { await self.put(store, key, node) } }
  }

  private func put(_ store: StoreReference, _ key: LevelKey, _ node: FleetNode) async {
    // Whatever value is there: the set one is newer.
    var demand = ValueDemand()
    demand.newerThan = .max
    repeat {
      self.progress.withLock { $0 = .putting }
      guard case LevelAnswer.none(let right?)? = try? await node.lookUp(key, demand) else { continue }
      if let (value, right) = await self.value(of: store, under: right, node) {
        node.put(value, for: key, under: right)
        await right.ended()
      } else {
        node.giveUp(right)
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

  /// The set value, if the store still has it and knows of no invalidation after it, and the right to put it.
  private func value(
    of store: StoreReference,
    under right: LevelRight,
    _ node: FleetNode
  ) async -> (LevelValue, LevelRight)? {
    // The store knows all invalidations up to that epoch. One that it does not know is a later one, and refuses the value.
    guard let admission = right.admission, admission.lease != nil, let epoch = await node.epochKnownToStores(),
      let current = store.store, !current.isInvalidated, current.valueStamp.kind == .set
    else { return nil }
    let state = current.stateWithoutLayers
    guard let value = state.currentValue as? Value, let date = state.valueLastUpdatedAt else { return nil }
    let tags = current.context.tags(of: value).map(\.path)
    var put = LevelValue(stamp: ValueStamp(.set), date: date, tags: tags) { try StorageCoding.encode(value) }
    put.maximumAge = self.settings.timeToLive
    put.context = current.context
    return (put, LevelRight(admission.seeing(epoch)))
  }
}
