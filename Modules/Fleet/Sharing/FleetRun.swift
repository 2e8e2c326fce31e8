internal import OperationCore
internal import OperationFoundation
internal import OperationPersistence
internal import OperationTags

/// One run of a shared operation: what it asks of the fleet, and what it tells of the answer.
struct FleetRun<Value: Codable & Sendable>: Sendable {
  private let run: LevelRun<Value>
  private let node: FleetNode
  private let key: LevelKey
  private let record: FleetRecord
  private let context: OperationContext

  init(
    on node: FleetNode,
    _ key: LevelKey,
    _ record: FleetRecord,
    in context: OperationContext
  ) {
    self.node = node
    self.key = key
    self.record = record
    self.context = context
    self.run = LevelRun(of: key, in: node, context) {
      try StorageCoding.encode($0)
    } decode: {
      try StorageCoding.decode(Value.self, from: $0.bytes()[...])
    }
  }

  /// Asks the fleet for the value, or for the right to run.
  ///
  /// - Parameter show: Shows a value that is too old to be the one of the run, until the run has its own.
  /// - Returns: How the run goes on.
  nonisolated(nonsending) func begin(
    showing show: (Value, OperationContext) -> Void
  ) async -> LevelRun<Value>.Beginning {
    let demand = self.demand
    // All but the revision is decided here, so that an older value is shown while this node or another one runs.
    var anyNewer = ValueDemand(at: demand.now)
    anyNewer.newerThan = demand.newerThan
    let beginning = await self.run.begin(anyNewer) { found in
      if found.context.fleetOrigin?.source == .awaited || self.isMet(demand, by: found) { return true }
      self.showLast(found, show)
      return false
    } reporting: { _ in
      self.node.reportUnreadable(self.key)
    }
    if case .value(_, let found) = beginning {
      if let origin = found.context.fleetOrigin { self.tell(origin) }
      self.record.note(revision: found.revision ?? 0)
    }
    return beginning
  }

  private func isMet(_ demand: ValueDemand, by found: LevelValue) -> Bool {
    var demand = demand
    // Time has passed since it was made.
    demand.now = max(demand.now, found.date ?? demand.now)
    return demand.isMet(by: found)
  }

  /// What is asked of a value that was stored before: to be young enough, and newer than what the store has if that was
  /// set here or is to be renewed.
  private var demand: ValueDemand {
    var demand = self.context.runDemand
    // It is kept for longer where a stale value may be served.
    let end = demand.now.addingTimeInterval(-(self.record.settings.timeToLive / .seconds(1))).next
    demand.notOlderThan = max(demand.notOlderThan ?? end, end)
    let revision = self.record.revision
    // Revisions have an order, and dates by several clocks have none.
    if self.context.renewsValue, revision > 0 { demand.newerThan = revision }
    guard let store = self.context.runningOperationStore, let date = store.stateWithoutLayers.valueLastUpdatedAt else {
      return demand
    }
    // A store that has the last value itself does not ask for it.
    if self.context.maximumStaleValueAge != nil, revision > 0, date < end { demand.newerThan = revision }
    guard store.valueStamp.kind == .set else { return demand }
    if let put = self.record.revision(ofPutAt: date) {
      demand.newerThan = max(demand.newerThan ?? .min, put - 1)
    } else {
      demand.atLeast = date.next
    }
    return demand
  }

  /// Shows the last value of the fleet while the operation runs, so that `.servesStale` has it if the run fails or takes long.
  ///
  /// It was not invalidated, or the backend would not have it.
  private func showLast(_ last: LevelValue, _ show: (Value, OperationContext) -> Void) {
    guard let maximum = self.context.maximumStaleValueAge, let origin = last.context.fleetOrigin, origin.age <= maximum,
      let revision = last.revision, let date = last.date, let store = self.context.runningOperationStore
    else { return }
    if !store.isInvalidated, let own = store.stateWithoutLayers.valueLastUpdatedAt {
      // Also in a further attempt of the run, which asks again.
      if revision <= self.record.revision || own >= date { return }
    }
    guard let value = try? StorageCoding.decode(Value.self, from: last.bytes()[...]) else { return }
    self.record.noteLast(origin, revision: revision)
    var entries = last.context
    entries.operationClock = .timeFreeze(date)
    show(value, entries)
  }

  private func tell(_ origin: OperationFleetOrigin) {
    self.context.addFleetOriginToOutcome(origin)
    self.record.note(origin)
    self.context.send(
      OperationNotice(
        .fleetValue,
        ofOperationNamed: self.context.runningOperationStore?.operationName,
        attributes: [
          "fleet.source": .string(origin.source.description),
          "fleet.node": .string(origin.node),
          "fleet.age": .duration(origin.age),
        ]
      )
    )
  }

  /// Shares the value of a run, and ends its lease. It returns within what is left of the time for the backend.
  nonisolated(nonsending) func end(with value: Value, under right: LevelRight?) async {
    let isAlone = right?.admission?.isAlone ?? true
    self.tell(OperationFleetOrigin(source: isAlone ? .alone : .run, node: self.node.settings.nodeName, age: .zero))
    if self.context.outcomeHasSources {
      self.record.noteSources()
      self.node.reportDerived(self.key)
    }
    await self.run.end(with: value, under: right, maximumAge: self.record.settings.timeToLive) {
      self.context.tags(of: value).map(\.path)
    }
  }

  func giveUp(_ right: LevelRight?) { self.run.giveUp(right) }
}
